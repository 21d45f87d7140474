/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices in host memory. */
#include <string.h>

#include "gemm.h"
#include "status.h"

/* What stands for the matrices of one operand on the device: their own memory where the device can use it, else a copy,
 * packed product after product without padding. */
typedef struct stand_in {
    pmm_operand host;   /* as the caller has them */
    pmm_operand device; /* as the product finds them */
    unsigned char *memory;
    int64_t count; /* of matrices that are different ones */
    bool is_copy;
} stand_in;

static void make_stand_in(stand_in *this, const pmm_operand *host, const void *memory, int64_t batch_count) {
    this->host = this->device = *host;
    /* A and B are only read, but a buffer does not know that. */
    memcpy(&this->memory, &memory, sizeof memory);
    this->count = host->offsets == NULL && host->stride == 0 ? 1 : batch_count;
    this->is_copy = false;
}

/* As a copy without padding will be. False: larger than memory; `device` is untouched then. */
static bool pack(const stand_in *this, pmm_operand *device) {
    pmm_shape shape = this->host.shape;
    if (shape.inner != 0 && shape.outer > INT64_MAX / shape.inner)
        return false;
    device->leading = shape.inner > 1 ? shape.inner : 1;
    device->offset = 0;
    device->offsets = NULL;
    device->stride = this->count > 1 ? shape.outer * shape.inner : 0;
    return true;
}

static bool is_packed_already(const stand_in *this) {
    const pmm_operand *host = &this->host;
    return (host->leading == this->device.leading || host->shape.outer == 1) &&
           (this->count == 1 || (host->offsets == NULL && host->stride == this->device.stride));
}

/* Everything in one run where there is no padding, else matrix `i`. */
static pmm_copy make_copy(const stand_in *this, size_t element, int64_t i, bool whole) {
    pmm_shape shape = this->host.shape;
    size_t width = (size_t)shape.inner * element, height = (size_t)shape.outer;
    if (whole)
        return (pmm_copy){.width = width * height * (size_t)this->count,
                          .height = 1,
                          .pitch = width * height * (size_t)this->count,
                          .host_pitch = width * height * (size_t)this->count};
    return (pmm_copy){.offset = (size_t)(i * this->device.stride) * element,
                      .pitch = width,
                      .host_pitch = (size_t)this->host.leading * element,
                      .width = width,
                      .height = height};
}

static portmm_status copy_all(portmm_context *context, const stand_in *this, size_t element, bool upload) {
    const pmm_backend *backend = context->backend;
    pmm_queue *queue = context->host_queue->queue;
    bool whole = is_packed_already(this);
    portmm_status status = PORTMM_STATUS_SUCCESS;
    pmm_span_begin(&context->runtime.timeline, upload ? PORTMM_PHASE_UPLOAD : PORTMM_PHASE_DOWNLOAD, "matrix");
    for (int64_t i = 0; i < (whole ? 1 : this->count) && status == PORTMM_STATUS_SUCCESS; i++) {
        pmm_copy copy = make_copy(this, element, i, whole);
        void *memory = this->memory + (size_t)(this->host.offset + pmm_operand_at(&this->host, i)) * element;
        status = upload ? backend->buffer_write(queue, this->device.buffer, &copy, memory)
                        : backend->buffer_read(queue, this->device.buffer, &copy, memory);
    }
    pmm_span_end();
    return status;
}

static portmm_status allocate(const char *function, portmm_context *context, stand_in *this, const pmm_gemm *gemm) {
    const pmm_backend *backend = context->backend;
    int64_t count;
    size_t bytes = 0, element = pmm_dtype_size(gemm->dtype);
    if (!pmm_operand_extent(&this->host, gemm->batch_count, &count) || count > INT64_MAX - this->host.offset ||
        !pmm_element_bytes(this->host.offset + count, gemm->dtype, &bytes))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: matrix %s with ld%s = %lld is larger than memory",
                        function, this->host.name, this->host.name, (long long)this->host.leading);
    portmm_status status = backend->buffer_wrap(context->device, this->memory, bytes, &this->device.buffer);
    if (status == PORTMM_STATUS_UNSUPPORTED) {
        this->is_copy = pack(this, &this->device); /* no larger than what was just counted */
        bytes = (size_t)this->host.shape.outer * (size_t)this->host.shape.inner * (size_t)this->count * element;
        pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_ALLOCATE, "matrix");
        status = backend->buffer_create(context->device, bytes, &this->device.buffer);
        pmm_span_end();
    }
    return status;
}

