/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm.h"
#include "gemm_check.h"
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
                       .alpha = 1};
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(gemm, shapes);
    set_leading(&gemm->lda, shapes[PMM_A]);
    set_leading(&gemm->ldb, shapes[PMM_B]);
    set_leading(&gemm->ldc, shapes[PMM_C]);
    status = pmm_gemm_check_form("portmm_prewarm", gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_gemm_check_dtype("portmm_prewarm", context, gemm->dtype);
    if (status == PORTMM_STATUS_SUCCESS && gemm->m > 0 && gemm->n > 0 && gemm->k > 0)
        status = pmm_gemm_check_engine("portmm_prewarm", context->engine, gemm);
    return status;
}

static portmm_status make_matrices(portmm_context *context, pmm_queue *queue, pmm_gemm *gemm) {
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(gemm, shapes);
    const int64_t leading[PMM_MATRICES] = {gemm->lda, gemm->ldb, gemm->ldc};
    pmm_buffer **buffers[PMM_MATRICES] = {&gemm->a, &gemm->b, &gemm->c};
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (int i = 0; i < PMM_MATRICES && status == PORTMM_STATUS_SUCCESS; i++) {
        size_t bytes = 0;
        if (!pmm_shape_bytes(shapes[i], leading[i], gemm->dtype, &bytes))
            return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "portmm_prewarm: a matrix is larger than memory");
        status = pmm_zeros_create(context, queue, bytes, buffers[i]);
    }
    return status;
}

static portmm_status run_on_scratch(portmm_context *context, pmm_engine_state *engine, pmm_gemm *gemm) {
    const pmm_backend *backend = context->backend;
    pmm_queue *queue;
    portmm_status status = backend->queue_create(context->device, &queue);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    status = make_matrices(context, queue, gemm);
    if (status == PORTMM_STATUS_SUCCESS) {
        pmm_span_begin(&context->runtime.timeline, pmm_context_product_phase(context), "portmm_prewarm");
        status = context->engine->gemm(engine, queue, gemm, 0, NULL, NULL);
        if (status == PORTMM_STATUS_SUCCESS)
            status = backend->queue_finish(queue);
        pmm_span_end();
    }
    pmm_buffer *buffers[PMM_MATRICES] = {gemm->a, gemm->b, gemm->c};
    for (int i = 0; i < PMM_MATRICES; i++)
        if (buffers[i] != NULL)
            backend->buffer_destroy(buffers[i]);
    backend->queue_destroy(queue);
    return status;
}

portmm_status portmm_prewarm(portmm_context *context, const portmm_problem *problem) {
    pmm_clear_error();
    if (context == NULL || problem == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_prewarm: context or problem is NULL");
    pmm_gemm gemm;
    pmm_engine_state *engine;
    portmm_status status = read_problem(context, problem, &gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_context_engine(context, &engine);
    if (status != PORTMM_STATUS_SUCCESS || gemm.m == 0 || gemm.n == 0 || gemm.k == 0)
        return status;
    status = run_on_scratch(context, engine, &gemm);
    if (status != PORTMM_STATUS_SUCCESS || !context->engine->capture_wanted(engine) ||
        !pmm_cache_can_write(&context->runtime.cache))
        return status;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_CACHE_LOOKUP, "capture");
    context->engine->capture(engine);
    pmm_span_end();
    return PORTMM_STATUS_SUCCESS;
}
