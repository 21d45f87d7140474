/* SPDX-License-Identifier: Apache-2.0 */
/* Engine `clblast`: calls CLBlast, one call at a time, since it fills tables without a lock at its first use. */
#include <stdlib.h>

#include <clblast_c.h>

#include "cl_error.h"
#include "clblast.h"
#include "program.h"
#include "seam.h"

struct pmm_engine_state {
    const pmm_device *device;
    /* Under host->lock: */
    bool wanted;          /* see pmm_engine.capture_wanted */
    cl_event last_launch; /* of the latest product with new launches */
};

static portmm_status open_engine(pmm_device *device, pmm_engine_state **engine) {
    pmm_engine_state *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for an engine");
    made->device = device;
    *engine = made;
    return PORTMM_STATUS_SUCCESS;
}

static void close_engine(pmm_engine_state *engine) {
    if (engine->last_launch != NULL)
        engine->device->api->clReleaseEvent(engine->last_launch);
    free(engine);
}

static CLBlastStatusCode call_clblast(pmm_queue *queue, const pmm_gemm *gemm, cl_event *event) {
    CLBlastLayout layout = (CLBlastLayout)gemm->layout; /* both have CBLAS's values */
    CLBlastTranspose transa = (CLBlastTranspose)gemm->transa, transb = (CLBlastTranspose)gemm->transb;
    size_t m = (size_t)gemm->m, n = (size_t)gemm->n, k = (size_t)gemm->k;
    size_t a_offset = (size_t)gemm->a_offset, b_offset = (size_t)gemm->b_offset, c_offset = (size_t)gemm->c_offset;
    size_t lda = (size_t)gemm->lda, ldb = (size_t)gemm->ldb, ldc = (size_t)gemm->ldc;
    cl_mem a = gemm->a->memory, b = gemm->b->memory, c = gemm->c->memory;
    if (gemm->dtype == PORTMM_F32)
        return CLBlastSgemm(layout, transa, transb, m, n, k, (float)gemm->alpha, a, a_offset, lda, b, b_offset, ldb,
                            (float)gemm->beta, c, c_offset, ldc, &queue->queue, event);
    return CLBlastDgemm(layout, transa, transb, m, n, k, gemm->alpha, a, a_offset, lda, b, b_offset, ldb, gemm->beta, c,
                        c_offset, ldc, &queue->queue, event);
}

/* So that a capture knows when the kernels have run. */
static void remember_launch(pmm_engine_state *engine, const pmm_queue *queue) {
    const pmm_cl_api *api = engine->device->api;
    if (engine->last_launch != NULL)
        api->clReleaseEvent(engine->last_launch);
    engine->last_launch = NULL;
    if (api->clEnqueueMarkerWithWaitList(queue->queue, 0, NULL, &engine->last_launch) != CL_SUCCESS)
        engine->last_launch = NULL;
    engine->wanted = true;
}

/* Under the lock. */
static portmm_status enqueue_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, cl_event *event) {
    const pmm_host *host = engine->device->host;
    pmm_seam_enter(host, engine->device->api);
    CLBlastStatusCode code = call_clblast(queue, gemm, event);
    pmm_seam_report report = pmm_seam_leave();
    if (code != CLBlastSuccess)
        return pmm_cl_fail(host, gemm->dtype == PORTMM_F32 ? "CLBlastSgemm" : "CLBlastDgemm", (cl_int)code);
    if (!report.seen)
        host->cache_bypass(host);
    if (report.new_launches)
        remember_launch(engine, queue);
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    const pmm_host *host = engine->device->host;
    pmm_event *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for an event");
    made->device = engine->device;
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (wait_count > 0) /* CLBlast takes no events; the queue is in order */
        status = pmm_cl_queue_barrier(queue, wait_count, wait_list, NULL);
    if (status == PORTMM_STATUS_SUCCESS) {
        host->lock(host);
        status = enqueue_gemm(engine, queue, gemm, &made->event);
        host->unlock(host);
    }
    if (status != PORTMM_STATUS_SUCCESS) {
        free(made);
        return status;
    }
    engine->device->api->clFlush(queue->queue);
    if (event != NULL)
        *event = made;
    else
        pmm_cl_event_destroy(made);
    return PORTMM_STATUS_SUCCESS;
}

static bool take_wanted(pmm_engine_state *engine) {
    const pmm_host *host = engine->device->host;
    host->lock(host);
    bool wanted = engine->wanted;
    engine->wanted = false;
    host->unlock(host);
    return wanted;
}

static void capture(pmm_engine_state *engine) {
    const pmm_host *host = engine->device->host;
    const pmm_cl_api *api = engine->device->api;
    host->lock(host);
    cl_event launch = engine->last_launch;
    if (launch != NULL)
        api->clRetainEvent(launch);
    host->unlock(host);
    if (launch != NULL) {
        api->clWaitForEvents(1, &launch);
        api->clReleaseEvent(launch);
    }
    pmm_programs_capture(host, api, engine->device->context);
}

static void forget(const pmm_host *host, const pmm_cl_api *api) {
    pmm_seam_enter(host, api);
    CLBlastClearCache();
    pmm_seam_leave();
}

static const pmm_engine engine_table = {
    .name = "clblast",
    .max_size = INT32_MAX,
    .max_index = INT32_MAX,
    .open = open_engine,
    .close = close_engine,
    .gemm = run_gemm,
    .capture_wanted = take_wanted,
    .capture = capture,
};

const pmm_clblast *pmm_clblast_entry(void) {
    static const pmm_clblast clblast = {.engine = &engine_table, .forget = forget};
    return &clblast;
}
