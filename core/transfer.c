/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between buffers and host memory, and buffers as host memory. */
#include <stdlib.h>

#include "context.h"
#include "status.h"
#include "waits.h"

static portmm_status check_transfer(const char *function, const portmm_queue *queue, const portmm_buffer *buffer,
                                    size_t offset, size_t size, const void *memory) {
    if (queue == NULL || buffer == NULL || (memory == NULL && size > 0))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: queue, buffer or host pointer is NULL", function);
    if (queue->context != buffer->context)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: buffer belongs to another context than the queue",
                        function);
    if (offset > buffer->size || size > buffer->size - offset)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "%s: offset = %zu, size = %zu reach outside the buffer of %zu bytes", function, offset, size,
                        buffer->size);
    if (buffer->mapped != NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: buffer is mapped; unmap it first", function);
    return pmm_context_check_process(function, queue->context);
}

static pmm_copy make_run(size_t offset, size_t size) {
    return (pmm_copy){.offset = offset, .pitch = size, .host_pitch = size, .width = size, .height = 1};
}

portmm_status portmm_buffer_write(portmm_queue *queue, portmm_buffer *buffer, size_t offset, size_t size,
                                  const void *source) {
    pmm_clear_error();
    portmm_status status = check_transfer("portmm_buffer_write", queue, buffer, offset, size, source);
    if (status != PORTMM_STATUS_SUCCESS || size == 0)
        return status;
    portmm_context *context = queue->context;
    if (queue->has_products) /* so that their time does not count as the copy's */
        status = pmm_queue_settle(queue);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_copy copy = make_run(offset, size);
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_UPLOAD, "buffer");
    status = context->backend->buffer_write(queue->queue, buffer->buffer, &copy, source);
    pmm_span_end();
    return status;
}

portmm_status portmm_buffer_read(portmm_queue *queue, const portmm_buffer *buffer, size_t offset, size_t size,
                                 void *destination) {
    pmm_clear_error();
    portmm_status status = check_transfer("portmm_buffer_read", queue, buffer, offset, size, destination);
    if (status != PORTMM_STATUS_SUCCESS || size == 0)
        return status;
    portmm_context *context = queue->context;
    if (queue->has_products)
        status = pmm_queue_settle(queue);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_copy copy = make_run(offset, size);
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_DOWNLOAD, "buffer");
    status = context->backend->buffer_read(queue->queue, buffer->buffer, &copy, destination);
    pmm_span_end();
    return status;
}

/* ---- without waiting ---- */

typedef struct transfer {
    portmm_queue *queue;
    pmm_buffer *buffer;
    pmm_copy copy;
    const void *source; /* NULL: a read */
    void *destination;
} transfer;

/* For a backend whose copies only block. */
static portmm_status copy_now(const transfer *this, size_t wait_count, pmm_event *const *waits, pmm_event **event) {
    const pmm_backend *backend = this->queue->context->backend;
    pmm_queue *queue = this->queue->queue;
    portmm_status status = backend->queue_barrier(queue, wait_count, waits, NULL);
    if (status == PORTMM_STATUS_SUCCESS)
        status = this->source != NULL ? backend->buffer_write(queue, this->buffer, &this->copy, this->source)
                                      : backend->buffer_read(queue, this->buffer, &this->copy, this->destination);
    return status == PORTMM_STATUS_SUCCESS ? backend->queue_barrier(queue, 0, NULL, event) : status;
}

static portmm_status start_copy(const transfer *this, size_t wait_count, pmm_event *const *waits, pmm_event **event) {
    const pmm_backend *backend = this->queue->context->backend;
    pmm_queue *queue = this->queue->queue;
    if (this->copy.width == 0)
        return backend->queue_barrier(queue, wait_count, waits, event);
    if (this->source != NULL && backend->buffer_write_start != NULL)
        return backend->buffer_write_start(queue, this->buffer, &this->copy, this->source, wait_count, waits, event);
    if (this->source == NULL && backend->buffer_read_start != NULL)
        return backend->buffer_read_start(queue, this->buffer, &this->copy, this->destination, wait_count, waits,
                                          event);
    return copy_now(this, wait_count, waits, event);
}

