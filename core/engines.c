/* SPDX-License-Identifier: Apache-2.0 */
#include "engines.h"

#include <stdio.h>
#include <string.h>

#include "cache/flight.h"
#include "context.h"
#include "gemm_check.h"
#include "log.h"
#include "scratch.h"
#include "status.h"

#define POLL_MS 100
#define GIVE_UP_NS ((uint64_t)200 * 1000000000u) /* a little longer than a helper may live */

bool pmm_engines_init(pmm_engines *engines) {
    return pmm_mutex_init(&engines->open_mutex) && pmm_mutex_init(&engines->mutex) &&
           pmm_condition_init(&engines->changed);
}

void pmm_engines_fini(pmm_engines *engines) {
    if (!engines->has_thread) /* in the child of a fork it seems to wait for ever; so would we */
        pmm_condition_fini(&engines->changed);
    pmm_mutex_fini(&engines->mutex);
    pmm_mutex_fini(&engines->open_mutex);
}

portmm_status pmm_engines_take(portmm_context *context) {
    const pmm_backend *backend = context->backend;
    const pmm_config *config = &context->runtime.config;
    pmm_engines *engines = &context->engines;
    char known[128] = "";
    size_t used = 0;
    engines->count = 0;
    for (const pmm_engine *const *each = backend->engines; *each != NULL && engines->count < PMM_MAX_ENGINES; each++) {
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", (*each)->name);
        if (config->engine != NULL && strcmp((*each)->name, config->engine) != 0)
            continue;
        engines->slots[engines->count++].engine = *each;
    }
    engines->in_order = config->start == PORTMM_START_TUNED;
    if (engines->count > 0) {
        const char *none = NULL; /* hybrid: the CPU may have served already */
        atomic_compare_exchange_strong(&engines->served, &none, pmm_engines_get_starter(context)->engine->name);
        return PORTMM_STATUS_SUCCESS;
    }
    if (config->engine == NULL)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "backend %s has no engine", backend->name);
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "engine \"%.60s\" is not one of backend %s; it has: %s",
                    config->engine, backend->name, known);
}

void pmm_engines_close(portmm_context *context) {
    for (size_t i = 0; i < context->engines.count; i++) {
        pmm_engine_slot *slot = &context->engines.slots[i];
        pmm_engine_state *state = atomic_load(&slot->state);
        if (state != NULL)
            slot->engine->close(state);
        atomic_store(&slot->state, NULL);
    }
    context->engines.count = 0;
}

portmm_status pmm_engines_open(portmm_context *context, pmm_engine_slot *slot, pmm_engine_state **state) {
    pmm_engine_state *found = atomic_load(&slot->state);
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (found == NULL) {
        pmm_mutex_lock(&context->engines.open_mutex);
        found = atomic_load(&slot->state);
        if (found == NULL) {
            pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_ENGINE_INIT, slot->engine->name);
            status = slot->engine->open(context->device, &found);
            pmm_span_end();
            if (status == PORTMM_STATUS_SUCCESS)
                atomic_store(&slot->state, found);
        }
        pmm_mutex_unlock(&context->engines.open_mutex);
    }
    if (status == PORTMM_STATUS_SUCCESS)
        *state = found;
    return status;
}

pmm_engine_slot *pmm_engines_get_starter(portmm_context *context) {
    pmm_engines *engines = &context->engines;
    return &engines->slots[engines->in_order ? 0 : engines->count - 1];
}

pmm_engine_slot *pmm_engines_find_only(portmm_context *context, const pmm_gemm *gemm) {
    pmm_engines *engines = &context->engines;
    pmm_engine_slot *found = NULL;
    size_t able = 0;
    if (engines->count == 1)
        return &engines->slots[0];
    for (size_t i = 0; i < engines->count && (able == 0 || !engines->in_order); i++)
        if (pmm_gemm_is_for_engine(engines->slots[i].engine, gemm) && ++able == 1)
            found = &engines->slots[i];
    return able == 1 ? found : NULL;
}

