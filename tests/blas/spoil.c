/* SPDX-License-Identifier: Apache-2.0 */
/* A library that puts a small error into every product of two sizes that are at least 2: what the testers must find. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define ARGUMENTS                                                                                                      \
    const char *transa, const char *transb, const int *m, const int *n, const int *k, const float *alpha,              \
        const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc

void sgemm_(ARGUMENTS);
void sgemm_(ARGUMENTS) {
    void (*next)(ARGUMENTS);
    void *symbol = dlsym(RTLD_NEXT, "sgemm_");
    memcpy(&next, &symbol, sizeof next);
    next(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (*m > 1 && *n > 1)
        c[1] += 1e-3F;
}