static portmm_status run_on_stand_ins(const char *function, portmm_context *context, pmm_gemm *gemm,
                                      stand_in stand_ins[PMM_OPERANDS]) {
    size_t element = pmm_dtype_size(gemm->dtype);
    portmm_status status = PORTMM_STATUS_SUCCESS;
    pmm_operand operands[PMM_OPERANDS];
    if (context->host_queue == NULL)
        status = portmm_queue_create(context, &context->host_queue);
    for (int i = PMM_A; i < PMM_OPERANDS && status == PORTMM_STATUS_SUCCESS; i++)
        if (pmm_gemm_uses(gemm, i))
            status = allocate(function, context, &stand_ins[i], gemm);
    for (int i = PMM_A; i < PMM_OPERANDS && status == PORTMM_STATUS_SUCCESS; i++)
        if (stand_ins[i].is_copy && (i != PMM_C || pmm_gemm_reads_c(gemm)))
            status = copy_all(context, &stand_ins[i], element, true);
    for (int i = PMM_A; i < PMM_OPERANDS; i++)
        operands[i] = stand_ins[i].device;
    pmm_gemm_set_operands(gemm, operands);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_gemm_run(context, context->host_queue->queue, function, gemm, 0, NULL, NULL);
    if (status == PORTMM_STATUS_SUCCESS) {
        context->host_queue->has_products = true;
        status = pmm_queue_settle(context->host_queue);
    }
    if (status == PORTMM_STATUS_SUCCESS && stand_ins[PMM_C].is_copy)
        status = copy_all(context, &stand_ins[PMM_C], element, false);
    for (int i = PMM_A; i < PMM_OPERANDS; i++)
        if (stand_ins[i].device.buffer != NULL)
            context->backend->buffer_destroy(stand_ins[i].device.buffer);
    return status;
}

/* What no copy without padding could change, before anything is read. */
static portmm_status check_sizes(const char *function, const portmm_context *context, const pmm_gemm *gemm,
                                 const stand_in stand_ins[PMM_OPERANDS]) {
    if (pmm_gemm_only_scales(gemm))
        return PORTMM_STATUS_SUCCESS;
    pmm_gemm packed = *gemm;
    pmm_operand operands[PMM_OPERANDS];
    pmm_gemm_get_operands(gemm, operands);
    for (int i = PMM_A; i < PMM_OPERANDS; i++)
        pack(&stand_ins[i], &operands[i]); /* if it cannot be, it is beyond every engine as it is */
    pmm_gemm_set_operands(&packed, operands);
    return pmm_engines_check(function, context, &packed);
}

/* Negative offsets are seen here: of buffers, with their range. */
static portmm_status check_memory(const char *function, const pmm_gemm *gemm, const stand_in stand_ins[PMM_OPERANDS]) {
    for (int i = PMM_A; i < PMM_OPERANDS; i++) {
        if (pmm_gemm_uses(gemm, i) && stand_ins[i].memory == NULL)
            return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s is NULL", function, stand_ins[i].host.name);
        if (stand_ins[i].host.offset < 0)
            return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s_offset = %lld must not be negative", function,
                            stand_ins[i].host.name, (long long)stand_ins[i].host.offset);
    }
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_gemm_on_host(const char *function, portmm_context *context, pmm_gemm *gemm,
                               const void *const memory[PMM_OPERANDS]) {
    if (context == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: context is NULL", function);
    portmm_status status = pmm_context_check_process(function, context);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_gemm_check_form(function, gemm);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    portmm_context *asked = context;
    context = pmm_hybrid_choose(asked, gemm);
    status = pmm_gemm_check_dtype(function, context, gemm->dtype);
    if (status != PORTMM_STATUS_SUCCESS || pmm_gemm_is_empty(gemm))
        return status;
    pmm_operand operands[PMM_OPERANDS];
    stand_in stand_ins[PMM_OPERANDS];
    pmm_gemm_get_operands(gemm, operands);
    for (int i = PMM_A; i < PMM_OPERANDS; i++)
        make_stand_in(&stand_ins[i], &operands[i], memory[i], gemm->batch_count);
    status = check_memory(function, gemm, stand_ins);
    if (status == PORTMM_STATUS_SUCCESS)
        status = check_sizes(function, context, gemm, stand_ins);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_mutex_lock(&context->host_mutex);
    status = run_on_stand_ins(function, context, gemm, stand_ins);
    pmm_mutex_unlock(&context->host_mutex);
    if (asked != context) {
        if (status == PORTMM_STATUS_SUCCESS)
            atomic_store(&asked->engines.served, atomic_load(&context->engines.served));
        pmm_hybrid_finished(asked);
    }
    return status;
}

portmm_status portmm_gemm_host(portmm_context *context, const portmm_problem *problem, const void *alpha, const void *a,
                               const void *b, const void *beta, void *c, const void *bias) {
    pmm_gemm gemm;
    pmm_clear_error();
    portmm_status status = pmm_gemm_from_problem("portmm_gemm_host", problem, &gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_gemm_set_scalars("portmm_gemm_host", &gemm, alpha, beta);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    return pmm_gemm_on_host("portmm_gemm_host", context, &gemm, (const void *[PMM_OPERANDS]){a, b, c, bias});
}
