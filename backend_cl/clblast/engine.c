/* SPDX-License-Identifier: Apache-2.0 */
/* Engine `clblast`: calls CLBlast, one call at a time, since it fills tables without a lock at its first use. */
#include "engine.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "cl_error.h"
#include "clblast.h"
#include "program.h"
#include "seam.h"

#include <clblast_c.h> /* last: cl_api.h says which OpenCL */

/* The application had loaded CLBlast before us: seen when its calls pass the seam by. Under host->lock. */
static bool shared_with_application;

/* The process ends: CLBlast's own state is about to be destroyed, or has been. */
static atomic_bool is_over;

static void note_end(void) {
    atomic_store(&is_over, true);
}

/* What all of CLBlast's products take; an offset is a number, or for a list the lists made of it. */
typedef struct call {
    CLBlastLayout layout; /* these have CBLAS's values */
    CLBlastTranspose transa, transb;
    size_t m, n, k, lda, ldb, ldc, count;
    size_t a_offset, b_offset, c_offset, a_stride, b_stride, c_stride;
    const size_t *a_offsets, *b_offsets, *c_offsets; /* NULL: strides */
    cl_mem a, b, c;
    cl_command_queue queue;
} call;

static call make_call(const pmm_queue *queue, const pmm_gemm *gemm) {
    return (call){.layout = (CLBlastLayout)gemm->layout,
                  .transa = (CLBlastTranspose)gemm->transa,
                  .transb = (CLBlastTranspose)gemm->transb,
                  .m = (size_t)gemm->m,
                  .n = (size_t)gemm->n,
                  .k = (size_t)gemm->k,
                  .lda = (size_t)gemm->lda,
                  .ldb = (size_t)gemm->ldb,
                  .ldc = (size_t)gemm->ldc,
                  .count = (size_t)gemm->batch_count,
                  .a_offset = (size_t)gemm->a_offset,
                  .b_offset = (size_t)gemm->b_offset,
                  .c_offset = (size_t)gemm->c_offset,
                  .a_stride = (size_t)gemm->a_stride,
                  .b_stride = (size_t)gemm->b_stride,
                  .c_stride = (size_t)gemm->c_stride,
                  .a = gemm->a->memory,
                  .b = gemm->b->memory,
                  .c = gemm->c->memory,
                  .queue = queue->queue};
}

/* One product, a batch by strides, or one by lists: then the scalars are lists, too, from `room`. */
#define DEFINE_RUN(letter, scalar)                                                                                     \
    static CLBlastStatusCode run_##letter(call *this, scalar alpha, scalar beta, void *room, cl_event *event) {        \
        if (this->count == 1)                                                                                          \
            return CLBlast##letter##gemm(this->layout, this->transa, this->transb, this->m, this->n, this->k, alpha,   \
                                         this->a, this->a_offset, this->lda, this->b, this->b_offset, this->ldb, beta, \
                                         this->c, this->c_offset, this->ldc, &this->queue, event);                     \
        if (this->a_offsets == NULL)                                                                                   \
            return CLBlast##letter##gemmStridedBatched(                                                                \
                this->layout, this->transa, this->transb, this->m, this->n, this->k, alpha, this->a, this->a_offset,   \
                this->lda, this->a_stride, this->b, this->b_offset, this->ldb, this->b_stride, beta, this->c,          \
                this->c_offset, this->ldc, this->c_stride, this->count, &this->queue, event);                          \
        scalar *alphas = room, *betas = alphas + this->count;                                                          \
        for (size_t i = 0; i < this->count; i++) {                                                                     \
            alphas[i] = alpha;                                                                                         \
            betas[i] = beta;                                                                                           \
        }                                                                                                              \
        return CLBlast##letter##gemmBatched(this->layout, this->transa, this->transb, this->m, this->n, this->k,       \
                                            alphas, this->a, this->a_offsets, this->lda, this->b, this->b_offsets,     \
                                            this->ldb, betas, this->c, this->c_offsets, this->ldc, this->count,        \
                                            &this->queue, event);                                                      \
    }

DEFINE_RUN(S, float)
DEFINE_RUN(D, double)
DEFINE_RUN(C, cl_float2)
DEFINE_RUN(Z, cl_double2)

static const char *const names[] = {[PORTMM_F32] = "CLBlast's SGEMM",
                                    [PORTMM_F64] = "CLBlast's DGEMM",
                                    [PORTMM_C32] = "CLBlast's CGEMM",
                                    [PORTMM_C64] = "CLBlast's ZGEMM"};

