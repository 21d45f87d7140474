/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engine `cublas`. The library maps more than half a gigabyte, so it is opened by name when it is first wanted, and its
 * headers, which need the CUDA runtime's, are not: the few declarations in use are here.
 *
 * A handle holds kernels that are loaded, and a workspace; to make one takes milliseconds. Each queue has its own while
 * it lives. Then the handle stays with the engine for the next queue: so a queue of the application finds the one that
 * the background thread has warmed up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_state.h"

typedef struct cublasContext *cublas_handle;
enum { CUBLAS_N = 0, CUBLAS_T = 1 };
enum { CUBLAS_HOST_POINTERS = 0, CUBLAS_DEFAULT_MATH = 0 };

typedef int sgemm_fn(cublas_handle handle, int transa, int transb, int64_t m, int64_t n, int64_t k, const float *alpha,
                     const float *a, int64_t lda, const float *b, int64_t ldb, const float *beta, float *c,
                     int64_t ldc);
typedef int dgemm_fn(cublas_handle handle, int transa, int transb, int64_t m, int64_t n, int64_t k, const double *alpha,
                     const double *a, int64_t lda, const double *b, int64_t ldb, const double *beta, double *c,
                     int64_t ldc);
typedef int sgemm_batch_fn(cublas_handle handle, int transa, int transb, int64_t m, int64_t n, int64_t k,
                           const float *alpha, const float *a, int64_t lda, long long a_stride, const float *b,
                           int64_t ldb, long long b_stride, const float *beta, float *c, int64_t ldc,
                           long long c_stride, int64_t count);
typedef int dgemm_batch_fn(cublas_handle handle, int transa, int transb, int64_t m, int64_t n, int64_t k,
                           const double *alpha, const double *a, int64_t lda, long long a_stride, const double *b,
                           int64_t ldb, long long b_stride, const double *beta, double *c, int64_t ldc,
                           long long c_stride, int64_t count);
typedef int create_fn(cublas_handle *handle);
typedef int destroy_fn(cublas_handle handle);
typedef int set_stream_fn(cublas_handle handle, CUstream stream);
typedef int set_number_fn(cublas_handle handle, int value);
typedef int get_version_fn(cublas_handle handle, int *version);
typedef const char *get_text_fn(int status);

/* All of them are in cuBLAS 12 and later. */
#define FUNCTIONS(X)                                                                                                   \
    X(create, create_fn, "cublasCreate_v2")                                                                            \
    X(destroy, destroy_fn, "cublasDestroy_v2")                                                                         \
    X(get_version, get_version_fn, "cublasGetVersion_v2")                                                              \
    X(get_status_name, get_text_fn, "cublasGetStatusName")                                                             \
    X(set_stream, set_stream_fn, "cublasSetStream_v2")                                                                 \
    X(set_pointer_mode, set_number_fn, "cublasSetPointerMode_v2")                                                      \
    X(set_math_mode, set_number_fn, "cublasSetMathMode")                                                               \
    X(sgemm, sgemm_fn, "cublasSgemm_v2_64")                                                                            \
    X(dgemm, dgemm_fn, "cublasDgemm_v2_64")                                                                            \
    X(sgemm_batch, sgemm_batch_fn, "cublasSgemmStridedBatched_64")                                                     \
    X(dgemm_batch, dgemm_batch_fn, "cublasDgemmStridedBatched_64")

