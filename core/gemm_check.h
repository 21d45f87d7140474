/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a product: checked, and what follows from them. */
#ifndef PMM_GEMM_CHECK_H
#define PMM_GEMM_CHECK_H

#include <portmm/backend.h>

/* A stored matrix: `outer` runs of `inner` contiguous elements, a leading dimension apart. */
typedef struct pmm_shape {
    int64_t outer, inner;
} pmm_shape;

enum { PMM_A, PMM_B, PMM_C, PMM_MATRICES };

void pmm_gemm_shapes(const pmm_gemm *gemm, pmm_shape shapes[PMM_MATRICES]);

size_t pmm_dtype_size(portmm_dtype dtype);

/* Everything of a product but its buffers: enums, sizes, leading dimensions. `function` is for the text. */
portmm_status pmm_gemm_check_form(const char *function, const pmm_gemm *gemm);

/* Whether A and B are not read: then C := beta * C. */
bool pmm_gemm_only_scales(const pmm_gemm *gemm);

/* Bytes from the start of a matrix to its end; false if that is beyond the address space. */
bool pmm_shape_bytes(pmm_shape shape, int64_t leading, portmm_dtype dtype, size_t *bytes);

/* Whether a matrix lies in a buffer of `size` bytes. */
portmm_status pmm_gemm_check_range(const char *function, const char *matrix, pmm_shape shape, int64_t leading,
                                   int64_t offset, portmm_dtype dtype, size_t size);

/* Whether the engine can index a product (offsets included) whose matrices have these shapes. */
portmm_status pmm_gemm_check_engine(const char *function, const pmm_engine *engine, const pmm_gemm *gemm);

#endif
