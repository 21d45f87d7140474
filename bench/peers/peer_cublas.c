/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer of portmm-bench: cuBLAS on memory of the primary context, waited for with the driver's API. The driver and
 * cuBLAS are opened at run time, so that the program is built everywhere; the few declarations in use are here.
 *
 * cuBLAS is opened and its handle made in the first product: so first_gemm_ms is what cuBLAS takes until its first
 * result, and what else there is of process_to_result_ms is the least that any product on this device takes.
 */
#include "child.h"
#include "platform.h"
#include "platform_symbols.h"

#include <string.h>

typedef unsigned long long device_address;
typedef struct CUctx_st *cuda_context;
typedef struct cublasContext *cublas_handle;

/* The driver's functions, and cuBLAS's. */
#define CUDA_FUNCTIONS(X)                                                                                              \
    X(init, "cuInit", unsigned flags)                                                                                  \
    X(get_device, "cuDeviceGet", int *device, int index)                                                               \
    X(get_name, "cuDeviceGetName", char *name, int size, int device)                                                   \
    X(retain_context, "cuDevicePrimaryCtxRetain", cuda_context *context, int device)                                   \
    X(release_context, "cuDevicePrimaryCtxRelease_v2", int device)                                                     \
    X(set_context, "cuCtxSetCurrent", cuda_context context)                                                            \
    X(synchronize, "cuCtxSynchronize", void)                                                                           \
    X(allocate, "cuMemAlloc_v2", device_address *address, size_t size)                                                 \
    X(free, "cuMemFree_v2", device_address address)                                                                    \
    X(upload, "cuMemcpyHtoD_v2", device_address to, const void *from, size_t size)                                     \
    X(download, "cuMemcpyDtoH_v2", void *to, device_address from, size_t size)
#define CUBLAS_FUNCTIONS(X)                                                                                            \
    X(create, "cublasCreate_v2", cublas_handle *handle)                                                                \
    X(destroy, "cublasDestroy_v2", cublas_handle handle)                                                               \
    X(sgemm, "cublasSgemm_v2", cublas_handle handle, int transa, int transb, int m, int n, int k, const float *alpha,  \
      const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc)                          \
    X(dgemm, "cublasDgemm_v2", cublas_handle handle, int transa, int transb, int m, int n, int k, const double *alpha, \
      const double *a, int lda, const double *b, int ldb, const double *beta, double *c, int ldc)

typedef struct cublas {
    bench_problem problem;
    int device;
    cuda_context context;
    cublas_handle handle;
    device_address a, b, c;
    char device_name[256];
#define MEMBER(name, symbol, ...) int (*name)(__VA_ARGS__);
    struct {
        CUDA_FUNCTIONS(MEMBER)
    } cuda;
    struct {
        CUBLAS_FUNCTIONS(MEMBER)
    } blas;
#undef MEMBER
} cublas;

static bool check_code(int code, const char *call, bench_failure *failure) {
    if (code != 0) {
        bench_fail(failure, 0, "%s failed with code %d", call, code);
    }
    return code == 0;
}

/* The first of these libraries, NULL-terminated, that there is. */
static void *open_library(const char *const *names, bench_failure *failure) {
    char why[256] = "";
    void *library = NULL;
    for (; *names != NULL && library == NULL; names++) {
        library = bench_open_library(*names, why, sizeof why);
    }
    if (library == NULL) {
        bench_fail(failure, 0, "%s", why);
    }
    return library;
}

static bool find_function(void *library, const char *symbol, void *member, bench_failure *failure) {
    void *found = bench_find_symbol(library, symbol);
    memcpy(member, &found, sizeof found); /* ISO C has no cast for it */
    if (found == NULL) {
        bench_fail(failure, 0, "the library found has no %s", symbol);
    }
    return found != NULL;
}

static bool load_cuda(cublas *self, bench_failure *failure) {
    static const char *const names[] = {"libcuda.so.1", NULL};
    void *library = open_library(names, failure);
#define FIND(name, symbol, ...) &&find_function(library, symbol, &self->cuda.name, failure)
    return library != NULL CUDA_FUNCTIONS(FIND);
#undef FIND
}

static bool load_cublas(cublas *self, bench_failure *failure) {
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", NULL};
    void *library = open_library(names, failure);
#define FIND(name, symbol, ...) &&find_function(library, symbol, &self->blas.name, failure)
    return library != NULL CUBLAS_FUNCTIONS(FIND);
#undef FIND
}

