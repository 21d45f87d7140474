/* SPDX-License-Identifier: Apache-2.0 */
/* Who takes finished binaries into the cache: a helper process, a thread, or nobody. */
#ifndef PMM_WARMUP_H
#define PMM_WARMUP_H

#include "platform.h"

typedef struct pmm_warmup {
    pmm_mutex mutex;
    bool has_thread; /* it runs or is to be joined */
    pmm_thread thread;
} pmm_warmup;

bool pmm_warmup_init(pmm_warmup *warmup);
/* Waits for the thread. */
void pmm_warmup_fini(pmm_warmup *warmup);

/* To be called after each product; cheap when there is nothing to take. */
void pmm_warmup_after_product(portmm_context *context, pmm_engine_state *engine, const pmm_gemm *gemm);

/* A smaller product that needs the same kernels: sizes keep their remainder by 1024, as tiles see them, and m * n * k
 * stays above 2^30, beyond any engine's threshold for small products. */
void pmm_warmup_shrink(pmm_gemm *gemm);

#endif
