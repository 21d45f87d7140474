/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a product: checked, and what follows from them. */
#ifndef PMM_GEMM_CHECK_H
#define PMM_GEMM_CHECK_H

#include "dtype.h"

/* A stored matrix: `outer` runs of `inner` contiguous elements, a leading dimension apart. */
typedef struct pmm_shape {
    int64_t outer, inner;
} pmm_shape;

enum { PMM_A, PMM_B, PMM_C, PMM_MATRICES, PMM_BIAS = PMM_MATRICES, PMM_OPERANDS };

void pmm_gemm_shapes(const pmm_gemm *gemm, pmm_shape shapes[PMM_MATRICES]);

/* One operand of a batch: product i finds it at offset + i * stride, or at offset + offsets[i]. The bias is a matrix of
 * one run; of none (0 x 0) if there is no bias. */
typedef struct pmm_operand {
    const char *name; /* "a" */
    pmm_buffer *buffer;
    pmm_shape shape;
    int64_t leading, offset, stride;
    const int64_t *offsets; /* NULL: by stride */
} pmm_operand;

void pmm_gemm_get_operands(const pmm_gemm *gemm, pmm_operand operands[PMM_OPERANDS]);
/* Where they lie; shapes stay. */
void pmm_gemm_set_operands(pmm_gemm *gemm, const pmm_operand operands[PMM_OPERANDS]);

/* Whether the product reads or writes the operand `which`. The gemm is not empty. */
bool pmm_gemm_uses(const pmm_gemm *gemm, int which);

/* From the operand's offset: where product i finds it. */
int64_t pmm_operand_at(const pmm_operand *operand, int64_t i);
/* Elements from the operand's offset to the end of all its products; false: beyond 64 bits. */
bool pmm_operand_extent(const pmm_operand *operand, int64_t batch_count, int64_t *count);

/* Product i of a batch, by itself. */
pmm_gemm pmm_gemm_single(const pmm_gemm *gemm, int64_t i);

/* The problem without what belongs to the caller: to be kept, and to be made again on other buffers. The matrices of
 * a batch lie a stride apart. */
pmm_gemm pmm_gemm_form(const pmm_gemm *gemm);

/* Everything of a product but its buffers: enums, sizes, leading dimensions, the batch, the epilogue. `function` is for
 * the text. */
portmm_status pmm_gemm_check_form(const char *function, const pmm_gemm *gemm);

/* Nothing is read or written: a size, or the number of products, is zero. */
bool pmm_gemm_is_empty(const pmm_gemm *gemm);
/* Whether A and B are not read: then C := beta * C. */
bool pmm_gemm_only_scales(const pmm_gemm *gemm);
bool pmm_gemm_has_epilogue(const pmm_gemm *gemm);

/* Bytes of so many elements; false if that is beyond the address space. */
bool pmm_element_bytes(int64_t count, portmm_dtype dtype, size_t *bytes);

/* Whether all matrices of an operand lie in a buffer of `size` bytes. */
portmm_status pmm_gemm_check_range(const char *function, const pmm_operand *operand, int64_t batch_count,
                                   portmm_dtype dtype, size_t size);

/* Whether the engine has the type, and the epilogue. */
bool pmm_gemm_is_for_engine(const pmm_engine *engine, const pmm_gemm *gemm);

/* The same with a text, and whether it can index a product (offsets included). */
portmm_status pmm_gemm_check_engine(const char *function, const pmm_engine *engine, const pmm_gemm *gemm);

#endif
