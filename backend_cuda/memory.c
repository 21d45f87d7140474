/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, buffers and events. */
#include <stdlib.h>

#include "cuda_state.h"

/* ---- events ---- */

/* With the context current. */
static portmm_status create_event(pmm_device *device, bool timed, pmm_event **event) {
    const pmm_cuda_api *api = device->api;
    unsigned flags = timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
    pmm_event *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory for an event");
    made->device = device;
    CUresult code = api->cuEventCreate(&made->event, flags);
    if (code == CUDA_SUCCESS && timed) {
        code = api->cuEventCreate(&made->begin, flags);
        if (code != CUDA_SUCCESS)
            api->cuEventDestroy(made->event);
    }
    if (code == CUDA_SUCCESS)
        *event = made;
    else
        free(made);
    return pmm_cuda_check(device, "cuEventCreate", code);
}

/* The driver tells times as a float of milliseconds from one event to another. */
portmm_status pmm_cuda_event_times(pmm_event *event, uint64_t *begin_ns, uint64_t *end_ns) {
    pmm_device *device = event->device;
    const pmm_cuda_api *api = device->api;
    float until = 0, lasted = 0;
    if (event->begin == NULL)
        return device->host->fail(PORTMM_STATUS_UNSUPPORTED,
                                  "cuda: the event is not timed; its queue comes from portmm_queue_create_timed");
    portmm_status status = pmm_cuda_enter(device);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    CUresult code = api->cuEventElapsedTime(&until, device->epoch, event->begin);
    if (code == CUDA_SUCCESS)
        code = api->cuEventElapsedTime(&lasted, event->begin, event->event);
    status = pmm_cuda_check_late(device, "cuEventElapsedTime", code);
    pmm_cuda_leave(device);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    *begin_ns = (uint64_t)((double)until * 1e6);
    *end_ns = *begin_ns + (uint64_t)((double)lasted * 1e6);
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cuda_event_wait(pmm_event *event) {
    pmm_device *device = event->device;
    portmm_status status = pmm_cuda_enter(device);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    status = pmm_cuda_check_late(device, "cuEventSynchronize", device->api->cuEventSynchronize(event->event));
    pmm_cuda_leave(device);
    return status;
}

void pmm_cuda_event_destroy(pmm_event *event) {
    pmm_device *device = event->device;
    if (pmm_cuda_enter(device) == PORTMM_STATUS_SUCCESS) {
        device->api->cuEventDestroy(event->event); /* the driver keeps it until it is complete */
        if (event->begin != NULL)
            device->api->cuEventDestroy(event->begin);
        pmm_cuda_leave(device);
    }
    free(event);
}

/* ---- queues ---- */

portmm_status pmm_cuda_queue_create(pmm_device *device, pmm_queue **queue) {
    pmm_queue *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory for a queue");
    made->device = device;
    portmm_status status = pmm_cuda_enter(device);
    if (status == PORTMM_STATUS_SUCCESS) {
        /* Non-blocking: work that the application gives to the default stream has no part in our order. */
        status = pmm_cuda_check(device, "cuStreamCreate",
                                device->api->cuStreamCreate(&made->stream, CU_STREAM_NON_BLOCKING));
        pmm_cuda_leave(device);
    }
    if (status == PORTMM_STATUS_SUCCESS)
        *queue = made;
    else
        free(made);
    return status;
}

/* With the context current, and the lock. */
static portmm_status make_epoch(pmm_device *device, CUstream stream) {
    const pmm_cuda_api *api = device->api;
    CUevent made = NULL;
    CUresult code = api->cuEventCreate(&made, CU_EVENT_DEFAULT);
    if (code != CUDA_SUCCESS)
        return pmm_cuda_check(device, "cuEventCreate", code);
    code = api->cuEventRecord(made, stream);
    if (code == CUDA_SUCCESS)
        code = api->cuEventSynchronize(made);
    if (code == CUDA_SUCCESS)
        device->epoch = made;
    else
        api->cuEventDestroy(made);
    return pmm_cuda_check_late(device, "an event to count from", code);
}

portmm_status pmm_cuda_queue_create_timed(pmm_device *device, pmm_queue **queue) {
    pmm_queue *made = NULL;
    portmm_status status = pmm_cuda_queue_create(device, &made);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    made->timed = true;
    status = pmm_cuda_enter(device);
    if (status == PORTMM_STATUS_SUCCESS) {
        device->host->lock(device->host);
        if (device->epoch == NULL)
            status = make_epoch(device, made->stream);
        device->host->unlock(device->host);
        pmm_cuda_leave(device);
    }
    if (status == PORTMM_STATUS_SUCCESS)
        *queue = made;
    else
        pmm_cuda_queue_destroy(made);
    return status;
}

portmm_status pmm_cuda_queue_finish(pmm_queue *queue) {
    pmm_device *device = queue->device;
    portmm_status status = pmm_cuda_enter(device);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    status = pmm_cuda_check_late(device, "cuStreamSynchronize", device->api->cuStreamSynchronize(queue->stream));
    pmm_cuda_leave(device);
    return status;
}

void pmm_cuda_queue_destroy(pmm_queue *queue) {
    pmm_device *device = queue->device;
    if (pmm_cuda_enter(device) == PORTMM_STATUS_SUCCESS) {
        device->api->cuStreamSynchronize(queue->stream);
        if (!queue->stream_is_borrowed)
            device->api->cuStreamDestroy(queue->stream);
        pmm_cuda_leave(device);
    }
    pmm_cuda_cublas_leave_queue(queue);
    free(queue);
}

static portmm_status enqueue_waits(pmm_queue *queue, size_t count, pmm_event *const *list) {
    const pmm_cuda_api *api = queue->device->api;
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (size_t i = 0; i < count && status == PORTMM_STATUS_SUCCESS; i++)
        status = pmm_cuda_check(queue->device, "cuStreamWaitEvent",
                                api->cuStreamWaitEvent(queue->stream, list[i]->event, CU_EVENT_WAIT_DEFAULT));
    return status;
}

/* With the context current. The event is made first: when there is none nothing may be enqueued. */
static portmm_status enqueue(pmm_queue *queue, size_t wait_count, pmm_event *const *wait_list, pmm_event **event,
                             pmm_cuda_command *command, void *what) {
    pmm_device *device = queue->device;
    pmm_event *made = NULL;
    portmm_status status = event != NULL ? create_event(device, queue->timed, &made) : PORTMM_STATUS_SUCCESS;
    if (status == PORTMM_STATUS_SUCCESS)
        status = enqueue_waits(queue, wait_count, wait_list);
    if (status == PORTMM_STATUS_SUCCESS && made != NULL && queue->timed)
        status = pmm_cuda_check(device, "cuEventRecord", device->api->cuEventRecord(made->begin, queue->stream));
    if (status == PORTMM_STATUS_SUCCESS && command != NULL)
        status = command(queue, what);
    if (status == PORTMM_STATUS_SUCCESS && made != NULL)
        status = pmm_cuda_check_late(device, "cuEventRecord", device->api->cuEventRecord(made->event, queue->stream));
    if (status == PORTMM_STATUS_SUCCESS && event != NULL)
        *event = made;
    else if (made != NULL)
        pmm_cuda_event_destroy(made);
    return status;
}

portmm_status pmm_cuda_enqueue(pmm_queue *queue, size_t wait_count, pmm_event *const *wait_list, pmm_event **event,
                               pmm_cuda_command *command, void *what) {
    portmm_status status = pmm_cuda_enter(queue->device);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    status = enqueue(queue, wait_count, wait_list, event, command, what);
    pmm_cuda_leave(queue->device);
    return status;
}

portmm_status pmm_cuda_queue_barrier(pmm_queue *queue, size_t wait_count, pmm_event *const *wait_list,
                                     pmm_event **event) {
    return pmm_cuda_enqueue(queue, wait_count, wait_list, event, NULL, NULL);
}

/* ---- buffers ---- */

portmm_status pmm_cuda_buffer_create(pmm_device *device, size_t size, pmm_buffer **buffer) {
    pmm_buffer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory for a buffer");
    made->device = device;
    portmm_status status = pmm_cuda_enter(device);
    if (status == PORTMM_STATUS_SUCCESS) {
        status = pmm_cuda_check(device, "cuMemAlloc", device->api->cuMemAlloc(&made->address, size));
        pmm_cuda_leave(device);
    }
    if (status == PORTMM_STATUS_SUCCESS)
        *buffer = made;
    else
        free(made);
    return status;
}

portmm_status pmm_cuda_buffer_wrap(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer) {
    (void)device, (void)memory, (void)size, (void)buffer;
    return PORTMM_STATUS_UNSUPPORTED;
}

void pmm_cuda_buffer_destroy(pmm_buffer *buffer) {
    pmm_device *device = buffer->device;
    if (!buffer->memory_is_borrowed && pmm_cuda_enter(device) == PORTMM_STATUS_SUCCESS) {
        device->api->cuMemFree(buffer->address); /* waits for the work that uses it */
        pmm_cuda_leave(device);
    }
    free(buffer);
}

/* ---- transfers ---- */

/* The longest pitch that the driver's two-dimensional copies take. */
#define MAX_PITCH ((size_t)INT32_MAX)

/* One direction is NULL. */
typedef struct transfer {
    CUdeviceptr address;
    const pmm_copy *copy;
    const void *source;
    void *destination;
} transfer;

static CUresult write_rows(const pmm_queue *queue, const transfer *this) {
    const pmm_copy *copy = this->copy;
    CUresult code = CUDA_SUCCESS;
    for (size_t row = 0; row < copy->height && code == CUDA_SUCCESS; row++)
        code = queue->device->api->cuMemcpyHtoDAsync(this->address + row * copy->pitch,
                                                     (const char *)this->source + row * copy->host_pitch, copy->width,
                                                     queue->stream);
    return code;
}

static CUresult read_rows(const pmm_queue *queue, const transfer *this) {
    const pmm_copy *copy = this->copy;
    CUresult code = CUDA_SUCCESS;
    for (size_t row = 0; row < copy->height && code == CUDA_SUCCESS; row++)
        code = queue->device->api->cuMemcpyDtoHAsync((char *)this->destination + row * copy->host_pitch,
                                                     this->address + row * copy->pitch, copy->width, queue->stream);
    return code;
}

static bool takes_rectangle(const pmm_copy *copy) {
    return copy->height > 1 && copy->pitch <= MAX_PITCH && copy->host_pitch <= MAX_PITCH;
}

static CUresult copy_rectangle(const pmm_queue *queue, const transfer *this) {
    const pmm_copy *copy = this->copy;
    CUDA_MEMCPY2D rectangle = {.WidthInBytes = copy->width, .Height = copy->height};
    if (this->source != NULL) {
        rectangle.srcMemoryType = CU_MEMORYTYPE_HOST;
        rectangle.srcHost = this->source;
        rectangle.srcPitch = copy->host_pitch;
        rectangle.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        rectangle.dstDevice = this->address;
        rectangle.dstPitch = copy->pitch;
    } else {
        rectangle.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        rectangle.srcDevice = this->address;
        rectangle.srcPitch = copy->pitch;
        rectangle.dstMemoryType = CU_MEMORYTYPE_HOST;
        rectangle.dstHost = this->destination;
        rectangle.dstPitch = copy->host_pitch;
    }
    return queue->device->api->cuMemcpy2DAsync(&rectangle, queue->stream);
}

static portmm_status start_transfer(pmm_queue *queue, void *what) {
    const transfer *this = what;
    bool is_write = this->source != NULL;
    CUresult code = takes_rectangle(this->copy) ? copy_rectangle(queue, this)
                                                : (is_write ? write_rows(queue, this) : read_rows(queue, this));
    if (code != CUDA_SUCCESS)
        queue->device->api->cuStreamSynchronize(queue->stream); /* rows already under way use the caller's memory */
    return pmm_cuda_check_late(queue->device, is_write ? "a copy to the device" : "a copy from the device", code);
}

/* Starts it and, where no event is wanted, waits. */
static portmm_status run_transfer(pmm_queue *queue, transfer *this, size_t wait_count, pmm_event *const *wait_list,
                                  pmm_event **event) {
    portmm_status status = pmm_cuda_enqueue(queue, wait_count, wait_list, event, start_transfer, this);
    return status == PORTMM_STATUS_SUCCESS && event == NULL ? pmm_cuda_queue_finish(queue) : status;
}

portmm_status pmm_cuda_buffer_write_start(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy,
                                          const void *source, size_t wait_count, pmm_event *const *wait_list,
                                          pmm_event **event) {
    transfer this = {.address = buffer->address + copy->offset, .copy = copy, .source = source};
    return run_transfer(queue, &this, wait_count, wait_list, event);
}

portmm_status pmm_cuda_buffer_read_start(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy,
                                         void *destination, size_t wait_count, pmm_event *const *wait_list,
                                         pmm_event **event) {
    transfer this = {.address = buffer->address + copy->offset, .copy = copy, .destination = destination};
    return run_transfer(queue, &this, wait_count, wait_list, event);
}

portmm_status pmm_cuda_buffer_write(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy, const void *source) {
    return pmm_cuda_buffer_write_start(queue, buffer, copy, source, 0, NULL, NULL);
}

portmm_status pmm_cuda_buffer_read(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy,
                                   void *destination) {
    return pmm_cuda_buffer_read_start(queue, buffer, copy, destination, 0, NULL, NULL);
}
