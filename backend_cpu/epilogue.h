/* SPDX-License-Identifier: Apache-2.0 */
/* Bias and activation, after the product. */
#ifndef PMM_CPU_EPILOGUE_H
#define PMM_CPU_EPILOGUE_H

#include <portmm/backend.h>

/* Runs of C, as it lies in memory, and where the bias of each of its elements is. */
typedef struct pmm_cpu_epilogue {
    portmm_activation activation;
    bool has_bias;
    int64_t outer, inner, leading;  /* elements */
    int64_t bias_outer, bias_inner; /* steps in the bias: one of them is 1, the other 0 */
} pmm_cpu_epilogue;

bool pmm_cpu_has_epilogue(const pmm_gemm *gemm);
pmm_cpu_epilogue pmm_cpu_make_epilogue(const pmm_gemm *gemm, int64_t leading);

/* For C and a bias in `dtype`, which is not a 16-bit type. `bias` may be NULL if there is none. */
void pmm_cpu_finish(const pmm_cpu_epilogue *epilogue, portmm_dtype dtype, void *c, const void *bias);

#endif
