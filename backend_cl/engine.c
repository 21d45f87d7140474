/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include <stdlib.h>

#include "program.h"

/* The latest product on a device that serves one queue at a time; under host->lock. */
static struct {
    cl_context context;
    cl_command_queue queue;
    cl_event event; /* NULL: none */
} latest;

static void await_latest(const pmm_cl_api *api) {
    if (latest.event != NULL) {
        api->clWaitForEvents(1, &latest.event);
        api->clReleaseEvent(latest.event);
    }
    latest.event = NULL;
}

static void remember_latest(const pmm_device *device, cl_command_queue queue, cl_event event) {
    if (latest.event != NULL)
        device->api->clReleaseEvent(latest.event);
    latest.context = device->context;
    latest.queue = queue;
    latest.event = device->api->clRetainEvent(event) == CL_SUCCESS ? event : NULL;
}

portmm_status pmm_cl_engine_open(pmm_device *device, pmm_engine_state **engine) {
    pmm_engine_state *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for an engine");
    made->device = device;
    *engine = made;
    return PORTMM_STATUS_SUCCESS;
}

void pmm_cl_engine_close(pmm_engine_state *engine) {
    const pmm_host *host = engine->device->host;
    host->lock(host);
    if (latest.context == engine->device->context)
        await_latest(engine->device->api);
    host->unlock(host);
    if (engine->last_launch != NULL)
        engine->device->api->clReleaseEvent(engine->last_launch);
    free(engine);
}

bool pmm_cl_engine_wanted(pmm_engine_state *engine) {
    const pmm_host *host = engine->device->host;
    host->lock(host);
    bool wanted = engine->wanted;
    engine->wanted = false;
    host->unlock(host);
    return wanted;
}

void pmm_cl_engine_capture(pmm_engine_state *engine) {
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

/* So that a capture knows when the kernels have run. */
static void remember_launch(pmm_engine_state *engine, cl_event event) {
    const pmm_cl_api *api = engine->device->api;
    if (engine->last_launch != NULL)
        api->clReleaseEvent(engine->last_launch);
    engine->last_launch = api->clRetainEvent(event) == CL_SUCCESS ? event : NULL;
    engine->wanted = true;
}

/* Memory of the application's own may be for kernels to read or to write only. */
static portmm_status check_access(const pmm_host *host, const pmm_gemm *gemm) {
    const pmm_buffer *bias = gemm->epilogue.bias_kind != PORTMM_BIAS_NONE ? gemm->epilogue.bias : NULL;
    cl_mem_flags read = gemm->a->flags | gemm->b->flags | (bias != NULL ? bias->flags : 0);
    if (gemm->c->flags & CL_MEM_READ_ONLY)
        return host->fail(PORTMM_STATUS_INVALID_ARGUMENT, "opencl: C is in a cl_mem made with CL_MEM_READ_ONLY");
    if ((read | (pmm_gemm_reads_c(gemm) ? gemm->c->flags : 0)) & CL_MEM_WRITE_ONLY)
        return host->fail(PORTMM_STATUS_INVALID_ARGUMENT,
                          "opencl: a matrix that is read is in a cl_mem made with CL_MEM_WRITE_ONLY");
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_engine_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                                 pmm_event *const *wait_list, pmm_event **event, pmm_cl_enqueue *enqueue) {
    const pmm_host *host = engine->device->host;
    portmm_status status = check_access(host, gemm);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_event *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for an event");
    made->device = engine->device;
    made->timed = queue->timed;
    if (wait_count > 0) /* the queue is in order */
        status = pmm_cl_queue_barrier(queue, wait_count, wait_list, NULL);
    if (status == PORTMM_STATUS_SUCCESS) {
        bool new_launches = false;
        bool one_at_a_time = engine->device->found->quirks & PMM_CL_ONE_QUEUE_AT_A_TIME;
        host->lock(host);
        if (one_at_a_time && latest.queue != queue->queue)
            await_latest(engine->device->api);
        status = enqueue(engine, queue, gemm, &made->event, &new_launches);
        if (one_at_a_time && status == PORTMM_STATUS_SUCCESS)
            remember_latest(engine->device, queue->queue, made->event);
        if (status == PORTMM_STATUS_SUCCESS && new_launches)
            remember_launch(engine, made->event);
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
