/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "context.h"
#include "status.h"

/* How a backend makes a buffer; *size is known, or is found out for a borrowed one. */
typedef portmm_status make_buffer(portmm_context *context, void *given, size_t *size, pmm_buffer **buffer);

static portmm_status make_own(portmm_context *context, void *given, size_t *size, pmm_buffer **buffer) {
    (void)given;
    return context->backend->buffer_create(context->device, *size, buffer);
}

static portmm_status make_shared(portmm_context *context, void *given, size_t *size, pmm_buffer **buffer) {
    const pmm_backend *backend = context->backend;
    if (backend->buffer_share != NULL)
        return backend->buffer_share(context->device, given, *size, buffer);
    portmm_status status = backend->buffer_wrap(context->device, given, *size, buffer);
    if (status == PORTMM_STATUS_UNSUPPORTED)
        return pmm_fail(status, "portmm_buffer_share: %s:%d (%s) has memory of its own; use portmm_buffer_create",
                        context->info.backend, (int)context->info.index, context->info.name);
    return status;
}

static portmm_status make_borrowed(portmm_context *context, void *given, size_t *size, pmm_buffer **buffer) {
    const pmm_backend *backend = context->backend;
    if (backend->buffer_borrow == NULL)
        return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "backend %s has no objects of a driver", backend->name);
    portmm_status status = backend->buffer_borrow(context->device, given, size, buffer);
    if (status == PORTMM_STATUS_SUCCESS && *size == 0)
        *size = SIZE_MAX; /* the driver does not tell: the application knows */
    return status;
}

static portmm_status create_buffer(const char *function, portmm_context *context, make_buffer *make, void *given,
                                   size_t size, portmm_buffer **buffer) {
    portmm_status status = pmm_context_await_device(function, context);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (context->info.max_allocation != 0 && size > context->info.max_allocation)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY,
                        "%s: size = %zu is more than the device's largest allocation, %llu", function, size,
                        (unsigned long long)context->info.max_allocation);
    portmm_buffer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "%s: no memory for a buffer", function);
    made->context = context;
    made->size = size;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_ALLOCATE, "buffer");
    status = make(context, given, &made->size, &made->buffer);
    pmm_span_end();
    if (status != PORTMM_STATUS_SUCCESS) {
        free(made);
        return status;
    }
    *buffer = made;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status check_creation(const char *function, const portmm_context *context, size_t size,
                                    portmm_buffer **buffer) {
    pmm_clear_error();
    if (buffer != NULL)
        *buffer = NULL;
    if (context == NULL || buffer == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: context or buffer is NULL", function);
    if (size == 0)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: size = 0 must be at least 1", function);
    return PORTMM_STATUS_SUCCESS;
}

portmm_status portmm_buffer_create(portmm_context *context, size_t size, portmm_buffer **buffer) {
    portmm_status status = check_creation("portmm_buffer_create", context, size, buffer);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    return create_buffer("portmm_buffer_create", context, make_own, NULL, size, buffer);
}

portmm_status portmm_buffer_share(portmm_context *context, void *memory, size_t size, portmm_buffer **buffer) {
    portmm_status status = check_creation("portmm_buffer_share", context, size, buffer);
    if (status == PORTMM_STATUS_SUCCESS && memory == NULL)
        status = pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_buffer_share: memory is NULL");
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    return create_buffer("portmm_buffer_share", context, make_shared, memory, size, buffer);
}

portmm_status portmm_buffer_borrow(portmm_context *context, void *native, portmm_buffer **buffer) {
    portmm_status status = check_creation("portmm_buffer_borrow", context, 1, buffer);
    if (status == PORTMM_STATUS_SUCCESS && native == NULL)
        status = pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_buffer_borrow: native is NULL");
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    return create_buffer("portmm_buffer_borrow", context, make_borrowed, native, 0, buffer);
}

void portmm_buffer_destroy(portmm_buffer *buffer) {
    if (buffer == NULL)
        return;
    if (!pmm_context_is_cut_off(buffer->context))
        buffer->context->backend->buffer_destroy(buffer->buffer);
    free(buffer);
}
