/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm.h"

#include <stdlib.h>

#include "gemm_check.h"
#include "status.h"

#define MAX_WAITS 64

portmm_status pmm_gemm_check_dtype(const char *function, const portmm_context *context, portmm_dtype dtype) {
    if (dtype != PORTMM_F64 || context->info.has_f64)
        return PORTMM_STATUS_SUCCESS;
    return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "%s: %s:%d (%s) has no double precision; use f32 or another device",
                    function, context->info.backend, (int)context->info.index, context->info.name);
}

portmm_status pmm_zeros_create(portmm_context *context, pmm_queue *queue, size_t size, pmm_buffer **buffer) {
    const pmm_backend *backend = context->backend;
    pmm_buffer *made = NULL;
    void *zeros = calloc(1, size);
    if (zeros == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for %zu bytes of zeros", size);
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_ALLOCATE, "zeros");
    portmm_status status = backend->buffer_create(context->device, size, &made);
    if (status == PORTMM_STATUS_SUCCESS)
        status = backend->buffer_write(
            queue, made, &(pmm_copy){.pitch = size, .host_pitch = size, .width = size, .height = 1}, zeros);
    pmm_span_end();
    free(zeros);
    if (status == PORTMM_STATUS_SUCCESS)
        *buffer = made;
    else if (made != NULL)
        backend->buffer_destroy(made);
    return status;
}

/* Zeros that stay with the context, for scaling. When more are needed a buffer of at least twice the size joins them;
 * the smaller ones stay, since other threads may be about to use them. */
static portmm_status get_zeros(portmm_context *context, pmm_queue *queue, size_t size, pmm_buffer **zeros) {
    portmm_status status = PORTMM_STATUS_SUCCESS;
    pmm_mutex_lock(&context->zeros_mutex);
    if (context->zeros_size < size) {
        size_t larger = size > 2 * context->zeros_size ? size : 2 * context->zeros_size;
        status = pmm_zeros_create(context, queue, larger, &context->zeros[context->zeros_count]);
        if (status == PORTMM_STATUS_SUCCESS) {
            context->zeros_count++;
            context->zeros_size = larger;
        }
    }
    if (status == PORTMM_STATUS_SUCCESS)
        *zeros = context->zeros[context->zeros_count - 1];
    pmm_mutex_unlock(&context->zeros_mutex);
    return status;
}

/* C := beta * C, as C := 0 * 0 + beta * C with a column and a row of zeros: any engine can, and no kernel of its own is
 * needed for it. */
static portmm_status make_scaling(portmm_context *context, pmm_queue *queue, pmm_gemm *gemm) {
    int64_t longer = gemm->m > gemm->n ? gemm->m : gemm->n;
    bool rows = gemm->layout == PORTMM_ROW_MAJOR;
    gemm->k = 1;
    gemm->alpha = 1;
    gemm->transa = gemm->transb = PORTMM_NO_TRANS;
    gemm->a_offset = gemm->b_offset = 0;
    gemm->lda = rows ? 1 : gemm->m;
    gemm->ldb = rows ? gemm->n : 1;
    portmm_status status = get_zeros(context, queue, (size_t)longer * pmm_dtype_size(gemm->dtype), &gemm->a);
    gemm->b = gemm->a;
    return status;
}

portmm_status pmm_gemm_run(portmm_context *context, pmm_queue *queue, const char *function, const pmm_gemm *given,
                           size_t wait_count, pmm_event *const *wait_list, pmm_event **event) {
    bool scales = pmm_gemm_only_scales(given);
    if (given->m == 0 || given->n == 0 || (scales && given->beta == 1))
        return wait_count == 0 && event == NULL ? PORTMM_STATUS_SUCCESS
                                                : context->backend->queue_barrier(queue, wait_count, wait_list, event);
    pmm_gemm gemm = *given;
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (scales)
        status = make_scaling(context, queue, &gemm);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    return pmm_engines_gemm(context, queue, function, &gemm, wait_count, wait_list, event);
}

/* ---- the public form on buffers ---- */

typedef struct operand {
    const char *name;
    const portmm_buffer *buffer;
    int64_t offset, leading;
} operand;

static portmm_status check_operand(const char *function, const portmm_context *context, const operand *checked,
                                   pmm_shape shape, portmm_dtype dtype) {
    if (checked->buffer == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s is NULL", function, checked->name);
    if (checked->buffer->context != context)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: buffer %s belongs to another context than the queue",
                        function, checked->name);
    return pmm_gemm_check_range(function, checked->name, shape, checked->leading, checked->offset, dtype,
                                checked->buffer->size);
}

