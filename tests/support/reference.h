/* SPDX-License-Identifier: Apache-2.0 */
/* What a product must give: op(A), op(B) and C with known values, their product in more precision than is tested, and
 * the bound on a result's error. Where the matrices lie in memory is not known here: see stored.h. */
#ifndef TEST_REFERENCE_H
#define TEST_REFERENCE_H

#include <portmm/portmm.h>

typedef enum test_values {
    TEST_INTEGERS, /* whole numbers from -4 to 4: every order of summation gives the same, exact result */
    TEST_RANDOM    /* from -1 to 1, with all the bits of the type */
} test_values;

typedef struct test_reference {
    portmm_dtype dtype;
    test_values values;
    int64_t m, n, k;
    /* Row by row, without padding; values that the type can hold. */
    double *a; /* op(A), m x k */
    double *b; /* op(B), k x n */
    double *c; /* m x n */
    long double *product;
    double norm_a, norm_b, norm_c; /* Frobenius */
} test_reference;

/* The same arguments give the same values on every machine. */
void test_reference_init(test_reference *reference, portmm_dtype dtype, test_values values, int64_t m, int64_t n,
                         int64_t k);
void test_reference_fini(test_reference *reference);

/* One element of alpha * op(A) * op(B) + beta * C; beta == 0 does not look at C, nor alpha == 0 at the product. */
long double test_reference_at(const test_reference *reference, double alpha, double beta, int64_t row, int64_t column);

/* What ||result - reference||_F may be:
 * u * (sqrt(k + 2) * |alpha| * ||A|| * ||B|| + 2 * |beta| * ||C||), u the unit roundoff of the type. */
double test_reference_bound(const test_reference *reference, double alpha, double beta);

#endif
