/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/trial.h"
#include "gemm.h"
#include "gemm_check.h"
#include "log.h"
#include "status.h"

enum { TIMED_RUNS = 3, CHECKED_ROWS = 12 };

typedef struct scratch {
    portmm_context *context;
    pmm_queue *queue;
    pmm_gemm gemm;                      /* with its buffers */
    pmm_operand operands[PMM_OPERANDS]; /* of it */
    size_t bytes[PMM_OPERANDS];
    void *host[PMM_OPERANDS]; /* only where results are checked */
} scratch;

static void close_scratch(scratch *this) {
    const pmm_backend *backend = this->context->backend;
    for (int i = PMM_A; i < PMM_OPERANDS; i++) {
        free(this->host[i]);
        if (this->operands[i].buffer != NULL)
            backend->buffer_destroy(this->operands[i].buffer);
    }
    if (this->queue != NULL)
        backend->queue_destroy(this->queue);
}

static portmm_status open_scratch(scratch *this, portmm_context *context, const pmm_gemm *form) {
    *this = (scratch){.context = context, .gemm = pmm_gemm_form(form)};
    this->gemm.alpha = 1;
    this->gemm.alpha_im = this->gemm.beta = this->gemm.beta_im = 0;
    pmm_gemm_get_operands(&this->gemm, this->operands);
    portmm_status status = context->backend->queue_create(context->device, &this->queue);
    for (int i = PMM_A; i < PMM_OPERANDS && status == PORTMM_STATUS_SUCCESS; i++) {
        pmm_operand *operand = &this->operands[i];
        int64_t count;
        if (!pmm_gemm_uses(&this->gemm, i))
            continue;
        if (!pmm_operand_extent(operand, form->batch_count, &count) || count > INT64_MAX - operand->offset ||
            !pmm_element_bytes(operand->offset + count, form->dtype, &this->bytes[i]))
            return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "a scratch matrix is larger than memory");
        status = pmm_zeros_create(context, this->queue, this->bytes[i], &operand->buffer);
    }
    pmm_gemm_set_operands(&this->gemm, this->operands);
    return status;
}

