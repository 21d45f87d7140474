/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices in host memory. */
#include <string.h>

#include "gemm.h"
#include "gemm_check.h"
#include "status.h"

/* A host matrix and the buffer that stands for it: the same memory where the device can use it, else a copy without
 * padding. */
typedef struct operand {
    const char *name;
    void *memory;
    int64_t *leading; /* in elements; becomes the buffer's */
    pmm_shape shape;
    pmm_buffer *buffer;
    size_t host_pitch; /* bytes */
    bool is_copy;
} operand;

static pmm_copy make_copy(const operand *this, portmm_dtype dtype) {
    size_t width = (size_t)this->shape.inner * pmm_dtype_size(dtype);
    if (this->host_pitch == width) /* no padding: one run */
        return (pmm_copy){.pitch = width * (size_t)this->shape.outer,
                          .host_pitch = width * (size_t)this->shape.outer,
                          .width = width * (size_t)this->shape.outer,
                          .height = 1};
    return (pmm_copy){
        .pitch = width, .host_pitch = this->host_pitch, .width = width, .height = (size_t)this->shape.outer};
}

static portmm_status allocate(const char *function, portmm_context *context, operand *this, portmm_dtype dtype) {
    const pmm_backend *backend = context->backend;
    size_t bytes;
    if (!pmm_shape_bytes(this->shape, *this->leading, dtype, &bytes))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: matrix %s with ld%s = %lld is larger than memory",
                        function, this->name, this->name, (long long)*this->leading);
    portmm_status status = backend->buffer_wrap(context->device, this->memory, bytes, &this->buffer);
    this->is_copy = status == PORTMM_STATUS_UNSUPPORTED;
    if (this->is_copy) {
        this->host_pitch = (size_t) * this->leading * pmm_dtype_size(dtype);
        *this->leading = this->shape.inner;
        bytes = (size_t)(this->shape.outer * this->shape.inner) * pmm_dtype_size(dtype);
        status = backend->buffer_create(context->device, bytes, &this->buffer);
    }
    return status;
}

static portmm_status upload(portmm_context *context, const operand *this, portmm_dtype dtype) {
    if (!this->is_copy)
        return PORTMM_STATUS_SUCCESS;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_UPLOAD, "matrix");
    pmm_copy copy = make_copy(this, dtype);
    portmm_status status =
        context->backend->buffer_write(context->host_queue->queue, this->buffer, &copy, this->memory);
    pmm_span_end();
    return status;
}

static portmm_status download(portmm_context *context, const operand *this, portmm_dtype dtype) {
    if (!this->is_copy)
        return PORTMM_STATUS_SUCCESS;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_DOWNLOAD, "matrix");
    pmm_copy copy = make_copy(this, dtype);
    portmm_status status = context->backend->buffer_read(context->host_queue->queue, this->buffer, &copy, this->memory);
    pmm_span_end();
    return status;
}

static portmm_status run_on_copies(const char *function, portmm_context *context, pmm_gemm *gemm,
                                   operand operands[PMM_MATRICES]) {
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (context->host_queue == NULL)
        status = portmm_queue_create(context, &context->host_queue);
    int first = pmm_gemm_only_scales(gemm) ? PMM_C : PMM_A;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_ALLOCATE, "matrices"); /* one: a small product feels it */
    for (int i = first; i < PMM_MATRICES && status == PORTMM_STATUS_SUCCESS; i++)
        status = allocate(function, context, &operands[i], gemm->dtype);
    pmm_span_end();
    for (int i = first; i < PMM_MATRICES && status == PORTMM_STATUS_SUCCESS; i++)
        if (i != PMM_C || gemm->beta != 0)
            status = upload(context, &operands[i], gemm->dtype);
    gemm->a = operands[PMM_A].buffer;
    gemm->b = operands[PMM_B].buffer;
    gemm->c = operands[PMM_C].buffer;
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_gemm_run(context, context->host_queue->queue, function, gemm, 0, NULL, NULL);
    if (status == PORTMM_STATUS_SUCCESS) {
        context->host_queue->has_products = true;
        status = pmm_queue_settle(context->host_queue);
    }
    if (status == PORTMM_STATUS_SUCCESS)
        status = download(context, &operands[PMM_C], gemm->dtype);
    for (int i = 0; i < PMM_MATRICES; i++)
        if (operands[i].buffer != NULL)
            context->backend->buffer_destroy(operands[i].buffer);
    return status;
}

