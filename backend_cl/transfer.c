/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that do not wait, and memory that host and device share. */
#include <stdlib.h>

#include "cl_error.h"
#include "opencl.h"

/* One of `source` and `destination` is NULL. */
static cl_int enqueue(const pmm_queue *queue, cl_mem memory, const pmm_copy *copy, const void *source,
                      void *destination, cl_event *event) {
    const pmm_cl_api *api = queue->device->api;
    const size_t origin[3] = {copy->offset, 0, 0}, host_origin[3] = {0, 0, 0};
    const size_t region[3] = {copy->width, copy->height, 1};
    if (source != NULL)
        return api->clEnqueueWriteBufferRect(queue->queue, memory, CL_FALSE, origin, host_origin, region, copy->pitch,
                                             0, copy->host_pitch, 0, source, 0, NULL, event);
    return api->clEnqueueReadBufferRect(queue->queue, memory, CL_FALSE, origin, host_origin, region, copy->pitch, 0,
                                        copy->host_pitch, 0, destination, 0, NULL, event);
}

static portmm_status start(pmm_queue *queue, cl_mem memory, const pmm_copy *copy, const void *source, void *destination,
                           size_t wait_count, pmm_event *const *wait_list, pmm_event **event) {
    const pmm_device *device = queue->device;
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (wait_count > 0) /* the queue is in order */
        status = pmm_cl_queue_barrier(queue, wait_count, wait_list, NULL);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_event *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for an event");
    made->device = device;
    made->timed = queue->timed;
    cl_int code = enqueue(queue, memory, copy, source, destination, &made->event);
    if (code != CL_SUCCESS) {
        free(made);
        return pmm_cl_fail(device->host, source != NULL ? "clEnqueueWriteBufferRect" : "clEnqueueReadBufferRect", code);
    }
    device->api->clFlush(queue->queue);
    *event = made;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_buffer_write_start(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy, const void *source,
                                        size_t wait_count, pmm_event *const *wait_list, pmm_event **event) {
    return start(queue, buffer->memory, copy, source, NULL, wait_count, wait_list, event);
}

portmm_status pmm_cl_buffer_read_start(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy,
                                       void *destination, size_t wait_count, pmm_event *const *wait_list,
                                       pmm_event **event) {
    return start(queue, buffer->memory, copy, NULL, destination, wait_count, wait_list, event);
}

portmm_status pmm_cl_buffer_share(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer) {
    const pmm_host *host = device->host;
    cl_bool unified = CL_FALSE;
    cl_int code =
        device->api->clGetDeviceInfo(device->found->id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    if (code != CL_SUCCESS)
        return pmm_cl_fail(host, "clGetDeviceInfo", code);
    if (!unified)
        return host->fail(PORTMM_STATUS_UNSUPPORTED,
                          "opencl: %s has memory of its own, which it does not share with the host; use "
                          "portmm_buffer_create",
                          device->found->info.name);
    pmm_buffer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for a buffer");
    made->device = device;
    made->memory =
        device->api->clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, memory, &code);
    if (code != CL_SUCCESS) {
        free(made);
        return pmm_cl_fail(host, "clCreateBuffer", code);
    }
    *buffer = made;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_buffer_map(pmm_queue *queue, pmm_buffer *buffer, size_t size, void **memory) {
    cl_int code = CL_SUCCESS;
    void *mapped = queue->device->api->clEnqueueMapBuffer(queue->queue, buffer->memory, CL_TRUE,
                                                          CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        return pmm_cl_fail_late(queue->device->host, "clEnqueueMapBuffer", code);
    *memory = mapped;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_buffer_unmap(pmm_queue *queue, pmm_buffer *buffer, void *memory) {
    cl_int code = queue->device->api->clEnqueueUnmapMemObject(queue->queue, buffer->memory, memory, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return pmm_cl_fail_late(queue->device->host, "clEnqueueUnmapMemObject", code);
    return pmm_cl_queue_finish(queue);
}