static portmm_status run_once(scratch *this, pmm_engine_slot *slot) {
    portmm_context *context = this->context;
    pmm_engine_state *state;
    portmm_status status = pmm_gemm_check_engine("portmm_prewarm", slot->engine, &this->gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_engines_open(context, slot, &state);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_span_begin(&context->runtime.timeline, pmm_context_product_phase(context), "scratch product");
    status = pmm_engine_run(slot->engine, state, this->queue, &this->gemm, 0, NULL, NULL);
    if (status == PORTMM_STATUS_SUCCESS)
        status = context->backend->queue_finish(this->queue);
    pmm_span_end();
    return status;
}

portmm_status pmm_scratch_run(portmm_context *context, pmm_engine_slot *slot, const pmm_gemm *form) {
    scratch this;
    portmm_status status = open_scratch(&this, context, form);
    if (status == PORTMM_STATUS_SUCCESS)
        status = run_once(&this, slot);
    close_scratch(&this);
    return status;
}

/* ---- known answers ---- */

static portmm_status copy_matrix(const scratch *this, int matrix, bool to_device) {
    const pmm_backend *backend = this->context->backend;
    pmm_buffer *buffer = this->operands[matrix].buffer;
    size_t size = this->bytes[matrix];
    const pmm_copy copy = {.pitch = size, .host_pitch = size, .width = size, .height = 1};
    return to_device ? backend->buffer_write(this->queue, buffer, &copy, this->host[matrix])
                     : backend->buffer_read(this->queue, buffer, &copy, this->host[matrix]);
}

/* Real numbers in an element. */
static int count_parts(const scratch *this) {
    return pmm_dtype_is_complex(this->gemm.dtype) ? 2 : 1;
}

/* Whole numbers so small that every sum is exact in every order; f16 and bf16 round it once, at the end. */
static portmm_status fill_matrices(scratch *this) {
    portmm_dtype dtype = this->gemm.dtype;
    size_t part = pmm_dtype_size(dtype) / (size_t)count_parts(this);
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (int i = 0; i < PMM_MATRICES; i++) {
        this->host[i] = malloc(this->bytes[i]);
        if (this->host[i] == NULL)
            return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory to check an engine");
    }
    uint32_t state = 1;
    for (int i = PMM_A; i <= PMM_B; i++)
        for (size_t e = 0; e < this->bytes[i] / part; e++) {
            state = state * 1664525u + 1013904223u;
            pmm_dtype_put(dtype, this->host[i], (int64_t)e, (double)(int)(state >> 30) - 1);
        }
    for (int i = PMM_A; i <= PMM_B && status == PORTMM_STATUS_SUCCESS; i++)
        status = copy_matrix(this, i, true);
    return status;
}

static portmm_status poison_result(scratch *this) {
    memset(this->host[PMM_C], 0xff, this->bytes[PMM_C]); /* NaN in every element */
    return copy_matrix(this, PMM_C, true);
}

typedef struct number {
    double re, im;
} number;

/* Element (row, column) of op(X), of one product of the batch. */
static number get_element(const scratch *this, int matrix, portmm_transpose transpose, int64_t product, int64_t row,
                          int64_t column) {
    const pmm_operand *operand = &this->operands[matrix];
    portmm_dtype dtype = this->gemm.dtype;
    bool row_strided = (this->gemm.layout == PORTMM_ROW_MAJOR) == (transpose == PORTMM_NO_TRANS);
    int64_t at = operand->offset + pmm_operand_at(operand, product) +
                 (row_strided ? row * operand->leading + column : column * operand->leading + row);
    if (count_parts(this) == 1)
        return (number){pmm_dtype_get(dtype, this->host[matrix], at), 0};
    double im = pmm_dtype_get(dtype, this->host[matrix], 2 * at + 1);
    return (number){pmm_dtype_get(dtype, this->host[matrix], 2 * at), transpose == PORTMM_CONJ_TRANS ? -im : im};
}

static number round_number(portmm_dtype dtype, number exact) {
    double stored; /* room for one of any type */
    pmm_dtype_put(dtype, &stored, 0, exact.re);
    double re = pmm_dtype_get(dtype, &stored, 0);
    pmm_dtype_put(dtype, &stored, 0, exact.im);
    return (number){re, pmm_dtype_get(dtype, &stored, 0)};
}

static bool is_row_right(const scratch *this, int64_t product, int64_t row) {
    const pmm_gemm *gemm = &this->gemm;
    for (int64_t column = 0; column < gemm->n; column++) {
        number sum = {0, 0};
        for (int64_t p = 0; p < gemm->k; p++) {
            number a = get_element(this, PMM_A, gemm->transa, product, row, p);
            number b = get_element(this, PMM_B, gemm->transb, product, p, column);
            sum.re += a.re * b.re - a.im * b.im;
            sum.im += a.re * b.im + a.im * b.re;
        }
        sum = round_number(gemm->dtype, sum);
        number got = get_element(this, PMM_C, PORTMM_NO_TRANS, product, row, column);
        if (got.re != sum.re || got.im != sum.im) /* a NaN, too */
            return false;
    }
    return true;
}

/* Of the first product of a batch and the last. */
static bool is_result_right(const scratch *this) {
    int64_t m = this->gemm.m, step = m / CHECKED_ROWS > 0 ? m / CHECKED_ROWS : 1;
    bool right = is_row_right(this, this->gemm.batch_count - 1, m - 1);
    for (int64_t row = 0; row < m && right; row += step)
        right = is_row_right(this, 0, row);
    return right;
}

/* ---- settle ---- */

typedef struct verdict {
    portmm_status status; /* of its run */
    bool right;
    uint64_t best_ns;
} verdict;

static verdict judge(scratch *this, pmm_engine_slot *slot) {
    verdict result = {.best_ns = UINT64_MAX};
    portmm_activation activation = this->gemm.epilogue.activation;
    this->gemm.epilogue.activation = PORTMM_ACTIVATION_NONE; /* its result is not a whole number */
    result.status = poison_result(this);
    if (result.status == PORTMM_STATUS_SUCCESS)
        result.status = run_once(this, slot);
    if (result.status == PORTMM_STATUS_SUCCESS)
        result.status = copy_matrix(this, PMM_C, false);
    this->gemm.epilogue.activation = activation;
    result.right = result.status == PORTMM_STATUS_SUCCESS && is_result_right(this);
    return result;
}

/* In turns, so that what else the machine does hits all of them. */
static void time_engines(scratch *this, pmm_engines *engines, verdict *verdicts) {
    for (int run = 0; run < TIMED_RUNS; run++)
        for (size_t i = 0; i < engines->count; i++) {
            uint64_t begin = pmm_clock_ns();
            if (verdicts[i].right && run_once(this, &engines->slots[i]) == PORTMM_STATUS_SUCCESS) {
                uint64_t taken = pmm_clock_ns() - begin;
                verdicts[i].best_ns = taken < verdicts[i].best_ns ? taken : verdicts[i].best_ns;
            }
        }
}

static portmm_status conclude(portmm_context *context, const verdict *verdicts, pmm_choice *choice) {
    const pmm_engines *engines = &context->engines;
    const verdict *best = NULL;
    memset(choice, 0, sizeof *choice); /* it is stored as bytes */
    for (size_t i = 0; i < engines->count; i++) {
        const char *name = engines->slots[i].engine->name;
        if (verdicts[i].right && (best == NULL || verdicts[i].best_ns < best->best_ns)) {
            best = &verdicts[i];
            snprintf(choice->serves, sizeof choice->serves, "%s", name);
        }
        if (verdicts[i].status == PORTMM_STATUS_SUCCESS && !verdicts[i].right) {
            snprintf(choice->refused, sizeof choice->refused, "%s", name);
            pmm_log(&context->runtime.config, PORTMM_LOG_WARNING,
                    "engine %s gives wrong results on %s and is set aside", name, context->info.name);
        }
        pmm_log(&context->runtime.config, PORTMM_LOG_INFO, "engine %s: %s, best of %d: %.3f ms", name,
                verdicts[i].right ? "right" : "not usable", TIMED_RUNS,
                verdicts[i].right ? (double)verdicts[i].best_ns / 1e6 : 0.0);
    }
    if (best != NULL)
        return PORTMM_STATUS_SUCCESS;
    for (size_t i = 0; i < engines->count; i++)
        if (verdicts[i].status != PORTMM_STATUS_SUCCESS)
            return verdicts[i].status; /* its text is the last error or an earlier one's */
    return pmm_fail(PORTMM_STATUS_DEVICE_ERROR, "no engine of backend %s gives right results on %s",
                    context->backend->name, context->info.name);
}

void pmm_scratch_capture(portmm_context *context) {
    if (!pmm_cache_can_write(&context->runtime.cache))
        return;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_CACHE_LOOKUP, "capture");
    for (size_t i = context->engines.count; i-- > 0;) { /* the starter first: it is the next thing that is needed */
        const pmm_engine_slot *slot = &context->engines.slots[i];
        pmm_engine_state *state = atomic_load(&slot->state);
        if (state == NULL)
            continue;
        slot->engine->capture_wanted(state); /* answered by this */
        slot->engine->capture(state);
    }
    pmm_span_end();
}

