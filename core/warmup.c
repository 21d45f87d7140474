/* SPDX-License-Identifier: Apache-2.0 */
#include "warmup.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cache/flight.h"
#include "context.h"
#include "gemm_check.h"
#include "log.h"

#define HELPER_NAME "portmm-warm"
#define PATH_SIZE 4096

bool pmm_warmup_init(pmm_warmup *warmup) {
    return pmm_mutex_init(&warmup->mutex);
}

void pmm_warmup_fini(pmm_warmup *warmup) {
    if (warmup->has_thread && warmup->thread_process == pmm_process_number()) /* a fork's child has no such thread */
        pmm_thread_join(warmup->thread);
    warmup->has_thread = false;
    pmm_mutex_fini(&warmup->mutex);
}

/* ---- thread ---- */

static bool take_capture(pmm_warmup *warmup, pmm_capture *next) {
    pmm_mutex_lock(&warmup->mutex);
    warmup->runs = warmup->capture_count > 0;
    if (warmup->runs) {
        *next = warmup->captures[0];
        warmup->capture_count--;
        memmove(warmup->captures, warmup->captures + 1, warmup->capture_count * sizeof *next);
    }
    bool taken = warmup->runs;
    pmm_mutex_unlock(&warmup->mutex);
    return taken;
}

static void *run_captures(void *argument) {
    portmm_context *context = argument;
    pmm_capture next;
    pmm_timeline_background_thread();
    while (take_capture(&context->warmup, &next)) {
        pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_CACHE_LOOKUP, "capture, in a thread");
        next.slot->engine->capture(atomic_load(&next.slot->state));
        pmm_warmup_prove(context, next.slot->engine, &next.form);
        pmm_span_end();
    }
    return NULL;
}

static void capture_in_thread(portmm_context *context, pmm_engine_slot *slot, const pmm_gemm *form) {
    pmm_warmup *warmup = &context->warmup;
    pmm_mutex_lock(&warmup->mutex);
    if (warmup->capture_count < PMM_MAX_CAPTURES) /* else a later process will */
        warmup->captures[warmup->capture_count++] = (pmm_capture){slot, *form};
    if (!warmup->runs) {
        if (warmup->has_thread)
            pmm_thread_join(warmup->thread); /* it has ended */
        warmup->thread_process = pmm_process_number();
        warmup->has_thread = warmup->runs = pmm_thread_start(&warmup->thread, "portmm-capture", run_captures, context);
        if (!warmup->has_thread)
            pmm_log(&context->runtime.config, PORTMM_LOG_WARNING, "warm-up: no thread; the cache is not filled");
    }
    pmm_mutex_unlock(&warmup->mutex);
}

/* ---- helper process ---- */

/* Shrinks one size, and the leading dimension along it if it has one. */
typedef struct side {
    int64_t *size;
    int64_t *leading[2];
} side;

static double count_steps(const pmm_gemm *gemm) {
    return (double)gemm->m * (double)gemm->n * (double)gemm->k;
}

/* Zero stays zero, and the rest its remainder by 1024. */
static int64_t shrink_offset(int64_t offset) {
    return offset == 0 ? 0 : 1 + (offset - 1) % 1024;
}

void pmm_warmup_shrink(pmm_gemm *gemm) {
    gemm->a_offset = shrink_offset(gemm->a_offset);
    gemm->b_offset = shrink_offset(gemm->b_offset);
    gemm->c_offset = shrink_offset(gemm->c_offset);
    gemm->epilogue.bias_offset = shrink_offset(gemm->epilogue.bias_offset);
    const double limit = 2147483648.0;
    bool rows = gemm->layout == PORTMM_ROW_MAJOR;
    /* The leading dimension of a stored matrix follows the size of its inner side. */
    bool a_inner_k = rows == (gemm->transa == PORTMM_NO_TRANS), b_inner_n = rows == (gemm->transb == PORTMM_NO_TRANS);
    side sides[3] = {{&gemm->m, {a_inner_k ? NULL : &gemm->lda, rows ? NULL : &gemm->ldc}},
                     {&gemm->n, {b_inner_n ? &gemm->ldb : NULL, rows ? &gemm->ldc : NULL}},
                     {&gemm->k, {a_inner_k ? &gemm->lda : NULL, b_inner_n ? NULL : &gemm->ldb}}};
    while (count_steps(gemm) > limit) {
        side *largest = &sides[0];
        for (side *each = sides; each < sides + 3; each++)
            if (*each->size > *largest->size)
                largest = each;
        int64_t less = *largest->size / 2 / 1024 * 1024;
        if (less == 0)
            break;
        *largest->size -= less;
        for (int i = 0; i < 2; i++)
            if (largest->leading[i] != NULL)
                *largest->leading[i] -= less;
    }
}

