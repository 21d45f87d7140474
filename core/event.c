/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "context.h"
#include "status.h"

void pmm_event_give(portmm_context *context, pmm_event *made, portmm_phase phase, portmm_event *wrapper,
                    portmm_event **event) {
    *wrapper = (portmm_event){
        .context = context, .event = made, .is_product = phase == PORTMM_PHASE_FIRST_LAUNCH, .phase = phase};
    *event = wrapper;
}

static portmm_status await(const char *function, portmm_event *event) {
    portmm_context *context = event->context;
    portmm_status status = pmm_context_check_process(function, context);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_span_begin(&context->runtime.timeline, event->is_product ? pmm_context_product_phase(context) : event->phase,
                   "wait for an event");
    status = context->backend->event_wait(event->event);
    pmm_span_end();
    if (event->is_product)
        atomic_store(&context->first_product_done, true);
    return status;
}

portmm_status portmm_event_wait(portmm_event *event) {
    pmm_clear_error();
    if (event == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_event_wait: event is NULL");
    return await("portmm_event_wait", event);
}

void portmm_event_destroy(portmm_event *event) {
    if (event == NULL)
        return;
    if (!pmm_context_is_cut_off(event->context))
        event->context->backend->event_destroy(event->event);
    free(event);
}

portmm_status portmm_event_get_times(portmm_event *event, uint64_t *begin_ns, uint64_t *end_ns) {
    pmm_clear_error();
    if (event == NULL || begin_ns == NULL || end_ns == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_event_get_times: event, begin_ns or end_ns is NULL");
    const pmm_backend *backend = event->context->backend;
    uint64_t begin = 0, end = 0;
    portmm_status status = await("portmm_event_get_times", event);
    if (status == PORTMM_STATUS_SUCCESS)
        status = backend->event_times != NULL
                     ? backend->event_times(event->event, &begin, &end)
                     : pmm_fail(PORTMM_STATUS_UNSUPPORTED, "backend %s has no times of events", backend->name);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    *begin_ns = begin;
    *end_ns = end;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status portmm_event_get_native(portmm_event *event, void **native) {
    pmm_clear_error();
    if (native != NULL)
        *native = NULL;
    if (event == NULL || native == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_event_get_native: event or native is NULL");
    const pmm_backend *backend = event->context->backend;
    if (backend->event_native == NULL)
        return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "backend %s has no objects of a driver", backend->name);
    portmm_status status = pmm_context_check_process("portmm_event_get_native", event->context);
    return status == PORTMM_STATUS_SUCCESS ? backend->event_native(event->event, native) : status;
}
