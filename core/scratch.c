/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm.h"
#include "gemm_check.h"
#include "log.h"
#include "status.h"

enum { TIMED_RUNS = 3, CHECKED_ROWS = 12 };

typedef struct scratch {
    portmm_context *context;
    pmm_queue *queue;
    pmm_gemm gemm; /* with its buffers */
    size_t bytes[PMM_MATRICES];
    void *host[PMM_MATRICES]; /* only where results are checked */
} scratch;

static void close_scratch(scratch *this) {
    const pmm_backend *backend = this->context->backend;
    pmm_buffer *buffers[PMM_MATRICES] = {this->gemm.a, this->gemm.b, this->gemm.c};
    for (int i = 0; i < PMM_MATRICES; i++) {
        free(this->host[i]);
        if (buffers[i] != NULL)
            backend->buffer_destroy(buffers[i]);
    }
    if (this->queue != NULL)
        backend->queue_destroy(this->queue);
}

static portmm_status open_scratch(scratch *this, portmm_context *context, const pmm_gemm *form) {
    *this = (scratch){.context = context, .gemm = *form};
    this->gemm.a = this->gemm.b = this->gemm.c = NULL;
    this->gemm.alpha = 1;
    this->gemm.beta = 0;
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(form, shapes);
    const int64_t leading[PMM_MATRICES] = {form->lda, form->ldb, form->ldc};
    const int64_t offsets[PMM_MATRICES] = {form->a_offset, form->b_offset, form->c_offset};
    pmm_buffer **buffers[PMM_MATRICES] = {&this->gemm.a, &this->gemm.b, &this->gemm.c};
    portmm_status status = context->backend->queue_create(context->device, &this->queue);
    for (int i = 0; i < PMM_MATRICES && status == PORTMM_STATUS_SUCCESS; i++) {
        if (!pmm_shape_bytes(shapes[i], leading[i], form->dtype, &this->bytes[i]))
            return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "a scratch matrix is larger than memory");
        this->bytes[i] += (size_t)offsets[i] * pmm_dtype_size(form->dtype);
        status = pmm_zeros_create(context, this->queue, this->bytes[i], buffers[i]);
    }
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
    status = slot->engine->gemm(state, this->queue, &this->gemm, 0, NULL, NULL);
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

static void set_element(const scratch *this, int matrix, int64_t position, double value) {
    if (this->gemm.dtype == PORTMM_F64)
        ((double *)this->host[matrix])[position] = value;
    else
        ((float *)this->host[matrix])[position] = (float)value;
}

static double get_element(const scratch *this, int matrix, int64_t position) {
    return this->gemm.dtype == PORTMM_F64 ? ((const double *)this->host[matrix])[position]
                                          : (double)((const float *)this->host[matrix])[position];
}

static portmm_status copy_matrix(const scratch *this, int matrix, bool to_device) {
    const pmm_backend *backend = this->context->backend;
    pmm_buffer *buffers[PMM_MATRICES] = {this->gemm.a, this->gemm.b, this->gemm.c};
    size_t size = this->bytes[matrix];
    const pmm_copy copy = {.pitch = size, .host_pitch = size, .width = size, .height = 1};
    return to_device ? backend->buffer_write(this->queue, buffers[matrix], &copy, this->host[matrix])
                     : backend->buffer_read(this->queue, buffers[matrix], &copy, this->host[matrix]);
}

/* Whole numbers so small that every sum is exact in every order, in both types. */
static portmm_status fill_matrices(scratch *this) {
    size_t element = pmm_dtype_size(this->gemm.dtype);
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (int i = 0; i < PMM_MATRICES; i++) {
        this->host[i] = malloc(this->bytes[i]);
        if (this->host[i] == NULL)
            return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory to check an engine");
    }
    uint32_t state = 1;
    for (int i = PMM_A; i <= PMM_B; i++)
        for (size_t e = 0; e < this->bytes[i] / element; e++) {
            state = state * 1664525u + 1013904223u;
            set_element(this, i, (int64_t)e, (double)(int)(state >> 30) - 1);
        }
    for (int i = PMM_A; i <= PMM_B && status == PORTMM_STATUS_SUCCESS; i++)
        status = copy_matrix(this, i, true);
    return status;
}

static portmm_status poison_result(scratch *this) {
    memset(this->host[PMM_C], 0xff, this->bytes[PMM_C]); /* NaN in every element */
    return copy_matrix(this, PMM_C, true);
}

/* Position of op(X)(row, column). */
static int64_t locate(portmm_layout layout, portmm_transpose transpose, int64_t leading, int64_t row, int64_t column) {
    bool row_strided = (layout == PORTMM_ROW_MAJOR) == (transpose == PORTMM_NO_TRANS);
    return row_strided ? row * leading + column : column * leading + row;
}

static bool is_row_right(const scratch *this, int64_t row) {
    const pmm_gemm *gemm = &this->gemm;
    for (int64_t column = 0; column < gemm->n; column++) {
        double sum = 0;
        for (int64_t p = 0; p < gemm->k; p++)
            sum += get_element(this, PMM_A, gemm->a_offset + locate(gemm->layout, gemm->transa, gemm->lda, row, p)) *
                   get_element(this, PMM_B, gemm->b_offset + locate(gemm->layout, gemm->transb, gemm->ldb, p, column));
        int64_t position = gemm->c_offset + locate(gemm->layout, PORTMM_NO_TRANS, gemm->ldc, row, column);
        if (get_element(this, PMM_C, position) != sum) /* a NaN, too */
            return false;
    }
    return true;
}

static bool is_result_right(const scratch *this) {
    int64_t m = this->gemm.m, step = m / CHECKED_ROWS > 0 ? m / CHECKED_ROWS : 1;
    bool right = is_row_right(this, m - 1);
    for (int64_t row = 0; row < m && right; row += step)
        right = is_row_right(this, row);
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
    result.status = poison_result(this);
    if (result.status == PORTMM_STATUS_SUCCESS)
        result.status = run_once(this, slot);
    if (result.status == PORTMM_STATUS_SUCCESS)
        result.status = copy_matrix(this, PMM_C, false);
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
    if (status == PORTMM_STATUS_SUCCESS) {
        const pmm_class of = pmm_class_of(form);
        pmm_choice_write(context, &of, choice); /* last: who reads it finds the binaries */
    }
    return status;
}
