/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "context.h"
#include "status.h"

portmm_status portmm_queue_create(portmm_context *context, portmm_queue **queue) {
    pmm_clear_error();
    if (queue != NULL)
        *queue = NULL;
    if (context == NULL || queue == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_queue_create: context or queue is NULL");
    pmm_context_await_device(context);
    if (context->device == NULL)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "portmm_queue_create: the device could not be opened");
    portmm_queue *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for a queue");
    made->context = context;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_CONTEXT, "queue");
    portmm_status status = context->backend->queue_create(context->device, &made->queue);
    pmm_span_end();
    if (status != PORTMM_STATUS_SUCCESS) {
        free(made);
        return status;
    }
    *queue = made;
    return PORTMM_STATUS_SUCCESS;
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
    return pmm_queue_settle(queue);
}

void portmm_queue_destroy(portmm_queue *queue) {
    if (queue == NULL)
        return;
    queue->context->backend->queue_destroy(queue->queue);
    free(queue);
}
