/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "context.h"
#include "status.h"

portmm_status portmm_buffer_create(portmm_context *context, size_t size, portmm_buffer **buffer) {
    pmm_clear_error();
    if (buffer != NULL)
        *buffer = NULL;
    if (context == NULL || buffer == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_buffer_create: context or buffer is NULL");
    if (size == 0)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_buffer_create: size = 0 must be at least 1");
    pmm_context_await_device(context);
    if (context->device == NULL)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "portmm_buffer_create: the device could not be opened");
    if (context->info.max_allocation != 0 && size > context->info.max_allocation)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY,
                        "portmm_buffer_create: size = %zu is more than the device's largest allocation, %llu", size,
                        (unsigned long long)context->info.max_allocation);
    portmm_buffer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for a buffer");
    made->context = context;
    made->size = size;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_ALLOCATE, "buffer");
    portmm_status status = context->backend->buffer_create(context->device, size, &made->buffer);
    pmm_span_end();
    if (status != PORTMM_STATUS_SUCCESS) {
        free(made);
        return status;
    }
    *buffer = made;
    return PORTMM_STATUS_SUCCESS;
}

void portmm_buffer_destroy(portmm_buffer *buffer) {
    if (buffer == NULL)
        return;
    buffer->context->backend->buffer_destroy(buffer->buffer);
    free(buffer);
}

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
    return PORTMM_STATUS_SUCCESS;
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
