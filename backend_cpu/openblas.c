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
typedef char *text_fn(void);
typedef int number_fn(void);

struct pmm_engine_state {
    const pmm_host *host;
    sgemm_fn *sgemm;
    dgemm_fn *dgemm;
};

static void *find_library(const pmm_host *host, const char **why) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && library == NULL; i++)
        library = host->library_open(host, names[i], false, why);
    return library;
}

static void *open_library(const pmm_host *host) {
    const char *why = "";
    host->span_begin(host, PORTMM_PHASE_LOAD, "OpenBLAS");
    void *library = find_library(host, &why);
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

void pmm_cpu_describe_openblas(const pmm_host *host, pmm_properties *properties) {
    const char *why = "";
    void *library = find_library(host, &why);
    if (library == NULL) {
        properties->add(properties, "openblas", "cannot be loaded (%s); install libopenblas0", why);
        return;
    }
    text_fn *get_config = NULL, *get_kernel = NULL;
    number_fn *get_threads = NULL;
    if (find_function(host, library, "openblas_get_config", &get_config))
        properties->add(properties, "openblas", "%s", get_config());
    if (find_function(host, library, "openblas_get_corename", &get_kernel))
        properties->add(properties, "openblas_kernel", "%s", get_kernel());
    if (find_function(host, library, "openblas_get_num_threads", &get_threads))
        properties->add(properties, "openblas_threads", "%d", get_threads());
}

static portmm_status open_engine(pmm_device *device, pmm_engine_state **engine) {
    const pmm_host *host = device->host;
    void *library = open_library(host);
    if (library == NULL)
        return PORTMM_STATUS_UNAVAILABLE;
    text_fn *get_config = NULL;
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
    .dtypes = PORTMM_DTYPE_BIT(PORTMM_F32) | PORTMM_DTYPE_BIT(PORTMM_F64),
    .max_size = INT32_MAX,
    .max_index = INT64_MAX / 16, /* it multiplies indices in 64 bits */
    .open = open_engine,
    .close = close_engine,
    .gemm = run_gemm,
    .capture_wanted = never_wants_capture,
    .capture = capture_nothing,
};
