/* SPDX-License-Identifier: Apache-2.0 */
/* Engine `openblas`: the CBLAS interface of OpenBLAS. The library is opened by name, so that an application's own BLAS
 * is never called in its place, and none of its global settings is touched. */
#include "cpu.h"

#include <stdlib.h>
#include <string.h>

/* cblas.h of a build with 32-bit integers; enumerations are passed as int. */
typedef void sgemm_fn(int layout, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);
typedef void dgemm_fn(int layout, int transa, int transb, int m, int n, int k, double alpha, const double *a, int lda,
                      const double *b, int ldb, double beta, double *c, int ldc);
typedef char *config_fn(void);

struct pmm_engine_state {
    const pmm_host *host;
    sgemm_fn *sgemm;
    dgemm_fn *dgemm;
};

static void *open_library(const pmm_host *host) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    const char *why = "";
    host->span_begin(host, PORTMM_PHASE_LOAD, "OpenBLAS");
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && library == NULL; i++)
        library = host->library_open(host, names[i], false, &why);
    host->span_end(host);
    if (library == NULL)
        host->fail(PORTMM_STATUS_UNAVAILABLE, "cpu: OpenBLAS cannot be loaded (%s); install libopenblas0", why);
    return library;
}

/* ISO C has no cast from an object pointer to a function pointer. */
static bool find_function(const pmm_host *host, void *library, const char *name, void *function) {
    void *symbol = host->library_symbol(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static portmm_status open_engine(pmm_device *device, pmm_engine_state **engine) {
    const pmm_host *host = device->host;
    void *library = open_library(host);
    if (library == NULL)
        return PORTMM_STATUS_UNAVAILABLE;
    config_fn *get_config = NULL;
    sgemm_fn *sgemm = NULL;
    dgemm_fn *dgemm = NULL;
    if (!find_function(host, library, "cblas_sgemm", &sgemm) || !find_function(host, library, "cblas_dgemm", &dgemm) ||
        !find_function(host, library, "openblas_get_config", &get_config))
        return host->fail(PORTMM_STATUS_UNAVAILABLE,
                          "cpu: the OpenBLAS found has no CBLAS interface; install libopenblas0");
    const char *config = get_config();
    host->log(host, PORTMM_LOG_INFO, "%s", config);
    if (strstr(config, "USE64BITINT") != NULL)
        return host->fail(PORTMM_STATUS_UNAVAILABLE,
                          "cpu: the OpenBLAS found takes 64-bit integers; install the one with 32-bit integers");
    pmm_engine_state *made = malloc(sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cpu: no memory for an engine");
    *made = (pmm_engine_state){.host = host, .sgemm = sgemm, .dgemm = dgemm};
    *engine = made;
    return PORTMM_STATUS_SUCCESS;
}

static void close_engine(pmm_engine_state *engine) {
    free(engine);
}

static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    (void)queue, (void)wait_count, (void)wait_list; /* all earlier commands are complete */
    int layout = (int)gemm->layout, transa = (int)gemm->transa, transb = (int)gemm->transb;
    int m = (int)gemm->m, n = (int)gemm->n, k = (int)gemm->k;
    int lda = (int)gemm->lda, ldb = (int)gemm->ldb, ldc = (int)gemm->ldc;
    const void *a = gemm->a->memory, *b = gemm->b->memory;
    void *c = gemm->c->memory;
    if (gemm->dtype == PORTMM_F32)
        engine->sgemm(layout, transa, transb, m, n, k, (float)gemm->alpha, (const float *)a + gemm->a_offset, lda,
                      (const float *)b + gemm->b_offset, ldb, (float)gemm->beta, (float *)c + gemm->c_offset, ldc);
    else
        engine->dgemm(layout, transa, transb, m, n, k, gemm->alpha, (const double *)a + gemm->a_offset, lda,
                      (const double *)b + gemm->b_offset, ldb, gemm->beta, (double *)c + gemm->c_offset, ldc);
    if (event != NULL)
        *event = &pmm_cpu_complete;
    return PORTMM_STATUS_SUCCESS;
}

static bool never_wants_capture(pmm_engine_state *engine) {
    (void)engine;
    return false;
}

static void capture_nothing(pmm_engine_state *engine) {
    (void)engine;
}

const pmm_engine pmm_cpu_openblas = {
    .name = "openblas",
    .max_size = INT32_MAX,
    .max_index = INT64_MAX / 16, /* it multiplies indices in 64 bits */
    .open = open_engine,
    .close = close_engine,
    .gemm = run_gemm,
    .capture_wanted = never_wants_capture,
    .capture = capture_nothing,
};