/* The whole command line of the helper, NUL-separated in one buffer. */
typedef struct command {
    char text[4 * PATH_SIZE];
    size_t used;
    const char *arguments[40];
    size_t count;
} command;

static void add_argument(command *this, const char *format, ...) PMM_PRINTF(2, 3);
static void add_argument(command *this, const char *format, ...) {
    char *at = this->text + this->used;
    size_t room = sizeof this->text - this->used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(at, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room || this->count + 1 >= sizeof this->arguments / sizeof *this->arguments)
        return; /* the helper will refuse an incomplete line */
    this->used += (size_t)length + 1;
    this->arguments[this->count++] = at;
    this->arguments[this->count] = NULL;
}

static void build_command(command *this, const portmm_context *context, const pmm_engine *engine,
                          const pmm_gemm *gemm) {
    this->used = this->count = 0;
    add_argument(this, "%s/" HELPER_NAME, context->opened->module->directory);
    add_argument(this, "--backend=%s:%d", context->backend->name, (int)context->info.index);
    if (engine != NULL)
        add_argument(this, "--engine=%s", engine->name);
    add_argument(this, "--module-path=%s", context->opened->module->directory);
    add_argument(this, "--cache-dir=%s", context->runtime.config.cache_dir);
    add_argument(this, "--dtype=%d", (int)gemm->dtype);
    add_argument(this, "--layout=%d", (int)gemm->layout);
    add_argument(this, "--transa=%d", (int)gemm->transa);
    add_argument(this, "--transb=%d", (int)gemm->transb);
    add_argument(this, "--m=%" PRId64, gemm->m);
    add_argument(this, "--n=%" PRId64, gemm->n);
    add_argument(this, "--k=%" PRId64, gemm->k);
    add_argument(this, "--lda=%" PRId64, gemm->lda);
    add_argument(this, "--ldb=%" PRId64, gemm->ldb);
    add_argument(this, "--ldc=%" PRId64, gemm->ldc);
    add_argument(this, "--a-offset=%" PRId64, gemm->a_offset);
    add_argument(this, "--b-offset=%" PRId64, gemm->b_offset);
    add_argument(this, "--c-offset=%" PRId64, gemm->c_offset);
    add_argument(this, "--batch-count=%" PRId64, gemm->batch_count);
    add_argument(this, "--a-stride=%" PRId64, gemm->a_stride);
    add_argument(this, "--b-stride=%" PRId64, gemm->b_stride);
    add_argument(this, "--c-stride=%" PRId64, gemm->c_stride);
    add_argument(this, "--activation=%d", (int)gemm->epilogue.activation);
    add_argument(this, "--bias-kind=%d", (int)gemm->epilogue.bias_kind);
}

/* One helper for each device, engine and type at a time: the lock is taken here and handed to the helper. */
static bool lock_for_helper(portmm_context *context, const pmm_engine *engine, const pmm_gemm *gemm, int *file) {
    unsigned char dtype = (unsigned char)gemm->dtype;
    const char *texts[] = {context->backend->name, context->info.name, context->info.driver_version,
                           engine != NULL ? engine->name : ""};
    pmm_key_field fields[5] = {{"dtype", &dtype, 1}};
    for (size_t i = 0; i < 4; i++)
        fields[i + 1] = (pmm_key_field){"text", texts[i], strlen(texts[i])};
    return pmm_cache_lock(&context->runtime.cache, &(pmm_cache_key){"helper", fields, 5}, file);
}

pmm_helper_result pmm_warmup_start_helper(portmm_context *context, const pmm_engine *engine, const pmm_gemm *form,
                                          const char **why) {
    command line;
    pmm_gemm small = *form;
    pmm_warmup_shrink(&small);
    build_command(&line, context, engine, &small);
    if (!pmm_program_exists(line.arguments[0])) {
        *why = HELPER_NAME " is not beside the backend modules";
        return PMM_HELPER_IMPOSSIBLE;
    }
    int held;
    if (!lock_for_helper(context, engine, form, &held))
        return PMM_HELPER_BUSY;
    bool started = pmm_spawn_detached(line.arguments[0], line.arguments, held, why);
    pmm_file_unlock(held);
    if (!started)
        return PMM_HELPER_IMPOSSIBLE;
    atomic_fetch_add(&context->runtime.cache.helpers, 1);
    pmm_log(&context->runtime.config, PORTMM_LOG_INFO, "warm-up: a helper process fills the cache");
    return PMM_HELPER_STARTED;
}