typedef struct cublas_api {
#define MEMBER(name, type, symbol) type *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} cublas_api;

typedef struct pmm_cublas_handle pmm_cublas_handle;
struct pmm_cublas_handle {
    cublas_handle handle;
    pmm_engine_state *engine;
    pmm_cublas_handle *next;
};

struct pmm_engine_state {
    pmm_device *device;
    cublas_api api;
    pmm_cublas_handle *idle; /* under host->lock */
};

/* ---- the library ---- */

/* Latest first. A library of a later CUDA than the driver's does not work with it. */
static const struct {
    const char *name;
    int cuda;
} libraries[] = {{"libcublas.so.13", 13}, {"libcublas.so.12", 12}};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

static portmm_status open_library(const pmm_host *host, int cuda_version, void **library) {
    char reasons[512] = "";
    const char *why = "";
    void *found = NULL;
    host->span_begin(host, PORTMM_PHASE_LOAD, "cuBLAS");
    for (int i = 0; i < LIBRARIES && found == NULL; i++) {
        size_t used = strlen(reasons);
        why = "it is newer than the driver";
        if (libraries[i].cuda <= cuda_version / 1000)
            found = host->library_open(host, libraries[i].name, false, &why);
        snprintf(reasons + used, sizeof reasons - used, "%s%s: %s", used > 0 ? "; " : "", libraries[i].name, why);
    }
    host->span_end(host);
    if (found == NULL)
        return host->fail(PORTMM_STATUS_UNAVAILABLE,
                          "cuda: engine cublas cannot be loaded (%s); install cuBLAS, or name its directory in "
                          "LD_LIBRARY_PATH",
                          reasons);
    *library = found;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status find_functions(const pmm_host *host, void *library, cublas_api *api) {
    const struct {
        const char *name;
        void *member;
    } functions[] = {
#define ROW(name, type, symbol) {symbol, &api->name},
        FUNCTIONS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = host->library_symbol(library, functions[i].name);
        if (symbol == NULL)
            return host->fail(PORTMM_STATUS_UNAVAILABLE,
                              "cuda: the cuBLAS found has no %s: it is older than 12; install a newer one",
                              functions[i].name);
        memcpy(functions[i].member, &symbol, sizeof symbol); /* ISO C has no cast for it */
    }
    return PORTMM_STATUS_SUCCESS;
}

/* ---- errors ---- */

/* cuBLAS says only that something failed; the driver remembers if the device is lost. With the context current. */
static portmm_status check(pmm_engine_state *engine, const char *call, int code, CUstream stream) {
    static const struct {
        int code;
        portmm_status status;
    } meanings[] = {{1, PORTMM_STATUS_UNAVAILABLE},   /* not initialised: no memory, or the driver does not fit */
                    {3, PORTMM_STATUS_OUT_OF_MEMORY}, /* allocation failed */
                    {8, PORTMM_STATUS_UNSUPPORTED},   /* architecture */
                    {15, PORTMM_STATUS_UNSUPPORTED},
                    {16, PORTMM_STATUS_UNAVAILABLE}}; /* licence */
    if (code == 0)
        return PORTMM_STATUS_SUCCESS;
    pmm_device *device = engine->device;
    CUresult driver = device->api->cuStreamQuery(stream);
    if (driver != CUDA_SUCCESS && driver != CUDA_ERROR_NOT_READY) {
        portmm_status told = pmm_cuda_check(device, call, driver);
        if (told == PORTMM_STATUS_DEVICE_LOST)
            return told;
    }
    portmm_status status = PORTMM_STATUS_DEVICE_ERROR;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].code == code)
            status = meanings[i].status;
    const char *name = engine->api.get_status_name(code);
    return device->host->fail(status, "cuda: %s: %s (%d)", call, name != NULL ? name : "an unknown error", code);
}

/* ---- handles ---- */

static portmm_status create_handle(pmm_engine_state *engine, pmm_cublas_handle **handle) {
    const cublas_api *api = &engine->api;
    pmm_cublas_handle *made = calloc(1, sizeof *made);
    if (made == NULL)
        return engine->device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory for a cuBLAS handle");
    made->engine = engine;
    portmm_status status = check(engine, "cublasCreate", api->create(&made->handle), NULL);
    if (status != PORTMM_STATUS_SUCCESS) {
        free(made);
        return status;
    }
    /* The default precision: no TF32 for f32. */
    status = check(engine, "cublasSetMathMode", api->set_math_mode(made->handle, CUBLAS_DEFAULT_MATH), NULL);
    if (status == PORTMM_STATUS_SUCCESS)
        status = check(engine, "cublasSetPointerMode", api->set_pointer_mode(made->handle, CUBLAS_HOST_POINTERS), NULL);
    if (status == PORTMM_STATUS_SUCCESS) {
        *handle = made;
        return status;
    }
    api->destroy(made->handle);
    free(made);
    return status;
}

