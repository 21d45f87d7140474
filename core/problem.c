/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm.h"
#include "status.h"
#include "structs.h"

portmm_status pmm_gemm_from_problem(const char *function, const portmm_problem *problem, pmm_gemm *gemm) {
    portmm_problem given = PORTMM_PROBLEM_INIT;
    if (problem == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: problem is NULL", function);
    portmm_status status = pmm_struct_in(&given, sizeof given, problem, "problem");
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (!pmm_dtype_is_known(given.dtype))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: problem.dtype = %d is not a portmm_dtype", function,
                        (int)given.dtype);
    *gemm = (pmm_gemm){.dtype = given.dtype,
                       .layout = given.layout,
                       .transa = given.transa,
                       .transb = given.transb,
                       .m = given.m,
                       .n = given.n,
                       .k = given.k,
                       .lda = given.lda,
                       .ldb = given.ldb,
                       .ldc = given.ldc,
                       .a_offset = given.a_offset,
                       .b_offset = given.b_offset,
                       .c_offset = given.c_offset,
                       .alpha = 1,
                       .batch_count = given.batch_count,
                       .a_stride = given.a_stride,
                       .b_stride = given.b_stride,
                       .c_stride = given.c_stride,
                       .a_offsets = given.a_offsets,
                       .b_offsets = given.b_offsets,
                       .c_offsets = given.c_offsets,
                       .epilogue = {.activation = given.activation,
                                    .bias_kind = given.bias_kind,
                                    .bias_offset = given.bias_offset,
                                    .bias_stride = given.bias_stride}};
    pmm_shape shapes[PMM_MATRICES];
    int64_t *leadings[PMM_MATRICES] = {&gemm->lda, &gemm->ldb, &gemm->ldc};
    pmm_gemm_shapes(gemm, shapes);
    for (int i = PMM_A; i < PMM_MATRICES; i++)
        if (*leadings[i] == 0)
            *leadings[i] = shapes[i].inner > 1 ? shapes[i].inner : 1;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_gemm_set_scalars(const char *function, pmm_gemm *gemm, const void *alpha, const void *beta) {
    portmm_status status = pmm_dtype_read_scalar(function, gemm->dtype, "alpha", alpha, &gemm->alpha, &gemm->alpha_im);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_dtype_read_scalar(function, gemm->dtype, "beta", beta, &gemm->beta, &gemm->beta_im);
    return status;
}
