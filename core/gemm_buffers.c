/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices in buffers. */
#include <stdlib.h>

#include "gemm.h"
#include "status.h"
#include "waits.h"

static portmm_status check_operand(const char *function, const portmm_context *context, const portmm_buffer *buffer,
                                   const pmm_operand *operand, const pmm_gemm *gemm) {
    if (buffer == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s is NULL", function, operand->name);
    if (buffer->context != context)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: buffer %s belongs to another context than the queue",
                        function, operand->name);
    if (buffer->mapped != NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: buffer %s is mapped; unmap it first", function,
                        operand->name);
    return pmm_gemm_check_range(function, operand, gemm->batch_count, gemm->dtype, buffer->size);
}

static portmm_status check_operands(const char *function, const portmm_context *context, pmm_gemm *gemm,
                                    const portmm_buffer *const buffers[PMM_OPERANDS]) {
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (pmm_gemm_is_empty(gemm))
        return status;
    pmm_operand operands[PMM_OPERANDS];
    pmm_gemm_get_operands(gemm, operands);
    for (int i = PMM_A; i < PMM_OPERANDS && status == PORTMM_STATUS_SUCCESS; i++) {
        if (!pmm_gemm_uses(gemm, i))
            continue;
        status = check_operand(function, context, buffers[i], &operands[i], gemm);
        if (status == PORTMM_STATUS_SUCCESS)
            operands[i].buffer = buffers[i]->buffer;
    }
    pmm_gemm_set_operands(gemm, operands);
    return status;
}

portmm_status pmm_gemm_on_buffers(const char *function, portmm_queue *queue, pmm_gemm *gemm,
                                  const portmm_buffer *const buffers[PMM_OPERANDS], size_t wait_count,
                                  portmm_event *const *wait_list, portmm_event **event) {
    pmm_event *waits[PMM_MAX_WAITS], *made = NULL;
    if (event != NULL)
        *event = NULL;
    if (queue == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: queue is NULL", function);
    portmm_context *context = queue->context;
    portmm_status status = pmm_context_check_process(function, context);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_gemm_check_form(function, gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        status = check_operands(function, context, gemm, buffers);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_waits_take(function, context, wait_count, wait_list, waits);
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
    if (event != NULL)
        pmm_event_give(context, made, PORTMM_PHASE_FIRST_LAUNCH, wrapper, event);
    return PORTMM_STATUS_SUCCESS;
}

portmm_status portmm_gemm(portmm_queue *queue, const portmm_problem *problem, const void *alpha, const portmm_buffer *a,
                          const portmm_buffer *b, const void *beta, portmm_buffer *c, const portmm_buffer *bias,
                          size_t wait_count, portmm_event *const *wait_list, portmm_event **event) {
    pmm_gemm gemm;
    pmm_clear_error();
    if (event != NULL)
        *event = NULL;
    portmm_status status = pmm_gemm_from_problem("portmm_gemm", problem, &gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_gemm_set_scalars("portmm_gemm", &gemm, alpha, beta);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    return pmm_gemm_on_buffers("portmm_gemm", queue, &gemm, (const portmm_buffer *[PMM_OPERANDS]){a, b, c, bias},
                               wait_count, wait_list, event);
}