static CLBlastStatusCode run_type(call *this, const pmm_gemm *gemm, void *room, cl_event *event) {
    const double a[2] = {gemm->alpha, gemm->alpha_im}, b[2] = {gemm->beta, gemm->beta_im};
    if (gemm->dtype == PORTMM_F32)
        return run_S(this, (float)a[0], (float)b[0], room, event);
    if (gemm->dtype == PORTMM_F64)
        return run_D(this, a[0], b[0], room, event);
    if (gemm->dtype == PORTMM_C32)
        return run_C(this, (cl_float2){{(float)a[0], (float)a[1]}}, (cl_float2){{(float)b[0], (float)b[1]}}, room,
                     event);
    return run_Z(this, (cl_double2){{a[0], a[1]}}, (cl_double2){{b[0], b[1]}}, room, event);
}

static size_t *fill_list(size_t *list, size_t count, int64_t offset, int64_t stride, const int64_t *offsets) {
    for (size_t i = 0; i < count; i++)
        list[i] = (size_t)(offset + (offsets != NULL ? offsets[i] : (int64_t)i * stride));
    return list;
}

static CLBlastStatusCode call_clblast(const pmm_queue *queue, const pmm_gemm *gemm, cl_event *event) {
    call this = make_call(queue, gemm);
    if (this.count == 1 || (gemm->a_offsets == NULL && gemm->b_offsets == NULL && gemm->c_offsets == NULL))
        return run_type(&this, gemm, NULL, event);
    cl_double2 *room = malloc(this.count * (2 * sizeof *room + 3 * sizeof(size_t)));
    if (room == NULL)
        return (CLBlastStatusCode)CL_OUT_OF_HOST_MEMORY;
    size_t *lists = (size_t *)(void *)(room + 2 * this.count);
    this.a_offsets = fill_list(lists, this.count, gemm->a_offset, gemm->a_stride, gemm->a_offsets);
    this.b_offsets = fill_list(lists + this.count, this.count, gemm->b_offset, gemm->b_stride, gemm->b_offsets);
    this.c_offsets = fill_list(lists + 2 * this.count, this.count, gemm->c_offset, gemm->c_stride, gemm->c_offsets);
    CLBlastStatusCode code = run_type(&this, gemm, room, event);
    free(room); /* CLBlast has copied them */
    return code;
}

static int64_t pad(int64_t size) {
    const int64_t largest_tile = 128;
    return (size + largest_tile - 1) / largest_tile * largest_tile;
}

/* Beyond a small size CLBlast packs all matrices of a batch, padded to tiles, into one buffer that it indexes with
 * int. */
static portmm_status check_padded_size(const pmm_host *host, const pmm_gemm *gemm) {
    int64_t m = pad(gemm->m), n = pad(gemm->n), k = pad(gemm->k); /* each below 2^32 */
    if (m <= INT32_MAX / k && n <= INT32_MAX / k && m <= INT32_MAX / n &&
        m * k + k * n + m * n <= INT32_MAX / gemm->batch_count)
        return PORTMM_STATUS_SUCCESS;
    return host->fail(PORTMM_STATUS_UNSUPPORTED,
                      "opencl: %lld x %lld x %lld, %lld times and padded to tiles, is more than engine clblast can "
                      "index (2^31 elements); split the product, or use engine starter",
                      (long long)gemm->m, (long long)gemm->n, (long long)gemm->k, (long long)gemm->batch_count);
}

static portmm_status enqueue_gemm(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_gemm *gemm,
                                  cl_event *event, bool *new_launches) {
    const pmm_host *host = engine->device->host;
    portmm_status status = check_padded_size(host, gemm);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (atomic_load(&is_over))
        return host->fail(PORTMM_STATUS_UNAVAILABLE, "opencl: the process ends, and CLBlast is gone already");
    pmm_seam_enter(host);
    CLBlastStatusCode code = call_clblast(queue, gemm, event);
    pmm_seam_report report = pmm_seam_leave();
    if (code != CLBlastSuccess) {
        status = pmm_cl_fail(host, names[gemm->dtype], (cl_int)code);
        return report.failure[0] == '\0'
                   ? status
                   : host->fail(status, "opencl: the device's compiler refuses a program of CLBlast: %s",
                                report.failure);
    }
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
    if (shared_with_application || atomic_load(&is_over))
        return; /* its programs are not ours to drop, or dropped */
    pmm_seam_enter(host);
    CLBlastClearCache();
    pmm_seam_leave();
}

static const pmm_engine engine_table = {
    .name = "clblast",
    .dtypes = PMM_CL_CLBLAST_DTYPES,
    .features = PMM_ENGINE_BATCHES,
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
    /* CLBlast's destructors were registered when it was loaded, before this: they run after it. A context that is
     * destroyed by a handler registered still earlier, or a thread, comes later than both. */
    if (atexit(note_end) != 0)
        return NULL;
    pmm_seam_load(api);
    return &clblast;
}
