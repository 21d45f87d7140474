/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, buffers and events. */
#include <stdlib.h>

#include "cl_error.h"
#include "opencl.h"

#define MAX_WAITS 64 /* as many as the core lets through */

static portmm_status create_queue(pmm_device *device, bool timed, pmm_queue **queue) {
    cl_int code = CL_SUCCESS;
    pmm_queue *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for a queue");
    made->device = device;
    made->timed = timed;
    made->queue = device->api->clCreateCommandQueue(device->context, device->found->id,
                                                    timed ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    if (code != CL_SUCCESS) {
        free(made);
        return pmm_cl_fail(device->host, "clCreateCommandQueue", code);
    }
    *queue = made;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_queue_create(pmm_device *device, pmm_queue **queue) {
    return create_queue(device, false, queue);
}

portmm_status pmm_cl_queue_create_timed(pmm_device *device, pmm_queue **queue) {
    return create_queue(device, true, queue);
}

portmm_status pmm_cl_queue_finish(pmm_queue *queue) {
    cl_int code = queue->device->api->clFinish(queue->queue);
    return code == CL_SUCCESS ? PORTMM_STATUS_SUCCESS : pmm_cl_fail_late(queue->device->host, "clFinish", code);
}

portmm_status pmm_cl_queue_barrier(pmm_queue *queue, size_t wait_count, pmm_event *const *wait_list,
                                   pmm_event **event) {
    const pmm_cl_api *api = queue->device->api;
    const pmm_host *host = queue->device->host;
    cl_event waits[MAX_WAITS];
    pmm_event *made = event != NULL ? calloc(1, sizeof *made) : NULL;
    if (event != NULL && made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for an event");
    for (size_t i = 0; i < wait_count; i++)
        waits[i] = wait_list[i]->event;
    cl_int code = api->clEnqueueBarrierWithWaitList(queue->queue, (cl_uint)wait_count, wait_count > 0 ? waits : NULL,
                                                    made != NULL ? &made->event : NULL);
    if (code != CL_SUCCESS) {
        free(made);
        return pmm_cl_fail(host, "clEnqueueBarrierWithWaitList", code);
    }
    api->clFlush(queue->queue);
    if (event != NULL) {
        made->device = queue->device;
        made->timed = queue->timed;
        *event = made;
    }
    return PORTMM_STATUS_SUCCESS;
}

void pmm_cl_queue_destroy(pmm_queue *queue) {
    queue->device->api->clFinish(queue->queue);
    queue->device->api->clReleaseCommandQueue(queue->queue);
    free(queue);
}

portmm_status pmm_cl_buffer_create(pmm_device *device, size_t size, pmm_buffer **buffer) {
    cl_int code = CL_SUCCESS;
    pmm_buffer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for a buffer");
    made->device = device;
    made->memory = device->api->clCreateBuffer(device->context, CL_MEM_READ_WRITE, size, NULL, &code);
    if (code != CL_SUCCESS) {
        free(made);
        if (code == CL_INVALID_BUFFER_SIZE)
            return device->host->fail(
                PORTMM_STATUS_OUT_OF_MEMORY,
                "opencl: a buffer of %zu bytes is refused (clCreateBuffer: CL_INVALID_BUFFER_SIZE "
                "(%d)); the largest one of %s has %llu bytes: split the product",
                size, (int)code, device->found->info.name, (unsigned long long)device->found->info.max_allocation);
        return pmm_cl_fail(device->host, "clCreateBuffer", code);
    }
    *buffer = made;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_buffer_wrap(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer) {
    (void)device, (void)memory, (void)size, (void)buffer;
    return PORTMM_STATUS_UNSUPPORTED;
}

void pmm_cl_buffer_destroy(pmm_buffer *buffer) {
    buffer->device->api->clReleaseMemObject(buffer->memory);
    free(buffer);
}

portmm_status pmm_cl_buffer_write(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy, const void *source) {
    const pmm_cl_api *api = queue->device->api;
    const size_t origin[3] = {copy->offset, 0, 0}, host_origin[3] = {0, 0, 0};
    const size_t region[3] = {copy->width, copy->height, 1};
    cl_int code = copy->height == 1 ? api->clEnqueueWriteBuffer(queue->queue, buffer->memory, CL_TRUE, copy->offset,
                                                                copy->width, source, 0, NULL, NULL)
                                    : api->clEnqueueWriteBufferRect(queue->queue, buffer->memory, CL_TRUE, origin,
                                                                    host_origin, region, copy->pitch, 0,
                                                                    copy->host_pitch, 0, source, 0, NULL, NULL);
    return code == CL_SUCCESS ? PORTMM_STATUS_SUCCESS
                              : pmm_cl_fail_late(queue->device->host, "clEnqueueWriteBuffer", code);
}

portmm_status pmm_cl_buffer_read(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy, void *destination) {
    const pmm_cl_api *api = queue->device->api;
    const size_t origin[3] = {copy->offset, 0, 0}, host_origin[3] = {0, 0, 0};
    const size_t region[3] = {copy->width, copy->height, 1};
    cl_int code = copy->height == 1
                      ? api->clEnqueueReadBuffer(queue->queue, buffer->memory, CL_TRUE, copy->offset, copy->width,
                                                 destination, 0, NULL, NULL)
                      : api->clEnqueueReadBufferRect(queue->queue, buffer->memory, CL_TRUE, origin, host_origin, region,
                                                     copy->pitch, 0, copy->host_pitch, 0, destination, 0, NULL, NULL);
    return code == CL_SUCCESS ? PORTMM_STATUS_SUCCESS
                              : pmm_cl_fail_late(queue->device->host, "clEnqueueReadBuffer", code);
}

portmm_status pmm_cl_event_wait(pmm_event *event) {
    cl_int code = event->device->api->clWaitForEvents(1, &event->event);
    return code == CL_SUCCESS ? PORTMM_STATUS_SUCCESS : pmm_cl_fail_late(event->device->host, "clWaitForEvents", code);
}

portmm_status pmm_cl_event_times(pmm_event *event, uint64_t *begin_ns, uint64_t *end_ns) {
    const pmm_device *device = event->device;
    cl_ulong begin = 0, end = 0;
    if (!event->timed)
        return device->host->fail(PORTMM_STATUS_UNSUPPORTED,
                                  "opencl: the event is not timed; its queue comes from portmm_queue_create_timed");
    cl_int code =
        device->api->clGetEventProfilingInfo(event->event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
    if (code == CL_SUCCESS)
        code = device->api->clGetEventProfilingInfo(event->event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    if (code != CL_SUCCESS)
        return pmm_cl_fail(device->host, "clGetEventProfilingInfo", code);
    *begin_ns = begin;
    *end_ns = end;
    return PORTMM_STATUS_SUCCESS;
}

void pmm_cl_event_destroy(pmm_event *event) {
    event->device->api->clReleaseEvent(event->event);
    free(event);
}
