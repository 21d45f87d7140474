/* SPDX-License-Identifier: Apache-2.0 */
#include "hybrid.h"

#include <stdio.h>
#include <string.h>

#include "cache/flight.h"
#include "context.h"
#include "gemm_check.h"
#include "log.h"
#include "scratch.h"
#include "status.h"

#define WAIT_MS 3600000

/* Opening a device takes the processor from the very product that should not wait for it. So the first product, if it
 * comes soon, goes first, unless it is a long one. */
#define GRACE_FOR_BEGIN_MS 50
#define GRACE_FOR_FINISH_MS 200

bool pmm_hybrid_init(pmm_hybrid *hybrid) {
    return pmm_mutex_init(&hybrid->mutex) && pmm_condition_init(&hybrid->changed);
}

void pmm_hybrid_fini(pmm_hybrid *hybrid) {
    portmm_context_destroy(hybrid->front);
    if (!hybrid->has_thread) /* as in engines.c */
        pmm_condition_fini(&hybrid->changed);
    pmm_mutex_fini(&hybrid->mutex);
}

/* A device that cannot be opened leaves the CPU in charge. */
static void open_device(portmm_context *context) {
    char why[900];
    if (pmm_context_open_device(context, context->runtime.config.backend) == PORTMM_STATUS_SUCCESS)
        return;
    snprintf(why, sizeof why, "%s", portmm_last_error());
    pmm_log(&context->runtime.config, PORTMM_LOG_WARNING, "hybrid: the CPU stays in charge: %s", why);
    if (pmm_context_open_device(context, "cpu") == PORTMM_STATUS_SUCCESS)
        snprintf(context->reason, sizeof context->reason, "hybrid: the CPU serves, because %s", why);
}

/* Prepares the engine that will serve a type, so that the first product on the device does not wait for a compiler. */
static void prepare_type(portmm_context *context, int type) {
    pmm_hybrid *hybrid = &context->hybrid;
    pmm_gemm form = hybrid->asked[type];
    pmm_engine_slot *only = pmm_engines_find_only(context, &form);
    pmm_engine_slot *starter = only != NULL ? only : pmm_engines_get_starter(context);
    pmm_warmup_shrink(&form);
    pmm_mutex_unlock(&hybrid->mutex);
    portmm_status status = pmm_scratch_run(context, starter, &form);
    if (status == PORTMM_STATUS_SUCCESS) {
        pmm_engines_note_switch(context, "cpu", starter->engine->name, "the device is open", &form);
        pmm_engines_begin(context, &form);
        pmm_warmup_after_product(context, starter, &form);
    } else {
        pmm_flight_land(&context->runtime.cache);
        pmm_log(&context->runtime.config, PORTMM_LOG_WARNING, "hybrid: the CPU goes on: %s", portmm_last_error());
    }
    pmm_mutex_lock(&hybrid->mutex);
    hybrid->asked[type].dtype = 0;
    if (status == PORTMM_STATUS_SUCCESS)
        atomic_store(&hybrid->ready[type], true);
}

static int find_asked(const pmm_hybrid *hybrid) {
    for (int type = 0; type < PMM_DTYPES; type++)
        if (hybrid->asked[type].dtype != 0)
            return type;
    return -1;
}

static void let_first_product_pass(pmm_hybrid *hybrid) {
    uint64_t begin = pmm_clock_ns();
    for (;;) {
        uint64_t waited_ms = (pmm_clock_ns() - begin) / 1000000u;
        uint64_t grace_ms = hybrid->has_begun ? GRACE_FOR_FINISH_MS : GRACE_FOR_BEGIN_MS;
        if (hybrid->has_finished || hybrid->is_awaited || hybrid->stopping || waited_ms >= grace_ms)
            return;
        pmm_condition_wait(&hybrid->changed, &hybrid->mutex, (unsigned)(grace_ms - waited_ms));
    }
}