static bool try_binaries(portmm_context *context, const pmm_engine *engine, const pmm_gemm *form) {
    const pmm_config *config = &context->runtime.config;
    command line;
    pmm_gemm small = *form;
    bool failed = true;
    const char *why = HELPER_NAME " is not beside the backend modules";
    if (atomic_exchange(&context->runtime.cache.on_trial, 0) == 0)
        return true;
    pmm_warmup_shrink(&small);
    build_command(&line, context, engine, &small);
    add_argument(&line, "--prove");
    if (pmm_flight_is_awaited(&context->runtime.cache))
        add_argument(&line, "--awaited");
    if (!pmm_program_exists(line.arguments[0]) || !pmm_spawn_and_wait(line.arguments[0], line.arguments, &failed, &why))
        pmm_log(config, PORTMM_LOG_WARNING, "warm-up: no process to try binaries in (%s); none is kept", why);
    else if (failed)
        pmm_log(config, PORTMM_LOG_WARNING,
                "warm-up: a process that tried the driver's binaries failed; the one at fault is not kept");
    return !failed;
}

bool pmm_warmup_prove(portmm_context *context, const pmm_engine *engine, const pmm_gemm *form) {
    bool proven = try_binaries(context, engine, form);
    pmm_flight_land(&context->runtime.cache);
    return proven;
}

/* Whether there is something to take: because of this product, or of one that had to wait. */
static bool take_turn(pmm_warmup *warmup, bool wanted, const pmm_gemm *gemm, pmm_gemm *form) {
    pmm_mutex_lock(&warmup->mutex);
    if (wanted) {
        *form = pmm_gemm_form(gemm);
    } else if (warmup->postponed && pmm_clock_ns() >= warmup->ask_again_ns) {
        *form = warmup->postponed_form;
        wanted = true;
    }
    if (wanted)
        warmup->postponed = false;
    pmm_mutex_unlock(&warmup->mutex);
    return wanted;
}

static void postpone(pmm_warmup *warmup, const pmm_gemm *form) {
    const uint64_t pause_ns = 1000000000u;
    pmm_mutex_lock(&warmup->mutex);
    warmup->postponed = true;
    warmup->postponed_form = *form;
    warmup->ask_again_ns = pmm_clock_ns() + pause_ns;
    pmm_mutex_unlock(&warmup->mutex);
}

static bool has_running_thread(pmm_warmup *warmup) {
    pmm_mutex_lock(&warmup->mutex);
    bool runs = warmup->runs;
    pmm_mutex_unlock(&warmup->mutex);
    return runs;
}

/* Where other processes wait for this one's programs, it takes them itself, at once: they would have to wait for the
 * helper to compile them again. */
static void start(portmm_context *context, pmm_engine_slot *slot, const pmm_gemm *form) {
    const pmm_config *config = &context->runtime.config;
    const char *why = "";
    pmm_helper_result result = PMM_HELPER_IMPOSSIBLE;
    bool wants_helper = config->warmup == PORTMM_WARMUP_HELPER && !pmm_flight_is_awaited(&context->runtime.cache);
    if (wants_helper) {
        pmm_flight_land(&context->runtime.cache);
        result = pmm_warmup_start_helper(context, slot->engine, form, &why);
    }
    if (result == PMM_HELPER_BUSY)
        postpone(&context->warmup, form);
    if (wants_helper && result == PMM_HELPER_IMPOSSIBLE)
        pmm_log(config, PORTMM_LOG_WARNING, "warm-up: no helper process (%s); a thread fills the cache", why);
    if (result == PMM_HELPER_IMPOSSIBLE)
        capture_in_thread(context, slot, form);
}

void pmm_warmup_after_product(portmm_context *context, pmm_engine_slot *slot, const pmm_gemm *gemm) {
    pmm_runtime *runtime = &context->runtime;
    pmm_engine_state *state = atomic_load(&slot->state);
    pmm_gemm form;
    if (state == NULL || runtime->config.warmup == PORTMM_WARMUP_OFF || !pmm_cache_can_write(&runtime->cache))
        return;
    if (take_turn(&context->warmup, slot->engine->capture_wanted(state), gemm, &form)) {
        pmm_span_begin(&runtime->timeline, PORTMM_PHASE_CACHE_LOOKUP, "start the warm-up");
        start(context, slot, &form);
        pmm_span_end();
    } else if (!has_running_thread(&context->warmup)) {
        pmm_flight_land(&runtime->cache); /* there is nothing to take, or a helper takes it */
    }
}