static portmm_status check_waits(const char *function, const portmm_context *context, size_t count,
                                 portmm_event *const *list, pmm_event *waits[MAX_WAITS]) {
    if (count > MAX_WAITS)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: wait_count = %zu is more than %d", function, count,
                        MAX_WAITS);
    if (count > 0 && list == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: wait_list is NULL but wait_count = %zu", function, count);
    for (size_t i = 0; i < count; i++) {
        if (list[i] == NULL || list[i]->context != context)
            return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: wait_list[%zu] is NULL or of another context",
                            function, i);
        waits[i] = list[i]->event;
    }
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status check_operands(const char *function, const portmm_context *context, const pmm_gemm *gemm,
                                    const operand operands[PMM_MATRICES]) {
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (gemm->m == 0 || gemm->n == 0)
        return status;
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(gemm, shapes);
    for (int i = pmm_gemm_only_scales(gemm) ? PMM_C : PMM_A; i < PMM_MATRICES && status == PORTMM_STATUS_SUCCESS; i++)
        status = check_operand(function, context, &operands[i], shapes[i], gemm->dtype);
    return status;
}

static portmm_status enqueue_gemm(const char *function, portmm_queue *queue, pmm_gemm *gemm,
                                  const operand operands[PMM_MATRICES], size_t wait_count,
                                  portmm_event *const *wait_list, portmm_event **event) {
    pmm_event *waits[MAX_WAITS], *made = NULL;
    pmm_clear_error();
    if (event != NULL)
        *event = NULL;
    if (queue == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: queue is NULL", function);
    portmm_context *context = queue->context;
    portmm_status status = pmm_gemm_check_form(function, gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        status = check_operands(function, context, gemm, operands);
    if (status == PORTMM_STATUS_SUCCESS)
        status = check_waits(function, context, wait_count, wait_list, waits);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_gemm_check_dtype(function, context, gemm->dtype);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    portmm_event *wrapper = event != NULL ? malloc(sizeof *wrapper) : NULL;
    if (event != NULL && wrapper == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "%s: no memory for an event", function);
    status = pmm_gemm_run(context, queue->queue, function, gemm, wait_count, waits, event != NULL ? &made : NULL);
    if (status != PORTMM_STATUS_SUCCESS) {
        free(wrapper);
        return status;
    }
    queue->has_products = true;
    if (event != NULL) {
        *wrapper = (portmm_event){.context = context, .event = made};
        *event = wrapper;
    }
    return PORTMM_STATUS_SUCCESS;
}

/* The two public functions differ in their types only. */
#define DEFINE_GEMM(name, type, number)                                                                                \
    portmm_status name(portmm_queue *queue, portmm_layout layout, portmm_transpose transa, portmm_transpose transb,    \
                       int64_t m, int64_t n, int64_t k, type alpha, const portmm_buffer *a, int64_t a_offset,          \
                       int64_t lda, const portmm_buffer *b, int64_t b_offset, int64_t ldb, type beta,                  \
                       portmm_buffer *c, int64_t c_offset, int64_t ldc, size_t wait_count,                             \
                       portmm_event *const *wait_list, portmm_event **event) {                                         \
        const operand operands[PMM_MATRICES] = {                                                                       \
            {"a", a, a_offset, lda}, {"b", b, b_offset, ldb}, {"c", c, c_offset, ldc}};                                \
        pmm_gemm gemm = {.dtype = (number),                                                                            \
                         .layout = layout,                                                                             \
                         .transa = transa,                                                                             \
                         .transb = transb,                                                                             \
                         .m = m,                                                                                       \
                         .n = n,                                                                                       \
                         .k = k,                                                                                       \
                         .alpha = alpha,                                                                               \
                         .beta = beta,                                                                                 \
                         .a = a != NULL ? a->buffer : NULL,                                                            \
                         .b = b != NULL ? b->buffer : NULL,                                                            \
                         .c = c != NULL ? c->buffer : NULL,                                                            \
                         .a_offset = a_offset,                                                                         \
                         .b_offset = b_offset,                                                                         \
                         .c_offset = c_offset,                                                                         \
                         .lda = lda,                                                                                   \
                         .ldb = ldb,                                                                                   \
                         .ldc = ldc,                                                                                   \
                         .batch_count = 1};                                                                            \
        return enqueue_gemm(#name, queue, &gemm, operands, wait_count, wait_list, event);                              \
    }

DEFINE_GEMM(portmm_sgemm, float, PORTMM_F32)
DEFINE_GEMM(portmm_dgemm, double, PORTMM_F64)
