/* SPDX-License-Identifier: Apache-2.0 */
/* A checked product on its way to an engine. */
#ifndef PMM_GEMM_H
#define PMM_GEMM_H

#include "context.h"

/*
 * Enqueues a product whose arguments were checked; all of m, n, k and alpha may be zero. Settles what needs no product:
 * A and B may be NULL where they are not read. `function` is for texts.
 */
portmm_status pmm_gemm_run(portmm_context *context, pmm_queue *queue, const char *function, const pmm_gemm *gemm,
                           size_t wait_count, pmm_event *const *wait_list, pmm_event **event);

/* Whether the context's device has the type. */
portmm_status pmm_gemm_check_dtype(const char *function, const portmm_context *context, portmm_dtype dtype);

/* A buffer of `size` bytes, all zero. */
portmm_status pmm_zeros_create(portmm_context *context, pmm_queue *queue, size_t size, pmm_buffer **buffer);

#endif