portmm_status pmm_engines_check(const char *function, const portmm_context *context, const pmm_gemm *gemm) {
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (size_t i = 0; i < context->engines.count; i++) {
        status = pmm_gemm_check_engine(function, context->engines.slots[i].engine, gemm);
        if (status == PORTMM_STATUS_SUCCESS)
            break;
    }
    return status;
}

/* ---- classes; with the mutex held ---- */

static size_t find_slot(const pmm_engines *engines, const char *name) {
    size_t position = 0;
    while (position < engines->count && strcmp(engines->slots[position].engine->name, name) != 0)
        position++;
    return position;
}

static void note_switch(portmm_context *context, const char *from, const char *to, const char *why,
                        const pmm_gemm *form) {
    pmm_engines *engines = &context->engines;
    pmm_log(&context->runtime.config, PORTMM_LOG_INFO, "engine: %s takes over from %s: %s", to, from, why);
    if (engines->switch_count == PMM_MAX_SWITCHES)
        return;
    engines->switches[engines->switch_count++] = (portmm_switch){.at_ns = pmm_clock_ns(),
                                                                 .from = from,
                                                                 .to = to,
                                                                 .why = why,
                                                                 .dtype = form->dtype,
                                                                 .m = form->m,
                                                                 .n = form->n,
                                                                 .k = form->k};
}

void pmm_engines_note_switch(portmm_context *context, const char *from, const char *to, const char *why,
                             const pmm_gemm *form) {
    pmm_mutex_lock(&context->engines.mutex);
    note_switch(context, from, to, why, form);
    pmm_mutex_unlock(&context->engines.mutex);
}

static void hand_over(portmm_context *context, pmm_class_entry *entry, size_t to, const char *why) {
    const pmm_engine_slot *slots = context->engines.slots;
    if (entry->serves != to)
        note_switch(context, slots[entry->serves].engine->name, slots[to].engine->name, why, &entry->form);
    else
        pmm_log(&context->runtime.config, PORTMM_LOG_INFO, "engine: %s goes on, settled", slots[to].engine->name);
    entry->serves = to;
    entry->stage = PMM_STAGE_SETTLED;
}

/* A choice, from the cache or just made. The engine that serves now goes on until another is loaded, even if it was
 * refused and there is no other. */
static void apply_choice(portmm_context *context, pmm_class_entry *entry, const pmm_choice *choice) {
    size_t chosen = find_slot(&context->engines, choice->serves);
    if (choice->refused[0] != '\0')
        pmm_log(&context->runtime.config, PORTMM_LOG_WARNING, "engine %s gave a wrong result on %s and is set aside",
                choice->refused, context->info.name);
    if (chosen == context->engines.count || chosen == entry->serves) {
        entry->stage = PMM_STAGE_SETTLED;
        pmm_log(&context->runtime.config, PORTMM_LOG_INFO, "engine: %s goes on, settled",
                context->engines.slots[entry->serves].engine->name);
        return;
    }
    entry->target = chosen;
    entry->stage = PMM_STAGE_LOADING;
}

static pmm_class_entry *find_class(pmm_engines *engines, const pmm_class *of) {
    for (size_t i = 0; i < engines->class_count; i++)
        if (memcmp(&engines->classes[i].of, of, sizeof *of) == 0)
            return &engines->classes[i];
    return NULL;
}

/* Whether a helper process settles classes, and not the background thread. */
static bool has_helper(const portmm_context *context) {
    const pmm_engines *engines = &context->engines;
    uint32_t shared = PMM_ENGINE_QUIET;
    for (size_t i = 0; i < engines->count; i++)
        shared &= engines->slots[i].engine->features;
    return context->runtime.config.warmup == PORTMM_WARMUP_HELPER && shared == 0;
}