static void put_back(pmm_cublas_handle *handle) {
    pmm_engine_state *engine = handle->engine;
    const pmm_host *host = engine->device->host;
    host->lock(host);
    handle->next = engine->idle;
    engine->idle = handle;
    host->unlock(host);
}

/* The queue's handle, with its stream set. With the context current. */
static portmm_status get_handle(pmm_engine_state *engine, pmm_queue *queue, cublas_handle *handle) {
    const pmm_host *host = engine->device->host;
    pmm_cublas_handle *taken = queue->handle;
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (taken == NULL) {
        host->lock(host);
        taken = engine->idle;
        if (taken != NULL)
            engine->idle = taken->next;
        host->unlock(host);
        if (taken == NULL)
            status = create_handle(engine, &taken);
        if (status == PORTMM_STATUS_SUCCESS)
            status =
                check(engine, "cublasSetStream", engine->api.set_stream(taken->handle, queue->stream), queue->stream);
        if (status != PORTMM_STATUS_SUCCESS) {
            if (taken != NULL)
                put_back(taken);
            return status;
        }
        queue->handle = taken;
    }
    *handle = taken->handle;
    return PORTMM_STATUS_SUCCESS;
}

void pmm_cuda_cublas_leave_queue(pmm_queue *queue) {
    if (queue->handle != NULL)
        put_back(queue->handle);
    queue->handle = NULL;
}

/* ---- the engine ---- */

static void close_engine(pmm_engine_state *engine) {
    bool entered = pmm_cuda_enter(engine->device) == PORTMM_STATUS_SUCCESS;
    while (engine->idle != NULL) {
        pmm_cublas_handle *gone = engine->idle;
        engine->idle = gone->next;
        if (entered)
            engine->api.destroy(gone->handle);
        free(gone);
    }
    if (entered)
        pmm_cuda_leave(engine->device);
    free(engine);
}

/* A first handle at once, so that a cuBLAS that does not work here is known now. */
static portmm_status create_first_handle(pmm_engine_state *engine) {
    pmm_cublas_handle *first;
    int version = 0;
    portmm_status status = pmm_cuda_enter(engine->device);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    status = create_handle(engine, &first);
    if (status == PORTMM_STATUS_SUCCESS) {
        if (engine->api.get_version(first->handle, &version) == 0)
            engine->device->host->log(engine->device->host, PORTMM_LOG_INFO, "cuBLAS %d.%d.%d", version / 10000,
                                      version / 100 % 100, version % 100);
        put_back(first);
    }
    pmm_cuda_leave(engine->device);
    return status;
}

static portmm_status open_engine(pmm_device *device, pmm_engine_state **engine) {
    const pmm_host *host = device->host;
    void *library = NULL;
    pmm_engine_state *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory for an engine");
    made->device = device;
    portmm_status status = open_library(host, device->state->cuda_version, &library);
    if (status == PORTMM_STATUS_SUCCESS)
        status = find_functions(host, library, &made->api);
    if (status == PORTMM_STATUS_SUCCESS)
        status = create_first_handle(made);
    if (status == PORTMM_STATUS_SUCCESS)
        *engine = made;
    else
        close_engine(made);
    return status;
}

/* ---- products ---- */

/* cuBLAS is column-major. A row-major product is the column-major one of the transposes, C^T := op(B)^T * op(A)^T: the
 * same memory, with A and B in each other's place. */
typedef struct call {
    int transa, transb;
    int64_t m, n, k, lda, ldb, ldc, a_stride, b_stride, c_stride;
    CUdeviceptr a, b, c;
} call;

static int get_operation(portmm_transpose transpose) {
    return transpose == PORTMM_NO_TRANS ? CUBLAS_N : CUBLAS_T; /* real types */
}

