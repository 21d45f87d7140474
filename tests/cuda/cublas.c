/* SPDX-License-Identifier: Apache-2.0 */
/* A cuBLAS for tests, on the driver for tests. With CUBLAS_IS_OLD it lacks what came with cuBLAS 12. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "cuda/driver.h"

typedef struct handle {
    void *stream;
} handle;

enum { FAILED = 13, IN_CONTEXT = 1 };

/* A code of the driver becomes one of cuBLAS. */
#define BEGIN()                                                                                                        \
    do {                                                                                                               \
        if (test_cuda_begin(__func__, IN_CONTEXT) != 0)                                                                \
            return FAILED;                                                                                             \
    } while (0)

int cublasCreate_v2(handle **made) {
    BEGIN();
    *made = calloc(1, sizeof **made);
    return 0;
}

int cublasDestroy_v2(handle *gone) {
    free(gone);
    BEGIN();
    return 0;
}

#ifndef CUBLAS_IS_OLD
int cublasGetVersion_v2(handle *this, int *version) {
    (void)this;
    *version = 130000;
    return 0;
}

const char *cublasGetStatusName(int status) {
    return status == FAILED ? "CUBLAS_STATUS_EXECUTION_FAILED" : "CUBLAS_STATUS_OF_TEST";
}

int cublasSetStream_v2(handle *this, void *stream) {
    BEGIN();
    this->stream = stream;
    return 0;
}

int cublasSetPointerMode_v2(handle *this, int mode) {
    (void)this;
    return mode;
}

int cublasSetMathMode(handle *this, int mode) {
    (void)this;
    return mode;
}

/* Column-major, as in the standard BLAS. */
#define DEFINE_GEMM(name, real)                                                                                        \
    static void run_##name(bool transa, bool transb, int64_t m, int64_t n, int64_t k, real alpha, const real *a,       \
                           int64_t lda, const real *b, int64_t ldb, real beta, real *c, int64_t ldc) {                 \
        for (int64_t j = 0; j < n; j++)                                                                                \
            for (int64_t i = 0; i < m; i++) {                                                                          \
                real sum = 0;                                                                                          \
                for (int64_t p = 0; p < k; p++)                                                                        \
                    sum += (transa ? a[p + i * lda] : a[i + p * lda]) * (transb ? b[j + p * ldb] : b[p + j * ldb]);    \
                c[i + j * ldc] = beta != 0 ? alpha * sum + beta * c[i + j * ldc] : alpha * sum;                        \
            }                                                                                                          \
    }                                                                                                                  \
    int cublas##name##_v2(handle *this, int transa, int transb, int m, int n, int k, const real *alpha, const real *a, \
                          int lda, const real *b, int ldb, const real *beta, real *c, int ldc) {                       \
        (void)this;                                                                                                    \
        BEGIN();                                                                                                       \
        run_##name(transa != 0, transb != 0, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);                          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    int cublas##name##_v2_64(handle *this, int transa, int transb, int64_t m, int64_t n, int64_t k, const real *alpha, \
                             const real *a, int64_t lda, const real *b, int64_t ldb, const real *beta, real *c,        \
                             int64_t ldc) {                                                                            \
        (void)this;                                                                                                    \
        BEGIN();                                                                                                       \
        run_##name(transa != 0, transb != 0, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);                          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    int cublas##name##StridedBatched_64(handle *this, int transa, int transb, int64_t m, int64_t n, int64_t k,         \
                                        const real *alpha, const real *a, int64_t lda, long long a_stride,             \
                                        const real *b, int64_t ldb, long long b_stride, const real *beta, real *c,     \
                                        int64_t ldc, long long c_stride, int64_t count) {                              \
        (void)this;                                                                                                    \
        BEGIN();                                                                                                       \
        for (int64_t i = 0; i < count; i++)                                                                            \
            run_##name(transa != 0, transb != 0, m, n, k, *alpha, a + i * a_stride, lda, b + i * b_stride, ldb, *beta, \
                       c + i * c_stride, ldc);                                                                         \
        return 0;                                                                                                      \
    }
DEFINE_GEMM(Sgemm, float)
DEFINE_GEMM(Dgemm, double)
#endif