/* A class beyond the last one shares the last one's fate: the starter serves. */
static pmm_class_entry *add_class(portmm_context *context, const pmm_class *of, const pmm_gemm *gemm) {
    pmm_engines *engines = &context->engines;
    if (engines->class_count == PMM_MAX_CLASSES)
        return &engines->classes[PMM_MAX_CLASSES - 1];
    pmm_class_entry *entry = &engines->classes[engines->class_count++];
    *entry = (pmm_class_entry){
        .of = *of, .form = pmm_gemm_form(gemm), .serves = engines->count - 1, .since_ns = pmm_clock_ns()};
    pmm_warmup_shrink(&entry->form);
    pmm_choice choice;
    if (pmm_choice_read(context, of, &choice)) {
        /* A starter known to be wrong must not serve even once. */
        if (strcmp(choice.refused, engines->slots[entry->serves].engine->name) == 0)
            hand_over(context, entry, 0, "the starter was refused here");
        apply_choice(context, entry, &choice);
    } else if (context->runtime.config.warmup == PORTMM_WARMUP_OFF ||
               (has_helper(context) && !pmm_cache_can_write(&context->runtime.cache))) {
        entry->stage = PMM_STAGE_SETTLED; /* nobody will find out */
    }
    return entry;
}

static size_t choose_slot(portmm_context *context, const pmm_gemm *gemm) {
    pmm_engines *engines = &context->engines;
    const pmm_engine_slot *only = pmm_engines_find_only(context, gemm);
    if (only != NULL)
        return (size_t)(only - engines->slots);
    const pmm_class of = pmm_class_of(gemm);
    pmm_mutex_lock(&engines->mutex);
    pmm_class_entry *entry = find_class(engines, &of);
    if (entry == NULL) {
        pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_CACHE_LOOKUP, "engine choice");
        entry = add_class(context, &of, gemm);
        pmm_span_end();
    }
    size_t position = entry->serves;
    pmm_mutex_unlock(&engines->mutex);
    return position;
}

void pmm_engines_apply(portmm_context *context, const pmm_gemm *form, const pmm_choice *choice) {
    pmm_engines *engines = &context->engines;
    const pmm_class of = pmm_class_of(form);
    pmm_mutex_lock(&engines->mutex);
    pmm_class_entry *entry = find_class(engines, &of);
    if (entry == NULL)
        entry = add_class(context, &of, form);
    size_t chosen = find_slot(engines, choice->serves);
    if (chosen < engines->count)
        hand_over(context, entry, chosen, "measured faster here"); /* it has run in this process */
    pmm_mutex_unlock(&engines->mutex);
}

/* ---- the background thread ---- */

static pmm_class_entry *find_stage(pmm_engines *engines, pmm_stage stage) {
    for (size_t i = 0; i < engines->class_count; i++)
        if (engines->classes[i].stage == stage)
            return &engines->classes[i];
    return NULL;
}

/* Without the mutex while the engine loads; entries do not move. */
static void load_class(portmm_context *context, pmm_class_entry *entry) {
    pmm_engines *engines = &context->engines;
    size_t target = entry->target;
    pmm_gemm form = entry->form;
    pmm_mutex_unlock(&engines->mutex);
    portmm_status status = pmm_scratch_run(context, &engines->slots[target], &form);
    if (status != PORTMM_STATUS_SUCCESS)
        pmm_log(&context->runtime.config, PORTMM_LOG_WARNING, "engine %s cannot be prepared: %s",
                engines->slots[target].engine->name, portmm_last_error());
    pmm_mutex_lock(&engines->mutex);
    if (status == PORTMM_STATUS_SUCCESS)
        hand_over(context, entry, target, "measured faster for this class, and loaded");
    entry->stage = PMM_STAGE_SETTLED;
}

static void settle_here(portmm_context *context, pmm_class_entry *entry) {
    pmm_gemm form = entry->form;
    pmm_choice choice;
    pmm_mutex_unlock(&context->engines.mutex);
    portmm_status status = pmm_scratch_settle(context, &form, &choice);
    if (status == PORTMM_STATUS_SUCCESS)
        pmm_engines_apply(context, &form, &choice);
    pmm_mutex_lock(&context->engines.mutex);
    entry->stage = PMM_STAGE_SETTLED;
}

