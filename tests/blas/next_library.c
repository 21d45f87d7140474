/* SPDX-License-Identifier: Apache-2.0 */
#include "next_library.h"

#include <time.h>

#include <portmm/backend.h>

PMM_EXPORT next_control next_library;

#define FORTRAN_ARGUMENTS                                                                                              \
    const char *transa, const char *transb, const int *m, const int *n, const int *k, const float *alpha,              \
        const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc
/* Found in the order of the dynamic linker, as the reference BLAS finds it: that is ours, again. */
PMM_EXPORT void sgemm_(FORTRAN_ARGUMENTS);
PMM_EXPORT void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha, const float *a,
                            int lda, const float *b, int ldb, float beta, float *c, int ldc);

void sgemm_(FORTRAN_ARGUMENTS) {
    for (int i = 0; i < *m; i++)
        for (int j = 0; j < *n; j++) {
            float sum = 0;
            for (int p = 0; p < *k; p++)
                sum += (*transa == 'N' ? a[p * *lda + i] : a[i * *lda + p]) *
                       (*transb == 'N' ? b[j * *ldb + p] : b[p * *ldb + j]);
            c[j * *ldc + i] = *alpha * sum + (*beta != 0 ? *beta * c[j * *ldc + i] : 0);
        }
    nanosleep(&(struct timespec){.tv_nsec = next_library.gemm_ms * 1000000L}, 0);
    next_library.products++;
}

void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc) {
    const char *letter_a = transa == PORTMM_NO_TRANS ? "N" : "T", *letter_b = transb == PORTMM_NO_TRANS ? "N" : "T";
    if (layout == PORTMM_COL_MAJOR)
        sgemm_(letter_a, letter_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
    else
        sgemm_(letter_b, letter_a, &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc);
}
