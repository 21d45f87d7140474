/* SPDX-License-Identifier: Apache-2.0 */
#include <portmm/cache.h>

#include "cache/flight.h"
#include "gemm.h"
#include "scratch.h"
#include "status.h"
#include "structs.h"

static portmm_status read_problem(const portmm_context *context, const portmm_problem *problem, pmm_gemm *gemm) {
    portmm_status status = pmm_gemm_from_problem("portmm_prewarm", problem, gemm);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (gemm->a_offset < 0 || gemm->b_offset < 0 || gemm->c_offset < 0 || gemm->epilogue.bias_offset < 0)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_prewarm: an offset of the problem is negative");
    status = pmm_gemm_check_form("portmm_prewarm", gemm);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_gemm_check_dtype("portmm_prewarm", context, gemm->dtype);
    if (status == PORTMM_STATUS_SUCCESS && !pmm_gemm_is_empty(gemm) && gemm->k > 0)
        status = pmm_engines_check("portmm_prewarm", context, gemm);
    *gemm = pmm_gemm_form(gemm);
    return status;
}

/* With one engine there is nothing to choose, only to prepare. */
static portmm_status prepare_only_engine(portmm_context *context, pmm_engine_slot *slot, const pmm_gemm *gemm) {
    portmm_status status = pmm_scratch_run(context, slot, gemm);
    if (status == PORTMM_STATUS_SUCCESS) {
        pmm_scratch_capture(context);
        pmm_warmup_prove(context, slot->engine, gemm);
    }
    return status;
}

static portmm_status prewarm(portmm_context *context, const portmm_problem *problem) {
    pmm_gemm gemm;
    portmm_status status = read_problem(context, problem, &gemm);
    if (status != PORTMM_STATUS_SUCCESS || pmm_gemm_is_empty(&gemm) || gemm.k == 0)
        return status;
    if (pmm_cache_is_proving(&context->runtime.cache))
        return pmm_scratch_prove(context, &gemm);
    pmm_engine_slot *only = pmm_engines_find_only(context, &gemm);
    if (only != NULL)
        return prepare_only_engine(context, only, &gemm);
    pmm_choice choice;
    status = pmm_scratch_settle(context, &gemm, &choice);
    if (status == PORTMM_STATUS_SUCCESS)
        pmm_engines_apply(context, &gemm, &choice);
    return status;
}

portmm_status portmm_prewarm(portmm_context *context, const portmm_problem *problem) {
    pmm_clear_error();
    if (context == NULL || problem == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_prewarm: context or problem is NULL");
    portmm_status status = pmm_context_await_device("portmm_prewarm", context);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    status = prewarm(context, problem);
    pmm_flight_land(&context->runtime.cache); /* also after a failure */
    return status;
}

portmm_status portmm_cache_prewarm(portmm_context *context, const portmm_problem *problem,
                                   portmm_cache_prewarmed *report) {
    pmm_clear_error();
    if (context == NULL || report == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_cache_prewarm: context or report is NULL");
    pmm_cache *cache = &context->runtime.cache;
    portmm_status status = pmm_context_await_device("portmm_cache_prewarm", context);
    if (status != PORTMM_STATUS_SUCCESS)
        return status; /* the programs of the opening are not counted */
    uint64_t begin = pmm_clock_ns(), compiled = atomic_load(&cache->compiled), hits = atomic_load(&cache->hits),
             stores = atomic_load(&cache->stores);
    status = portmm_prewarm(context, problem);
    portmm_cache_prewarmed ours = {.struct_size = sizeof ours,
                                   .compiled = atomic_load(&cache->compiled) - compiled,
                                   .loaded = atomic_load(&cache->hits) - hits,
                                   .stored = atomic_load(&cache->stores) - stores,
                                   .failed = status != PORTMM_STATUS_SUCCESS,
                                   .ns = pmm_clock_ns() - begin};
    ours.already_there = ours.failed == 0 && ours.compiled == 0 && ours.stored == 0;
    portmm_status written = pmm_struct_out(report, &ours, sizeof ours, "report");
    return status != PORTMM_STATUS_SUCCESS ? status : written;
}
