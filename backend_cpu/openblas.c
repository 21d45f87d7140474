/* SPDX-License-Identifier: Apache-2.0 */
/* Engine `openblas`: the CBLAS interface of OpenBLAS. The library is opened by name, so that an application's own BLAS
 * is never called in its place, and none of its global settings is touched. */
#include "cpu.h"

#include <stdlib.h>
#include <string.h>

#include "epilogue.h"
#include "narrow.h"

/* As pmm_cpu_sgemm_fn; a complex type's scalars are pairs. */
typedef void dgemm_fn(int layout, int transa, int transb, int m, int n, int k, double alpha, const double *a, int lda,
                      const double *b, int ldb, double beta, double *c, int ldc);
typedef void complex_fn(int layout, int transa, int transb, int m, int n, int k, const void *alpha, const void *a,
                        int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
typedef char *text_fn(void);
typedef int number_fn(void);

struct pmm_engine_state {
    const pmm_host *host;
    pmm_cpu_sgemm_fn *sgemm;
    dgemm_fn *dgemm;
    complex_fn *cgemm, *zgemm;
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
    pmm_engine_state found = {.host = host};
    if (!find_function(host, library, "cblas_sgemm", &found.sgemm) ||
        !find_function(host, library, "cblas_dgemm", &found.dgemm) ||
        !find_function(host, library, "cblas_cgemm", &found.cgemm) ||
        !find_function(host, library, "cblas_zgemm", &found.zgemm) ||
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
    *made = found;
    *engine = made;
    return PORTMM_STATUS_SUCCESS;
}

static void close_engine(pmm_engine_state *engine) {
    free(engine);
}

static void run_complex(complex_fn *function, const pmm_gemm *gemm, const void *alpha, const void *beta, void *a,
                        void *b, void *c) {
    function((int)gemm->layout, (int)gemm->transa, (int)gemm->transb, (int)gemm->m, (int)gemm->n, (int)gemm->k, alpha,
             a, (int)gemm->lda, b, (int)gemm->ldb, beta, c, (int)gemm->ldc);
}

/* A product in a type that OpenBLAS has; a, b and c are where the matrices begin. */
static void run_native(const pmm_engine_state *engine, const pmm_gemm *gemm, void *a, void *b, void *c) {
    int layout = (int)gemm->layout, transa = (int)gemm->transa, transb = (int)gemm->transb;
    int m = (int)gemm->m, n = (int)gemm->n, k = (int)gemm->k;
    int lda = (int)gemm->lda, ldb = (int)gemm->ldb, ldc = (int)gemm->ldc;
    if (gemm->dtype == PORTMM_F32) {
        engine->sgemm(layout, transa, transb, m, n, k, (float)gemm->alpha, a, lda, b, ldb, (float)gemm->beta, c, ldc);
    } else if (gemm->dtype == PORTMM_F64) {
        engine->dgemm(layout, transa, transb, m, n, k, gemm->alpha, a, lda, b, ldb, gemm->beta, c, ldc);
    } else if (gemm->dtype == PORTMM_C32) {
        const float alpha[2] = {(float)gemm->alpha, (float)gemm->alpha_im};
        const float beta[2] = {(float)gemm->beta, (float)gemm->beta_im};
        run_complex(engine->cgemm, gemm, alpha, beta, a, b, c);
    } else {
        const double alpha[2] = {gemm->alpha, gemm->alpha_im}, beta[2] = {gemm->beta, gemm->beta_im};
        run_complex(engine->zgemm, gemm, alpha, beta, a, b, c);
    }
}

static void *get_start(const pmm_buffer *buffer, int64_t offset, size_t element) {
    return buffer->memory + (size_t)offset * element;
}

static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    static const size_t sizes[] = {[PORTMM_F32] = 4, [PORTMM_F64] = 8, [PORTMM_C32] = 8, [PORTMM_C64] = 16};
    (void)queue, (void)wait_count, (void)wait_list; /* all earlier commands are complete */
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (gemm->dtype == PORTMM_F16 || gemm->dtype == PORTMM_BF16) {
        status = pmm_cpu_narrow_gemm(engine->host, engine->sgemm, gemm);
    } else {
        size_t element = sizes[gemm->dtype];
        void *c = get_start(gemm->c, gemm->c_offset, element);
        run_native(engine, gemm, get_start(gemm->a, gemm->a_offset, element),
                   get_start(gemm->b, gemm->b_offset, element), c);
        if (pmm_cpu_has_epilogue(gemm)) {
            const pmm_cpu_epilogue finish = pmm_cpu_make_epilogue(gemm, gemm->ldc);
            const pmm_epilogue *epilogue = &gemm->epilogue;
            pmm_cpu_finish(&finish, gemm->dtype, c,
                           finish.has_bias ? get_start(epilogue->bias, epilogue->bias_offset, element) : NULL);
        }
    }
    if (status == PORTMM_STATUS_SUCCESS && event != NULL)
        *event = &pmm_cpu_complete;
    return status;
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
    .dtypes = PORTMM_DTYPE_BIT(PORTMM_F32) | PORTMM_DTYPE_BIT(PORTMM_F64) | PORTMM_DTYPE_BIT(PORTMM_C32) |
              PORTMM_DTYPE_BIT(PORTMM_C64) | PORTMM_DTYPE_BIT(PORTMM_F16) | PORTMM_DTYPE_BIT(PORTMM_BF16),
    .features = PMM_ENGINE_EPILOGUES, /* batches are a loop: the core's */
    .max_size = INT32_MAX,
    .max_index = INT64_MAX / 16, /* it multiplies indices in 64 bits */
    .open = open_engine,
    .close = close_engine,
    .gemm = run_gemm,
    .capture_wanted = never_wants_capture,
    .capture = capture_nothing,
};
