/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm.h"

#include <stdlib.h>

#include "status.h"

portmm_status pmm_gemm_check_dtype(const char *function, const portmm_context *context, portmm_dtype dtype) {
    const portmm_device_info *info = &context->info;
    uint32_t dtypes = pmm_backend_dtypes(context->backend, info);
    if (dtypes & PORTMM_DTYPE_BIT(dtype))
        return PORTMM_STATUS_SUCCESS;
    if (pmm_dtype_is_double(dtype) && !info->has_f64)
        return pmm_fail(PORTMM_STATUS_UNSUPPORTED,
                        "%s: %s:%d (%s) has no double precision, which %s needs; use %s or another device", function,
                        info->backend, (int)info->index, info->name, pmm_dtype_name(dtype),
                        dtype == PORTMM_F64 ? "f32" : "c32");
    char known[64];
    pmm_dtype_list(dtypes, known, sizeof known);
    return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "%s: no engine of %s:%d (%s) has products of type %s, only of %s",
                    function, info->backend, (int)info->index, info->name, pmm_dtype_name(dtype), known);
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
    gemm->alpha_im = 0;
    gemm->a_stride = gemm->b_stride = 0;
    gemm->a_offsets = gemm->b_offsets = NULL;
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
    bool keeps = scales && given->beta == 1 && given->beta_im == 0 && !pmm_gemm_has_epilogue(given);
    if (pmm_gemm_is_empty(given) || keeps)
        return wait_count == 0 && event == NULL ? PORTMM_STATUS_SUCCESS
                                                : context->backend->queue_barrier(queue, wait_count, wait_list, event);
    bool listed = given->a_offsets != NULL || given->b_offsets != NULL || given->c_offsets != NULL;
    pmm_gemm gemm = listed && given->batch_count == 1 ? pmm_gemm_single(given, 0) : *given;
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (scales)
        status = make_scaling(context, queue, &gemm);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    return pmm_engines_gemm(context, queue, function, &gemm, wait_count, wait_list, event);
}