static portmm_status start(const char *function, const transfer *this, size_t wait_count,
                           portmm_event *const *wait_list, portmm_event **event) {
    portmm_context *context = this->queue->context;
    portmm_phase phase = this->source != NULL ? PORTMM_PHASE_UPLOAD : PORTMM_PHASE_DOWNLOAD;
    pmm_event *waits[PMM_MAX_WAITS], *made = NULL;
    portmm_status status = pmm_waits_take(function, context, wait_count, wait_list, waits);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    portmm_event *wrapper = malloc(sizeof *wrapper);
    if (wrapper == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "%s: no memory for an event", function);
    pmm_span_begin(&context->runtime.timeline, phase, "start of a copy");
    status = start_copy(this, wait_count, waits, &made);
    pmm_span_end();
    if (status == PORTMM_STATUS_SUCCESS)
        pmm_event_give(context, made, phase, wrapper, event);
    else
        free(wrapper);
    return status;
}

static portmm_status check_start(const char *function, const portmm_queue *queue, const portmm_buffer *buffer,
                                 size_t offset, size_t size, const void *memory, portmm_event **event) {
    pmm_clear_error();
    if (event == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: event is NULL; without it nobody knows the copy's end",
                        function);
    *event = NULL;
    return check_transfer(function, queue, buffer, offset, size, memory);
}

portmm_status portmm_buffer_write_start(portmm_queue *queue, portmm_buffer *buffer, size_t offset, size_t size,
                                        const void *source, size_t wait_count, portmm_event *const *wait_list,
                                        portmm_event **event) {
    static const char function[] = "portmm_buffer_write_start";
    portmm_status status = check_start(function, queue, buffer, offset, size, source, event);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    const transfer this = {.queue = queue,
                           .buffer = buffer->buffer,
                           .copy = make_run(offset, size),
                           .source = source != NULL ? source : ""};
    return start(function, &this, wait_count, wait_list, event);
}

portmm_status portmm_buffer_read_start(portmm_queue *queue, const portmm_buffer *buffer, size_t offset, size_t size,
                                       void *destination, size_t wait_count, portmm_event *const *wait_list,
                                       portmm_event **event) {
    static const char function[] = "portmm_buffer_read_start";
    portmm_status status = check_start(function, queue, buffer, offset, size, destination, event);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    const transfer this = {
        .queue = queue, .buffer = buffer->buffer, .copy = make_run(offset, size), .destination = destination};
    return start(function, &this, wait_count, wait_list, event);
}

/* ---- as host memory ---- */

static portmm_status check_map(const char *function, const portmm_queue *queue, const portmm_buffer *buffer) {
    pmm_clear_error();
    if (queue == NULL || buffer == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: queue or buffer is NULL", function);
    if (queue->context != buffer->context)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: buffer belongs to another context than the queue",
                        function);
    if (queue->context->backend->buffer_map == NULL)
        return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "%s: backend %s maps no buffers; use portmm_buffer_read", function,
                        queue->context->backend->name);
    return pmm_context_check_process(function, queue->context);
}

portmm_status portmm_buffer_map(portmm_queue *queue, portmm_buffer *buffer, void **memory) {
    if (memory != NULL)
        *memory = NULL;
    portmm_status status = check_map("portmm_buffer_map", queue, buffer);
    if (status == PORTMM_STATUS_SUCCESS && (memory == NULL || buffer->mapped != NULL))
        status = pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_buffer_map: %s",
                          memory == NULL ? "memory is NULL" : "buffer is mapped already");
    if (status == PORTMM_STATUS_SUCCESS && queue->has_products)
        status = pmm_queue_settle(queue);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_span_begin(&queue->context->runtime.timeline, PORTMM_PHASE_DOWNLOAD, "map");
    status = queue->context->backend->buffer_map(queue->queue, buffer->buffer, buffer->size, &buffer->mapped);
    pmm_span_end();
    if (status == PORTMM_STATUS_SUCCESS)
        *memory = buffer->mapped;
    return status;
}

portmm_status portmm_buffer_unmap(portmm_queue *queue, portmm_buffer *buffer) {
    portmm_status status = check_map("portmm_buffer_unmap", queue, buffer);
    if (status == PORTMM_STATUS_SUCCESS && buffer->mapped == NULL)
        status = pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_buffer_unmap: buffer is not mapped");
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_span_begin(&queue->context->runtime.timeline, PORTMM_PHASE_UPLOAD, "unmap");
    status = queue->context->backend->buffer_unmap(queue->queue, buffer->buffer, buffer->mapped);
    pmm_span_end();
    buffer->mapped = NULL; /* also after a failure: it cannot be tried again */
    return status;
}
