/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "context.h"
#include "status.h"
#include "waits.h"

/* How a backend makes a queue. `native` is for borrowed ones. */
typedef portmm_status make_queue(portmm_context *context, void *native, pmm_queue **queue);

static portmm_status make_own(portmm_context *context, void *native, pmm_queue **queue) {
    (void)native;
    return context->backend->queue_create(context->device, queue);
}

static portmm_status make_timed(portmm_context *context, void *native, pmm_queue **queue) {
    (void)native;
    if (context->backend->queue_create_timed == NULL)
        return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "backend %s has no times of events", context->backend->name);
    return context->backend->queue_create_timed(context->device, queue);
}

static portmm_status make_borrowed(portmm_context *context, void *native, pmm_queue **queue) {
    if (context->backend->queue_borrow == NULL)
        return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "backend %s has no objects of a driver", context->backend->name);
    return context->backend->queue_borrow(context->device, native, queue);
}

static portmm_status create_queue(const char *function, portmm_context *context, make_queue *make, void *native,
                                  portmm_queue **queue) {
    pmm_clear_error();
    if (queue != NULL)
        *queue = NULL;
    if (context == NULL || queue == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: context or queue is NULL", function);
    portmm_status status = pmm_context_await_device(function, context);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    portmm_queue *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "%s: no memory for a queue", function);
    made->context = context;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_CONTEXT, "queue");
    status = make(context, native, &made->queue);
    pmm_span_end();
    if (status != PORTMM_STATUS_SUCCESS) {
        free(made);
        return status;
    }
    *queue = made;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status portmm_queue_create(portmm_context *context, portmm_queue **queue) {
    return create_queue("portmm_queue_create", context, make_own, NULL, queue);
}

portmm_status portmm_queue_create_timed(portmm_context *context, portmm_queue **queue) {
    return create_queue("portmm_queue_create_timed", context, make_timed, NULL, queue);
}

portmm_status portmm_queue_borrow(portmm_context *context, void *native, portmm_queue **queue) {
    return create_queue("portmm_queue_borrow", context, make_borrowed, native, queue);
}

portmm_status pmm_queue_settle(portmm_queue *queue) {
    portmm_context *context = queue->context;
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (!context->backend->is_immediate) {
        pmm_span_begin(&context->runtime.timeline, pmm_context_product_phase(context), "wait for the queue");
        status = context->backend->queue_finish(queue->queue);
        pmm_span_end();
    }
    if (queue->has_products)
        atomic_store(&context->first_product_done, true);
    queue->has_products = false;
    return status;
}

portmm_status portmm_queue_finish(portmm_queue *queue) {
    pmm_clear_error();
    if (queue == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_queue_finish: queue is NULL");
    portmm_status status = pmm_context_check_process("portmm_queue_finish", queue->context);
    return status == PORTMM_STATUS_SUCCESS ? pmm_queue_settle(queue) : status;
}

portmm_status portmm_queue_barrier(portmm_queue *queue, size_t wait_count, portmm_event *const *wait_list,
                                   portmm_event **event) {
    static const char function[] = "portmm_queue_barrier";
    pmm_event *waits[PMM_MAX_WAITS], *made = NULL;
    pmm_clear_error();
    if (event != NULL)
        *event = NULL;
    if (queue == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: queue is NULL", function);
    portmm_context *context = queue->context;
    portmm_status status = pmm_context_check_process(function, context);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_waits_take(function, context, wait_count, wait_list, waits);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    portmm_event *wrapper = event != NULL ? malloc(sizeof *wrapper) : NULL;
    if (event != NULL && wrapper == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "%s: no memory for an event", function);
    status = context->backend->queue_barrier(queue->queue, wait_count, waits, event != NULL ? &made : NULL);
    if (status == PORTMM_STATUS_SUCCESS && event != NULL)
        pmm_event_give(context, made, pmm_context_product_phase(context), wrapper, event);
    else
        free(wrapper);
    return status;
}

void portmm_queue_destroy(portmm_queue *queue) {
    if (queue == NULL)
        return;
    if (!pmm_context_is_cut_off(queue->context))
        queue->context->backend->queue_destroy(queue->queue);
    free(queue);
}
