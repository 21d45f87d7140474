/* SPDX-License-Identifier: Apache-2.0 */
/* A program that knows only BLAS: square products, f32 or f64, a few dozen of each size.
 * usage: break_even s|d SIZE... */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

static int multiply(char type, int n) {
    size_t size = (size_t)n * (size_t)n;
    void *data = calloc(3 * size, sizeof(double));
    if (data == NULL)
        return 1;
    float *single = data;
    double *both = data;
    for (int turn = 0; turn < 24; turn++)
        if (type == 's')
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, single, n, single + size, n, 0,
                        single + 2 * size, n);
        else
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, both, n, both + size, n, 0,
                        both + 2 * size, n);
    free(data);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3 || (argv[1][0] != 's' && argv[1][0] != 'd'))
        return 2;
    for (int i = 2; i < argc; i++)
        if (atoi(argv[i]) < 1 || multiply(argv[1][0], atoi(argv[i])) != 0) {
            fprintf(stderr, "break_even: no product of size %s\n", argv[i]);
            return 1;
        }
    return 0;
}