/* What no copy without padding could change, before anything is read. */
static portmm_status check_sizes(const char *function, const portmm_context *context, const pmm_gemm *gemm,
                                 const pmm_shape shapes[PMM_MATRICES]) {
    if (pmm_gemm_only_scales(gemm))
        return PORTMM_STATUS_SUCCESS;
    pmm_gemm packed = *gemm;
    packed.lda = shapes[PMM_A].inner;
    packed.ldb = shapes[PMM_B].inner;
    packed.ldc = shapes[PMM_C].inner;
    return pmm_engines_check(function, context, &packed);
}

static portmm_status multiply(const char *function, portmm_context *context, pmm_gemm *gemm, const void *a,
                              const void *b, void *c) {
    pmm_clear_error();
    if (context == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: context is NULL", function);
    portmm_status status = pmm_gemm_check_form(function, gemm);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    portmm_context *asked = context;
    context = pmm_hybrid_choose(asked, gemm);
    status = pmm_gemm_check_dtype(function, context, gemm->dtype);
    if (status != PORTMM_STATUS_SUCCESS || gemm->m == 0 || gemm->n == 0)
        return status;
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(gemm, shapes);
    operand operands[PMM_MATRICES] = {{.name = "a", .leading = &gemm->lda, .shape = shapes[PMM_A]},
                                      {.name = "b", .leading = &gemm->ldb, .shape = shapes[PMM_B]},
                                      {.name = "c", .memory = c, .leading = &gemm->ldc, .shape = shapes[PMM_C]}};
    /* A and B are only read, but a buffer does not know that. */
    memcpy(&operands[PMM_A].memory, &a, sizeof a);
    memcpy(&operands[PMM_B].memory, &b, sizeof b);
    for (int i = pmm_gemm_only_scales(gemm) ? PMM_C : PMM_A; i < PMM_MATRICES; i++)
        if (operands[i].memory == NULL)
            return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s is NULL", function, operands[i].name);
    status = check_sizes(function, context, gemm, shapes);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_mutex_lock(&context->host_mutex);
    status = run_on_copies(function, context, gemm, operands);
    pmm_mutex_unlock(&context->host_mutex);
    if (asked != context) {
        if (status == PORTMM_STATUS_SUCCESS)
            atomic_store(&asked->engines.served, atomic_load(&context->engines.served));
        pmm_hybrid_finished(asked);
    }
    return status;
}

#define DEFINE_GEMM_HOST(name, type, number)                                                                           \
    portmm_status name(portmm_context *context, portmm_layout layout, portmm_transpose transa,                         \
                       portmm_transpose transb, int64_t m, int64_t n, int64_t k, type alpha, const type *a,            \
                       int64_t lda, const type *b, int64_t ldb, type beta, type *c, int64_t ldc) {                     \
        pmm_gemm gemm = {.dtype = (number),                                                                            \
                         .layout = layout,                                                                             \
                         .transa = transa,                                                                             \
                         .transb = transb,                                                                             \
                         .m = m,                                                                                       \
                         .n = n,                                                                                       \
                         .k = k,                                                                                       \
                         .alpha = alpha,                                                                               \
                         .beta = beta,                                                                                 \
                         .lda = lda,                                                                                   \
                         .ldb = ldb,                                                                                   \
                         .ldc = ldc,                                                                                   \
                         .batch_count = 1};                                                                            \
        return multiply(#name, context, &gemm, a, b, c);                                                               \
    }

DEFINE_GEMM_HOST(portmm_sgemm_host, float, PORTMM_F32)
DEFINE_GEMM_HOST(portmm_dgemm_host, double, PORTMM_F64)
