/* SPDX-License-Identifier: Apache-2.0 */
/* A product as it was called for, through BLAS or CBLAS, with arguments that BLAS accepts. */
#ifndef PMM_BLAS_CALL_H
#define PMM_BLAS_CALL_H

#include <portmm/portmm.h>

typedef enum pmm_blas_type { PMM_BLAS_S, PMM_BLAS_D, PMM_BLAS_C, PMM_BLAS_Z, PMM_BLAS_TYPES } pmm_blas_type;

typedef struct pmm_blas_call {
    pmm_blas_type type;
    portmm_layout layout;
    portmm_transpose transa, transb;
    int m, n, k;
    const void *alpha; /* one element, as beta */
    const void *a;
    int lda;
    const void *b;
    int ldb;
    const void *beta;
    void *c;
    int ldc;
} pmm_blas_call;

#endif