static call make_call(const pmm_gemm *gemm, int64_t number) {
    const uint64_t size = gemm->dtype == PORTMM_F64 ? sizeof(double) : sizeof(float);
    const pmm_cuda_place at = pmm_cuda_place_in_batch(gemm, number);
    CUdeviceptr a = gemm->a->address + (uint64_t)at.a * size, b = gemm->b->address + (uint64_t)at.b * size;
    call this = {
        .k = gemm->k, .ldc = gemm->ldc, .c = gemm->c->address + (uint64_t)at.c * size, .c_stride = gemm->c_stride};
    bool rows = gemm->layout == PORTMM_ROW_MAJOR;
    this.m = rows ? gemm->n : gemm->m;
    this.n = rows ? gemm->m : gemm->n;
    this.transa = get_operation(rows ? gemm->transb : gemm->transa);
    this.transb = get_operation(rows ? gemm->transa : gemm->transb);
    this.lda = rows ? gemm->ldb : gemm->lda;
    this.ldb = rows ? gemm->lda : gemm->ldb;
    this.a = rows ? b : a;
    this.b = rows ? a : b;
    this.a_stride = rows ? gemm->b_stride : gemm->a_stride;
    this.b_stride = rows ? gemm->a_stride : gemm->b_stride;
    return this;
}

/* Device addresses as the pointers that cuBLAS wants. */
#define AT(type, address) ((type *)(uintptr_t)(address))

static int run_f32(const cublas_api *api, cublas_handle handle, const call *this, const pmm_gemm *gemm, int64_t count) {
    const float alpha = (float)gemm->alpha, beta = (float)gemm->beta;
    if (count == 1)
        return api->sgemm(handle, this->transa, this->transb, this->m, this->n, this->k, &alpha, AT(float, this->a),
                          this->lda, AT(float, this->b), this->ldb, &beta, AT(float, this->c), this->ldc);
    return api->sgemm_batch(handle, this->transa, this->transb, this->m, this->n, this->k, &alpha, AT(float, this->a),
                            this->lda, this->a_stride, AT(float, this->b), this->ldb, this->b_stride, &beta,
                            AT(float, this->c), this->ldc, this->c_stride, count);
}

static int run_f64(const cublas_api *api, cublas_handle handle, const call *this, const pmm_gemm *gemm, int64_t count) {
    if (count == 1)
        return api->dgemm(handle, this->transa, this->transb, this->m, this->n, this->k, &gemm->alpha,
                          AT(double, this->a), this->lda, AT(double, this->b), this->ldb, &gemm->beta,
                          AT(double, this->c), this->ldc);
    return api->dgemm_batch(handle, this->transa, this->transb, this->m, this->n, this->k, &gemm->alpha,
                            AT(double, this->a), this->lda, this->a_stride, AT(double, this->b), this->ldb,
                            this->b_stride, &gemm->beta, AT(double, this->c), this->ldc, this->c_stride, count);
}

static portmm_status launch_products(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm) {
    cublas_handle handle = NULL;
    portmm_status status = get_handle(engine, queue, &handle);
    int64_t each = pmm_cuda_has_lists(gemm) ? 1 : gemm->batch_count;
    for (int64_t first = 0; first < gemm->batch_count && status == PORTMM_STATUS_SUCCESS; first += each) {
        const call this = make_call(gemm, first);
        int code = gemm->dtype == PORTMM_F64 ? run_f64(&engine->api, handle, &this, gemm, each)
                                             : run_f32(&engine->api, handle, &this, gemm, each);
        status = check(engine, "a product of cuBLAS", code, queue->stream);
    }
    return status;
}

static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    return pmm_cuda_engine_gemm(engine, queue, gemm, wait_count, wait_list, event, launch_products);
}

const pmm_engine pmm_cuda_cublas = {
    .name = "cublas",
    .dtypes = PORTMM_DTYPE_BIT(PORTMM_F32) | PORTMM_DTYPE_BIT(PORTMM_F64),
    .features = PMM_ENGINE_BATCHES | PMM_ENGINE_QUIET,
    .max_size = INT64_MAX / 16,
    .max_index = INT64_MAX / 16, /* its functions in use take 64-bit sizes */
    .open = open_engine,
    .close = close_engine,
    .gemm = run_gemm,
    .capture_wanted = pmm_cuda_never_wants_capture,
    .capture = pmm_cuda_capture_nothing,
};
