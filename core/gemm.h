/* SPDX-License-Identifier: Apache-2.0 */
/* A product on its way from a public function to an engine. */
#ifndef PMM_GEMM_H
#define PMM_GEMM_H

#include "context.h"
#include "gemm_check.h"

/*
 * Enqueues a product whose arguments were checked; all of m, n, k and alpha may be zero. Settles what needs no product:
 * A and B may be NULL where they are not read. `function` is for texts.
 */
portmm_status pmm_gemm_run(portmm_context *context, pmm_queue *queue, const char *function, const pmm_gemm *gemm,
                           size_t wait_count, pmm_event *const *wait_list, pmm_event **event);

/*
 * The public forms: `gemm` has everything but its buffers, the arrays hold A, B, C and, if there is one, the bias.
 * They check all arguments. `function` is for texts.
 */
portmm_status pmm_gemm_on_buffers(const char *function, portmm_queue *queue, pmm_gemm *gemm,
                                  const portmm_buffer *const buffers[PMM_OPERANDS], size_t wait_count,
                                  portmm_event *const *wait_list, portmm_event **event);
portmm_status pmm_gemm_on_host(const char *function, portmm_context *context, pmm_gemm *gemm,
                               const void *const memory[PMM_OPERANDS]);

/* The problem as a gemm; zero leading dimensions are filled in. The scalars are 1 and
 * 0. */
portmm_status pmm_gemm_from_problem(const char *function, const portmm_problem *problem, pmm_gemm *gemm);
portmm_status pmm_gemm_set_scalars(const char *function, pmm_gemm *gemm, const void *alpha, const void *beta);

/* Whether the context's device has the type. */
portmm_status pmm_gemm_check_dtype(const char *function, const portmm_context *context, portmm_dtype dtype);

/* A buffer of `size` bytes, all zero. */
portmm_status pmm_zeros_create(portmm_context *context, pmm_queue *queue, size_t size, pmm_buffer **buffer);

#endif
