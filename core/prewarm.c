/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm.h"
#include "gemm_check.h"
#include "scratch.h"
#include "status.h"
#include "structs.h"

static void set_leading(int64_t *leading, pmm_shape shape) {
    if (*leading == 0)
        *leading = shape.inner > 1 ? shape.inner : 1;
}

static portmm_status read_problem(const portmm_context *context, const portmm_problem *problem, pmm_gemm *gemm) {
    portmm_problem given = PORTMM_PROBLEM_INIT;
    portmm_status status = pmm_struct_in(&given, sizeof given, problem, "problem");
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (given.dtype != PORTMM_F32 && given.dtype != PORTMM_F64)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_prewarm: problem.dtype = %d is not a portmm_dtype",
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
                       .batch_count = 1};
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(gemm, shapes);
    set_leading(&gemm->lda, shapes[PMM_A]);
    set_leading(&gemm->ldb, shapes[PMM_B]);
    set_leading(&gemm->ldc, shapes[PMM_C]);
    if (gemm->a_offset < 0 || gemm->b_offset < 0 || gemm->c_offset < 0)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_prewarm: an offset of the problem is negative");
    status = pmm_gemm_check_form("portmm_prewarm", gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_gemm_check_dtype("portmm_prewarm", context, gemm->dtype);
    if (status == PORTMM_STATUS_SUCCESS && gemm->m > 0 && gemm->n > 0 && gemm->k > 0)
        status = pmm_engines_check("portmm_prewarm", context, gemm);
    return status;
}

/* With one engine there is nothing to choose, only to prepare. */
static portmm_status prepare_only_engine(portmm_context *context, const pmm_gemm *gemm) {
    pmm_engine_slot *slot = &context->engines.slots[0];
    portmm_status status = pmm_scratch_run(context, slot, gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        pmm_scratch_capture(context);
    return status;
}

portmm_status portmm_prewarm(portmm_context *context, const portmm_problem *problem) {
    pmm_clear_error();
    if (context == NULL || problem == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_prewarm: context or problem is NULL");
    pmm_context_await_device(context);
    if (context->device == NULL)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "portmm_prewarm: the device could not be opened");
    pmm_gemm gemm;
    portmm_status status = read_problem(context, problem, &gemm);
    if (status != PORTMM_STATUS_SUCCESS || gemm.m == 0 || gemm.n == 0 || gemm.k == 0)
        return status;
    if (context->engines.count == 1)
        return prepare_only_engine(context, &gemm);
    pmm_choice choice;
    status = pmm_scratch_settle(context, &gemm, &choice);
    if (status == PORTMM_STATUS_SUCCESS)
        pmm_engines_apply(context, &gemm, &choice);
    return status;
}
