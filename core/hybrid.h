/* SPDX-License-Identifier: Apache-2.0 */
/* Start policy `hybrid`: a context that serves from the CPU while its device opens. */
#ifndef PMM_HYBRID_H
#define PMM_HYBRID_H

#include <stdatomic.h>

#include "dtype.h"
#include "platform.h"

typedef struct pmm_hybrid {
    portmm_context *front; /* on the CPU backend; NULL: the policy is another one */
    pmm_mutex mutex;       /* of what follows */
    pmm_condition changed;
    bool is_open, stopping, has_thread;
    bool has_begun, has_finished; /* the first product on the CPU */
    bool is_awaited;              /* somebody waits for the device */
    pmm_thread thread;
    int64_t thread_process;
    pmm_gemm asked[PMM_DTYPES]; /* a product of each type that came; dtype 0: none yet */
    atomic_bool ready[PMM_DTYPES];
} pmm_hybrid;

bool pmm_hybrid_init(pmm_hybrid *hybrid);
void pmm_hybrid_fini(pmm_hybrid *hybrid);

/* Makes the front and starts to open the device. On failure the context is as before. */
portmm_status pmm_hybrid_start(portmm_context *context);
/* Ends the thread; waits until the driver lets go of it. */
void pmm_hybrid_stop(portmm_context *context);

/* The context that should make a host-pointer product now: the front, or the context itself. */
portmm_context *pmm_hybrid_choose(portmm_context *context, const pmm_gemm *gemm);

/* To be called after a product on the front. */
void pmm_hybrid_finished(portmm_context *context);

/* Waits until the device is open, or it is known that the CPU stays in charge. */
portmm_status pmm_context_await_device(const char *function, portmm_context *context);

#endif