static bool open_device(void *state, const bench_request *request, bench_failure *failure) {
    cublas *self = state;
    self->problem = request->problem;
    if (self->problem.dtype != BENCH_F32 && self->problem.dtype != BENCH_F64) {
        bench_fail(failure, 0, "this peer multiplies f32 and f64 only");
        return false;
    }
    return load_cuda(self, failure) && check_code(self->cuda.init(0), "cuInit", failure) &&
           check_code(self->cuda.get_device(&self->device, (int)request->device_index), "cuDeviceGet", failure) &&
           check_code(self->cuda.get_name(self->device_name, (int)sizeof self->device_name, self->device),
                      "cuDeviceGetName", failure) &&
           check_code(self->cuda.retain_context(&self->context, self->device), "cuDevicePrimaryCtxRetain", failure) &&
           check_code(self->cuda.set_context(self->context), "cuCtxSetCurrent", failure);
}

static size_t matrix_size(const bench_problem *problem, int64_t rows, int64_t columns) {
    return (size_t)rows * (size_t)columns * bench_dtype_size(problem->dtype);
}

static bool create_matrices(void *state, bench_failure *failure) {
    cublas *self = state;
    const bench_problem *p = &self->problem;
    return check_code(self->cuda.allocate(&self->a, matrix_size(p, p->m, p->k)), "cuMemAlloc", failure) &&
           check_code(self->cuda.allocate(&self->b, matrix_size(p, p->k, p->n)), "cuMemAlloc", failure) &&
           check_code(self->cuda.allocate(&self->c, matrix_size(p, p->m, p->n)), "cuMemAlloc", failure);
}

static bool upload(void *state, const bench_matrices *host, bench_failure *failure) {
    cublas *self = state;
    const bench_problem *p = &self->problem;
    return check_code(self->cuda.upload(self->a, host->a, matrix_size(p, p->m, p->k)), "cuMemcpyHtoD", failure) &&
           check_code(self->cuda.upload(self->b, host->b, matrix_size(p, p->k, p->n)), "cuMemcpyHtoD", failure);
}

#define AT(type, address) ((type *)(uintptr_t)(address))

/* The row-major product is the column-major one of the transposes: A and B change places. */
static bool enqueue(void *state, bench_failure *failure) {
    cublas *self = state;
    const bench_problem *p = &self->problem;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k, lda = (int)bench_lda(p), ldb = (int)bench_ldb(p);
    int transa = p->transa ? 1 : 0, transb = p->transb ? 1 : 0;
    if (p->dtype == BENCH_F32) {
        const float alpha = 1, beta = 0;
        return check_code(self->blas.sgemm(self->handle, transb, transa, n, m, k, &alpha, AT(float, self->b), ldb,
                                           AT(float, self->a), lda, &beta, AT(float, self->c), n),
                          "cublasSgemm", failure);
    }
    const double alpha = 1, beta = 0;
    return check_code(self->blas.dgemm(self->handle, transb, transa, n, m, k, &alpha, AT(double, self->b), ldb,
                                       AT(double, self->a), lda, &beta, AT(double, self->c), n),
                      "cublasDgemm", failure);
}

static bool finish(void *state, bench_failure *failure) {
    const cublas *self = state;
    return check_code(self->cuda.synchronize(), "cuCtxSynchronize", failure);
}

static bool multiply(void *state, bench_failure *failure) {
    cublas *self = state;
    if (self->handle == NULL &&
        (!load_cublas(self, failure) || !check_code(self->blas.create(&self->handle), "cublasCreate", failure))) {
        return false;
    }
    return enqueue(state, failure) && finish(state, failure);
}

static bool download(void *state, const bench_matrices *host, bench_failure *failure) {
    cublas *self = state;
    const bench_problem *p = &self->problem;
    return check_code(self->cuda.download(host->c, self->c, matrix_size(p, p->m, p->n)), "cuMemcpyDtoH", failure);
}

static bool describe(void *state, const bench_stamps *stamps, json_t *result, bench_failure *failure) {
    const cublas *self = state;
    (void)stamps;
    (void)failure;
    return json_object_set_new(result, "device", bench_json_string(self->device_name)) == 0;
}

static void close_device(void *state) {
    cublas *self = state;
    const device_address addresses[] = {self->a, self->b, self->c};
    if (self->handle != NULL) {
        (void)self->blas.destroy(self->handle);
    }
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        if (addresses[i] != 0) {
            (void)self->cuda.free(addresses[i]);
        }
    }
    if (self->context != NULL) {
        (void)self->cuda.release_context(self->device);
    }
}

static const bench_subject subject = {
    .connect = open_device,
    .allocate = create_matrices,
    .upload = upload,
    .multiply = multiply,
    .enqueue = enqueue,
    .finish = finish,
    .download = download,
    .describe = describe,
    .close = close_device,
};

int main(int argc, char **argv) {
    uint64_t entry = bench_clock_ns();
    cublas self = {0};
    return bench_child_main(&subject, &self, argc, argv, entry);
}
