/* SPDX-License-Identifier: Apache-2.0 */
/* A program that knows only BLAS: a product, which is ours, and a function that is not. */
#include <stdio.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);
double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);

int main(void) {
    const int one = 1, two = 2, four = 4;
    const double unit = 1, zero = 0, a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    double c[4];
    dgemm_("N", "N", &two, &two, &two, &unit, a, &two, b, &two, &zero, c, &two);
    double sum = ddot_(&four, c, &one, c, &one);
    printf("%g %g %g %g, squares %g\n", c[0], c[1], c[2], c[3], sum);
    return c[0] == 23 && c[1] == 34 && c[2] == 31 && c[3] == 46 && sum == 4762 ? 0 : 1;
}
