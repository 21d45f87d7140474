/* SPDX-License-Identifier: Apache-2.0 */
/* Engine `clblast`: calls CLBlast, one call at a time, since it fills tables without a lock at its first use. */
#include "engine.h"
#include "cl_error.h"
#include "clblast.h"
#include "program.h"
#include "seam.h"

#include <clblast_c.h> /* last: cl_api.h says which OpenCL */

/* The application had loaded CLBlast before us: seen when its calls pass the seam by. Under host->lock. */
static bool shared_with_application;

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

static int64_t pad(int64_t size) {
    const int64_t largest_tile = 128;
    return (size + largest_tile - 1) / largest_tile * largest_tile;
}

/* Beyond a small size CLBlast packs all three matrices, padded to tiles, into one buffer that it indexes with int. */
static portmm_status check_padded_size(const pmm_host *host, const pmm_gemm *gemm) {
    int64_t m = pad(gemm->m), n = pad(gemm->n), k = pad(gemm->k); /* each below 2^32 */
    if (m <= INT32_MAX / k && n <= INT32_MAX / k && m <= INT32_MAX / n && m * k + k * n + m * n <= INT32_MAX)
        return PORTMM_STATUS_SUCCESS;
    return host->fail(PORTMM_STATUS_UNSUPPORTED,
                      "opencl: %lld x %lld x %lld, padded to tiles, is more than engine clblast can index (2^31 "
                      "elements); split the product, or use engine starter",
                      (long long)gemm->m, (long long)gemm->n, (long long)gemm->k);
}

static portmm_status enqueue_gemm(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_gemm *gemm,
                                  cl_event *event, bool *new_launches) {
    const pmm_host *host = engine->device->host;
    portmm_status status = check_padded_size(host, gemm);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_seam_enter(host);
    CLBlastStatusCode code = call_clblast(queue, gemm, event);
    pmm_seam_report report = pmm_seam_leave();
    if (code != CLBlastSuccess)
        return pmm_cl_fail(host, gemm->dtype == PORTMM_F32 ? "CLBlastSgemm" : "CLBlastDgemm", (cl_int)code);
    if (!report.seen) {
        shared_with_application = true;
        host->cache_bypass(host);
    }
    *new_launches = report.new_launches;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    return pmm_cl_engine_gemm(engine, queue, gemm, wait_count, wait_list, event, enqueue_gemm);
}

static void forget(const pmm_host *host) {
    if (shared_with_application)
        return; /* its programs are not ours to drop */
    pmm_seam_enter(host);
    CLBlastClearCache();
    pmm_seam_leave();
}

static const pmm_engine engine_table = {
    .name = "clblast",
    .dtypes = PMM_CL_CLBLAST_DTYPES,
    .max_size = INT32_MAX,
    .max_index = INT32_MAX,
    .open = pmm_cl_engine_open,
    .close = pmm_cl_engine_close,
    .gemm = run_gemm,
    .capture_wanted = pmm_cl_engine_wanted,
    .capture = pmm_cl_engine_capture,
};

const pmm_clblast *pmm_clblast_entry(const pmm_cl_api *api) {
    static const pmm_clblast clblast = {.engine = &engine_table, .forget = forget};
    pmm_seam_load(api);
    return &clblast;
}
