/* SPDX-License-Identifier: Apache-2.0 */
/* Engine `clblast`: calls CLBlast, one call at a time, since it fills tables without a lock at its first use. */
#include <clblast_c.h>

#include "cl_error.h"
#include "clblast.h"
#include "engine.h"
#include "program.h"
#include "seam.h"

static CLBlastStatusCode call_clblast(const pmm_queue *queue, const pmm_gemm *gemm, cl_event *event) {
    CLBlastLayout layout = (CLBlastLayout)gemm->layout; /* both have CBLAS's values */
    CLBlastTranspose transa = (CLBlastTranspose)gemm->transa, transb = (CLBlastTranspose)gemm->transb;
    size_t m = (size_t)gemm->m, n = (size_t)gemm->n, k = (size_t)gemm->k;
    size_t a_offset = (size_t)gemm->a_offset, b_offset = (size_t)gemm->b_offset, c_offset = (size_t)gemm->c_offset;
    size_t lda = (size_t)gemm->lda, ldb = (size_t)gemm->ldb, ldc = (size_t)gemm->ldc;
    cl_command_queue handle = queue->queue;
    cl_mem a = gemm->a->memory, b = gemm->b->memory, c = gemm->c->memory;
    if (gemm->dtype == PORTMM_F32)
        return CLBlastSgemm(layout, transa, transb, m, n, k, (float)gemm->alpha, a, a_offset, lda, b, b_offset, ldb,
                            (float)gemm->beta, c, c_offset, ldc, &handle, event);
    return CLBlastDgemm(layout, transa, transb, m, n, k, gemm->alpha, a, a_offset, lda, b, b_offset, ldb, gemm->beta, c,
                        c_offset, ldc, &handle, event);
}

static portmm_status enqueue_gemm(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_gemm *gemm,
                                  cl_event *event, bool *new_launches) {
    const pmm_host *host = engine->device->host;
    pmm_seam_enter(host, engine->device->api);
    CLBlastStatusCode code = call_clblast(queue, gemm, event);
    pmm_seam_report report = pmm_seam_leave();
    if (code != CLBlastSuccess)
        return pmm_cl_fail(host, gemm->dtype == PORTMM_F32 ? "CLBlastSgemm" : "CLBlastDgemm", (cl_int)code);
    if (!report.seen)
        host->cache_bypass(host);
    *new_launches = report.new_launches;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    return pmm_cl_engine_gemm(engine, queue, gemm, wait_count, wait_list, event, enqueue_gemm);
}

static void forget(const pmm_host *host, const pmm_cl_api *api) {
    pmm_seam_enter(host, api);
    CLBlastClearCache();
    pmm_seam_leave();
}

static const pmm_engine engine_table = {
    .name = "clblast",
    .max_size = INT32_MAX,
    .max_index = INT32_MAX,
    .open = pmm_cl_engine_open,
    .close = pmm_cl_engine_close,
    .gemm = run_gemm,
    .capture_wanted = pmm_cl_engine_wanted,
    .capture = pmm_cl_engine_capture,
};

const pmm_clblast *pmm_clblast_entry(void) {
    static const pmm_clblast clblast = {.engine = &engine_table, .forget = forget};
    return &clblast;
}
