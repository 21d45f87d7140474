/* SPDX-License-Identifier: Apache-2.0 */
/* What the engines of this backend have in common: one product at a time under the lock, events, late capture. */
#ifndef PMM_CL_ENGINE_H
#define PMM_CL_ENGINE_H

#include "opencl.h"

struct pmm_engine_state {
    const pmm_device *device;
    bool tiled; /* starter: which kernels */
    /* Under host->lock: */
    bool wanted;          /* see pmm_engine.capture_wanted */
    cl_event last_launch; /* of the latest product with new launches */
};

portmm_status pmm_cl_engine_open(pmm_device *device, pmm_engine_state **engine);
void pmm_cl_engine_close(pmm_engine_state *engine);
bool pmm_cl_engine_wanted(pmm_engine_state *engine);
void pmm_cl_engine_capture(pmm_engine_state *engine);

/* Enqueues with the lock held; *event is the product's. *new_launches: some may be missing from the cache's binary. */
typedef portmm_status pmm_cl_enqueue(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_gemm *gemm,
                                     cl_event *event, bool *new_launches);

/* pmm_engine.gemm by way of `enqueue`. */
portmm_status pmm_cl_engine_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                                 pmm_event *const *wait_list, pmm_event **event, pmm_cl_enqueue *enqueue);

#endif