static void *run_opening(void *argument) {
    portmm_context *context = argument;
    pmm_hybrid *hybrid = &context->hybrid;
    pmm_timeline_background_thread();
    pmm_mutex_lock(&hybrid->mutex);
    let_first_product_pass(hybrid);
    pmm_mutex_unlock(&hybrid->mutex);
    open_device(context);
    pmm_mutex_lock(&hybrid->mutex);
    hybrid->is_open = true;
    pmm_condition_signal(&hybrid->changed);
    while (!hybrid->stopping && context->device != NULL) {
        int type = find_asked(hybrid);
        if (type >= 0)
            prepare_type(context, type);
        else
            pmm_condition_wait(&hybrid->changed, &hybrid->mutex, WAIT_MS);
    }
    pmm_mutex_unlock(&hybrid->mutex);
    return NULL;
}

portmm_status pmm_hybrid_start(portmm_context *context) {
    pmm_hybrid *hybrid = &context->hybrid;
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "cpu";
    options.module_path = context->runtime.config.module_path;
    options.cache_mode = PORTMM_CACHE_OFF;
    options.start = PORTMM_START_TUNED;
    options.log = context->runtime.config.log;
    options.log_user_data = context->runtime.config.log_user_data;
    options.log_level = context->runtime.config.log_level;
    portmm_status status = portmm_context_create(&options, &hybrid->front);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    hybrid->thread_process = pmm_process_number();
    hybrid->has_thread = pmm_thread_start(&hybrid->thread, "portmm-open", run_opening, context);
    if (hybrid->has_thread)
        return PORTMM_STATUS_SUCCESS;
    hybrid->thread_process = 0;
    portmm_context_destroy(hybrid->front);
    hybrid->front = NULL;
    return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no thread to open the device with");
}

void pmm_hybrid_stop(portmm_context *context) {
    pmm_hybrid *hybrid = &context->hybrid;
    if (!hybrid->has_thread || hybrid->thread_process != pmm_process_number())
        return;
    pmm_mutex_lock(&hybrid->mutex);
    hybrid->stopping = true;
    pmm_condition_signal(&hybrid->changed);
    pmm_mutex_unlock(&hybrid->mutex);
    pmm_thread_join(hybrid->thread);
    hybrid->has_thread = false;
    hybrid->thread_process = 0;
}

portmm_context *pmm_hybrid_choose(portmm_context *context, const pmm_gemm *gemm) {
    pmm_hybrid *hybrid = &context->hybrid;
    int type = (int)gemm->dtype;
    if (hybrid->front == NULL || atomic_load(&hybrid->ready[type]))
        return context;
    if (!pmm_gemm_is_empty(gemm) && gemm->k > 0) {
        pmm_mutex_lock(&hybrid->mutex);
        if (hybrid->asked[type].dtype == 0) {
            hybrid->asked[type] = pmm_gemm_form(gemm);
            hybrid->has_begun = true;
            pmm_condition_signal(&hybrid->changed);
        }
        pmm_mutex_unlock(&hybrid->mutex);
    }
    return hybrid->front;
}

void pmm_hybrid_finished(portmm_context *context) {
    pmm_hybrid *hybrid = &context->hybrid;
    pmm_mutex_lock(&hybrid->mutex);
    if (!hybrid->has_finished)
        pmm_condition_signal(&hybrid->changed);
    hybrid->has_finished = true;
    pmm_mutex_unlock(&hybrid->mutex);
}

static void await_opening(pmm_hybrid *hybrid) {
    pmm_mutex_lock(&hybrid->mutex);
    hybrid->is_awaited = true;
    pmm_condition_signal(&hybrid->changed);
    while (!hybrid->is_open)
        pmm_condition_wait(&hybrid->changed, &hybrid->mutex, WAIT_MS);
    pmm_mutex_unlock(&hybrid->mutex);
}

portmm_status pmm_context_await_device(const char *function, portmm_context *context) {
    portmm_status status = pmm_context_check_process(function, context);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (context->hybrid.front != NULL)
        await_opening(&context->hybrid);
    if (context->device == NULL)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "%s: the device could not be opened", function);
    return PORTMM_STATUS_SUCCESS;
}
