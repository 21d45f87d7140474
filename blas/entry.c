/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that take the place of BLAS's. Arguments that BLAS does not accept go to the next library as they are:
 * it knows its own way to report them, which a program may have replaced (xerbla_, cblas_xerbla).
 */
#include <string.h>

#include "route.h"

/* What is no transpose becomes a value that is none either. */
static portmm_transpose read_transpose(char letter) {
    switch (letter) {
    case 'N':
    case 'n':
        return PORTMM_NO_TRANS;
    case 'T':
    case 't':
        return PORTMM_TRANS;
    case 'C':
    case 'c':
        return PORTMM_CONJ_TRANS;
    default:
        return (portmm_transpose)0;
    }
}

static int at_least_one(int size) {
    return size > 1 ? size : 1;
}

/* Whether BLAS accepts these arguments. */
static bool is_valid(const pmm_blas_call *call) {
    bool rows = call->layout == PORTMM_ROW_MAJOR;
    if ((!rows && call->layout != PORTMM_COL_MAJOR) || call->transa < PORTMM_NO_TRANS ||
        call->transa > PORTMM_CONJ_TRANS || call->transb < PORTMM_NO_TRANS || call->transb > PORTMM_CONJ_TRANS ||
        call->m < 0 || call->n < 0 || call->k < 0)
        return false;
    int inner_a = rows == (call->transa == PORTMM_NO_TRANS) ? call->k : call->m;
    int inner_b = rows == (call->transb == PORTMM_NO_TRANS) ? call->n : call->k;
    return call->lda >= at_least_one(inner_a) && call->ldb >= at_least_one(inner_b) &&
           call->ldc >= at_least_one(rows ? call->n : call->m);
}

/* ISO C has no cast from an object pointer to a function pointer. Two threads may both look: they find the same. */
#define FIND_NEXT(function, name)                                                                                      \
    do {                                                                                                               \
        static _Atomic(void *) found;                                                                                  \
        void *symbol = atomic_load_explicit(&found, memory_order_acquire);                                             \
        if (symbol == NULL) {                                                                                          \
            symbol = pmm_blas_find_next(name);                                                                         \
            atomic_store_explicit(&found, symbol, memory_order_release);                                               \
        }                                                                                                              \
        memcpy(&(function), &symbol, sizeof symbol);                                                                   \
    } while (0)

/* C callers do not pass the lengths of the two texts, which Fortran compilers add at the end; nobody reads them. */
#define FORTRAN_ARGUMENTS(element)                                                                                     \
    const char *transa, const char *transb, const int *m, const int *n, const int *k, const element *alpha,            \
        const element *a, const int *lda, const element *b, const int *ldb, const element *beta, element *c,           \
        const int *ldc, size_t transa_length, size_t transb_length

#define DEFINE_FORTRAN(name, number, element)                                                                          \
    PORTMM_API void name(FORTRAN_ARGUMENTS(element));                                                                  \
    PORTMM_API void name(FORTRAN_ARGUMENTS(element)) {                                                                 \
        void (*next)(FORTRAN_ARGUMENTS(element));                                                                      \
        pmm_blas_ticket ticket;                                                                                        \
        pmm_blas_call call = {(number),                                                                                \
                              PORTMM_COL_MAJOR,                                                                        \
                              read_transpose(*transa),                                                                 \
                              read_transpose(*transb),                                                                 \
                              *m,                                                                                      \
                              *n,                                                                                      \
                              *k,                                                                                      \
                              alpha,                                                                                   \
                              a,                                                                                       \
                              *lda,                                                                                    \
                              b,                                                                                       \
                              *ldb,                                                                                    \
                              beta,                                                                                    \
                              c,                                                                                       \
                              *ldc};                                                                                   \
        bool valid = is_valid(&call);                                                                                  \
        if (valid && pmm_blas_serve(&call, &ticket))                                                                   \
            return;                                                                                                    \
        FIND_NEXT(next, #name);                                                                                        \
        next(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, transa_length, transb_length);              \
        if (valid)                                                                                                     \
            pmm_blas_passed(&call, &ticket);                                                                           \
    }

/* `scalar` is how alpha and beta are passed; `address` makes a pointer to one of it. */
#define CBLAS_ARGUMENTS(element, scalar)                                                                               \
    int layout, int transa, int transb, int m, int n, int k, scalar alpha, const element *a, int lda,                  \
        const element *b, int ldb, scalar beta, element *c, int ldc

#define DEFINE_CBLAS(name, number, element, scalar, address)                                                           \
    PORTMM_API void name(CBLAS_ARGUMENTS(element, scalar));                                                            \
    PORTMM_API void name(CBLAS_ARGUMENTS(element, scalar)) {                                                           \
        void (*next)(CBLAS_ARGUMENTS(element, scalar));                                                                \
        pmm_blas_ticket ticket;                                                                                        \
        pmm_blas_call call = {(number),                                                                                \
                              (portmm_layout)layout,                                                                   \
                              (portmm_transpose)transa,                                                                \
                              (portmm_transpose)transb,                                                                \
                              m,                                                                                       \
                              n,                                                                                       \
                              k,                                                                                       \
                              address(alpha),                                                                          \
                              a,                                                                                       \
                              lda,                                                                                     \
                              b,                                                                                       \
                              ldb,                                                                                     \
                              address(beta),                                                                           \
                              c,                                                                                       \
                              ldc};                                                                                    \
        bool valid = is_valid(&call);                                                                                  \
        if (valid && pmm_blas_serve(&call, &ticket))                                                                   \
            return;                                                                                                    \
        FIND_NEXT(next, #name);                                                                                        \
        next(layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                    \
        if (valid)                                                                                                     \
            pmm_blas_passed(&call, &ticket);                                                                           \
    }
#define BY_VALUE(scalar) (&(scalar))
#define BY_ADDRESS(scalar) (scalar)

DEFINE_FORTRAN(sgemm_, PMM_BLAS_S, float)
DEFINE_FORTRAN(dgemm_, PMM_BLAS_D, double)
DEFINE_FORTRAN(cgemm_, PMM_BLAS_C, void)
DEFINE_FORTRAN(zgemm_, PMM_BLAS_Z, void)
DEFINE_CBLAS(cblas_sgemm, PMM_BLAS_S, float, float, BY_VALUE)
DEFINE_CBLAS(cblas_dgemm, PMM_BLAS_D, double, double, BY_VALUE)
DEFINE_CBLAS(cblas_cgemm, PMM_BLAS_C, void, const void *, BY_ADDRESS)
DEFINE_CBLAS(cblas_zgemm, PMM_BLAS_Z, void, const void *, BY_ADDRESS)
