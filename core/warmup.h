/* SPDX-License-Identifier: Apache-2.0 */
/* Who takes finished binaries into the cache: a helper process, a thread, or nobody. */
#ifndef PMM_WARMUP_H
#define PMM_WARMUP_H

#include "platform.h"

struct pmm_engine_slot;

enum { PMM_MAX_CAPTURES = 32 };

/* The programs of that engine, which were used by that product. */
typedef struct pmm_capture {
    struct pmm_engine_slot *slot;
    pmm_gemm form;
} pmm_capture;

typedef struct pmm_warmup {
    pmm_mutex mutex;                        /* of all below */
    bool has_thread;                        /* it runs or is to be joined */
    bool runs;                              /* the thread is at work */
    pmm_capture captures[PMM_MAX_CAPTURES]; /* what it is still to do */
    size_t capture_count;
    pmm_thread thread;
    int64_t thread_process;
    bool postponed; /* another helper was at work: ask again for this product, not before that time */
    pmm_gemm postponed_form;
    uint64_t ask_again_ns;
} pmm_warmup;

bool pmm_warmup_init(pmm_warmup *warmup);
/* Waits for the thread. */
void pmm_warmup_fini(pmm_warmup *warmup);

typedef enum pmm_helper_result {
    PMM_HELPER_STARTED,
    PMM_HELPER_BUSY, /* one is at work for the same device and engine already */
    PMM_HELPER_IMPOSSIBLE
} pmm_helper_result;

/* A helper process for products like `form`: with one engine, or, if `engine` is NULL, to settle which one serves. */
pmm_helper_result pmm_warmup_start_helper(portmm_context *context, const pmm_engine *engine, const pmm_gemm *form,
                                          const char **why);

/* Has what was captured tried, if anything was, in a process of its own, by products like `form`, and waits for it.
 * What comes out well joins the cache. False: something did not, or could not be tried; it was logged. */
bool pmm_warmup_prove(portmm_context *context, const pmm_engine *engine, const pmm_gemm *form);

/* To be called after each product of an engine; cheap when there is nothing to take. */
void pmm_warmup_after_product(portmm_context *context, struct pmm_engine_slot *slot, const pmm_gemm *gemm);

/* A smaller product that needs the same kernels: sizes keep their remainder by 1024, as tiles see them, and m * n * k
 * stays above 2^30, beyond any engine's threshold for small products. */
void pmm_warmup_shrink(pmm_gemm *gemm);

#endif