portmm_status pmm_scratch_settle(portmm_context *context, const pmm_gemm *form, pmm_choice *choice) {
    pmm_engines *engines = &context->engines;
    verdict verdicts[PMM_MAX_ENGINES];
    scratch this;
    portmm_status status = open_scratch(&this, context, form);
    if (status == PORTMM_STATUS_SUCCESS)
        status = fill_matrices(&this);
    if (status == PORTMM_STATUS_SUCCESS) {
        for (size_t i = engines->count; i-- > 0;)
            verdicts[i] = judge(&this, &engines->slots[i]);
        time_engines(&this, engines, verdicts);
        status = conclude(context, verdicts, choice);
    }
    close_scratch(&this);
    pmm_scratch_capture(context);
    bool proven = pmm_warmup_prove(context, NULL, form);
    if (status == PORTMM_STATUS_SUCCESS && proven) {
        const pmm_class of = pmm_class_of(form);
        pmm_choice_write(context, &of, choice); /* last: who reads it finds the binaries */
    }
    return status;
}

portmm_status pmm_scratch_prove(portmm_context *context, const pmm_gemm *form) {
    portmm_status first = PORTMM_STATUS_SUCCESS;
    for (size_t i = context->engines.count; i-- > 0;) {
        pmm_engine_slot *slot = &context->engines.slots[i];
        if (!pmm_gemm_is_for_engine(slot->engine, form))
            continue;
        portmm_status status = pmm_scratch_run(context, slot, form);
        if (status == PORTMM_STATUS_SUCCESS)
            pmm_trial_publish(&context->runtime.cache);
        first = first == PORTMM_STATUS_SUCCESS ? status : first;
    }
    return first;
}