/* Starts the helper for a class, once no other one is at work for this device. False: it must be done here. */
static bool request_helper(portmm_context *context, pmm_class_entry *entry) {
    const char *why = "";
    pmm_helper_result result = pmm_warmup_start_helper(context, NULL, &entry->form, &why);
    entry->requested = entry->requested || result == PMM_HELPER_STARTED;
    if (result == PMM_HELPER_IMPOSSIBLE)
        pmm_log(&context->runtime.config, PORTMM_LOG_WARNING, "warm-up: no helper process (%s); a thread does it", why);
    return result != PMM_HELPER_IMPOSSIBLE;
}

static void look_after_awaited(portmm_context *context) {
    pmm_engines *engines = &context->engines;
    for (size_t i = 0; i < engines->class_count; i++) {
        pmm_class_entry *entry = &engines->classes[i];
        pmm_choice choice;
        if (entry->stage != PMM_STAGE_AWAITED)
            continue;
        if (!has_helper(context))
            settle_here(context, entry);
        else if (pmm_choice_read(context, &entry->of, &choice))
            apply_choice(context, entry, &choice);
        else if (!entry->requested && !request_helper(context, entry))
            settle_here(context, entry);
        else if (pmm_clock_ns() - entry->since_ns > GIVE_UP_NS)
            entry->stage = PMM_STAGE_SETTLED;
    }
}

static void *run_background(void *argument) {
    portmm_context *context = argument;
    pmm_engines *engines = &context->engines;
    pmm_timeline_background_thread();
    pmm_mutex_lock(&engines->mutex);
    while (!engines->stopping) {
        pmm_class_entry *loading = find_stage(engines, PMM_STAGE_LOADING);
        if (loading != NULL) {
            load_class(context, loading);
            continue;
        }
        bool awaits = find_stage(engines, PMM_STAGE_AWAITED) != NULL;
        pmm_condition_wait(&engines->changed, &engines->mutex, awaits ? POLL_MS : 3600000);
        if (!engines->stopping)
            look_after_awaited(context);
    }
    pmm_mutex_unlock(&engines->mutex);
    return NULL;
}

/* After a product that was served before its class was settled: asks for the helper at once, since the process may be a
 * short one, and lets the thread see to the rest. */
static void start_background(portmm_context *context, const pmm_engine_slot *slot, const pmm_gemm *gemm) {
    pmm_engines *engines = &context->engines;
    const pmm_class of = pmm_class_of(gemm);
    pmm_mutex_lock(&engines->mutex);
    pmm_class_entry *entry = find_class(engines, &of);
    bool works = entry != NULL && entry->stage != PMM_STAGE_SETTLED;
    bool is_urgent = pmm_flight_is_awaited(&context->runtime.cache); /* then this process takes its binaries itself */
    if (works && !is_urgent)
        slot->engine->capture_wanted(atomic_load(&slot->state)); /* whoever settles the class takes the binaries, too */
    if (works && entry->stage == PMM_STAGE_AWAITED && !entry->tried && !is_urgent && has_helper(context)) {
        pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_CACHE_LOOKUP, "start the helper");
        const char *why;
        entry->tried = true;
        entry->requested = pmm_warmup_start_helper(context, NULL, &entry->form, &why) == PMM_HELPER_STARTED;
        pmm_span_end();
    }
    if (works && !engines->has_thread && !engines->stopping) {
        engines->thread_process = pmm_process_number();
        engines->has_thread = pmm_thread_start(&engines->thread, "portmm-warm-up", run_background, context);
    } else if (works) {
        pmm_condition_signal(&engines->changed);
    }
    pmm_mutex_unlock(&engines->mutex);
}

void pmm_engines_begin(portmm_context *context, const pmm_gemm *form) {
    if (pmm_engines_find_only(context, form) == NULL)
        start_background(context, &context->engines.slots[choose_slot(context, form)], form);
}

