/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "context.h"
#include "status.h"

portmm_status portmm_event_wait(portmm_event *event) {
    pmm_clear_error();
    if (event == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_event_wait: event is NULL");
    portmm_context *context = event->context;
    pmm_span_begin(&context->runtime.timeline, pmm_context_product_phase(context), "wait for an event");
    portmm_status status = context->backend->event_wait(event->event);
    pmm_span_end();
    atomic_store(&context->first_product_done, true);
    return status;
}

void portmm_event_destroy(portmm_event *event) {
    if (event == NULL)
        return;
    event->context->backend->event_destroy(event->event);
    free(event);
}