void pmm_engines_stop(portmm_context *context) {
    pmm_engines *engines = &context->engines;
    if (!engines->has_thread || engines->thread_process != pmm_process_number())
        return; /* the child of a fork has no such thread */
    pmm_mutex_lock(&engines->mutex);
    engines->stopping = true;
    pmm_condition_signal(&engines->changed);
    pmm_mutex_unlock(&engines->mutex);
    pmm_thread_join(engines->thread);
    engines->has_thread = false;
}

/* ---- products ---- */

portmm_status pmm_engine_run(const pmm_engine *engine, pmm_engine_state *state, pmm_queue *queue, const pmm_gemm *gemm,
                             size_t wait_count, pmm_event *const *wait_list, pmm_event **event) {
    int64_t count = gemm->batch_count;
    if (count == 1 || (engine->features & PMM_ENGINE_BATCHES) != 0)
        return engine->gemm(state, queue, gemm, wait_count, wait_list, event);
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (int64_t i = 0; i < count && status == PORTMM_STATUS_SUCCESS; i++) { /* the queue is in order */
        const pmm_gemm single = pmm_gemm_single(gemm, i);
        status = engine->gemm(state, queue, &single, i == 0 ? wait_count : 0, wait_list, i == count - 1 ? event : NULL);
    }
    return status;
}

static portmm_status run_slot(portmm_context *context, pmm_engine_slot *slot, pmm_queue *queue, const char *function,
                              const pmm_gemm *gemm, size_t wait_count, pmm_event *const *wait_list, pmm_event **event) {
    pmm_engine_state *state;
    portmm_status status = pmm_gemm_check_engine(function, slot->engine, gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_engines_open(context, slot, &state);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_engine_run(slot->engine, state, queue, gemm, wait_count, wait_list, event);
    if (status == PORTMM_STATUS_SUCCESS)
        atomic_store(&context->engines.served, slot->engine->name);
    return status;
}

portmm_status pmm_engines_gemm(portmm_context *context, pmm_queue *queue, const char *function, const pmm_gemm *gemm,
                               size_t wait_count, pmm_event *const *wait_list, pmm_event **event) {
    pmm_engines *engines = &context->engines;
    size_t first = choose_slot(context, gemm);
    pmm_span_begin(&context->runtime.timeline, pmm_context_product_phase(context), function);
    portmm_status status =
        run_slot(context, &engines->slots[first], queue, function, gemm, wait_count, wait_list, event);
    for (size_t i = 0; i < engines->count && status != PORTMM_STATUS_SUCCESS; i++) {
        if (i == first || status == PORTMM_STATUS_DEVICE_LOST || engines->in_order ||
            !pmm_gemm_is_for_engine(engines->slots[i].engine, gemm))
            continue;
        pmm_log(&context->runtime.config, PORTMM_LOG_WARNING, "engine %s failed: %s; trying %s",
                engines->slots[first].engine->name, portmm_last_error(), engines->slots[i].engine->name);
        status = run_slot(context, &engines->slots[i], queue, function, gemm, wait_count, wait_list, event);
    }
    pmm_span_end();
    if (status != PORTMM_STATUS_SUCCESS) {
        pmm_flight_land(&context->runtime.cache);
        return status;
    }
    pmm_clear_error(); /* of an engine that was passed over */
    if (pmm_engines_find_only(context, gemm) == NULL)
        start_background(context, &engines->slots[first], gemm);
    pmm_warmup_after_product(context, &engines->slots[first], gemm);
    return PORTMM_STATUS_SUCCESS;
}

portmm_status portmm_switches_read(portmm_context *context, size_t capacity, portmm_switch *switches, size_t *count) {
    pmm_clear_error();
    if (context == NULL || count == NULL || (switches == NULL && capacity > 0))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_switches_read: context, switches or count is NULL");
    pmm_engines *engines = &context->engines;
    pmm_mutex_lock(&engines->mutex);
    size_t copied = capacity < engines->switch_count ? capacity : engines->switch_count;
    if (copied > 0)
        memcpy(switches, engines->switches, copied * sizeof *switches);
    *count = engines->switch_count;
    pmm_mutex_unlock(&engines->mutex);
    return PORTMM_STATUS_SUCCESS;
}
