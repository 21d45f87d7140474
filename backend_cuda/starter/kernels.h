/* SPDX-License-Identifier: Apache-2.0 */
/* What the starter's kernels and their caller agree on. C, and CUDA C++. */
#ifndef PMM_CUDA_KERNELS_H
#define PMM_CUDA_KERNELS_H

#include <stdint.h>

/* The kernels: a block makes a tile of rows x columns of C in slices of `depth`, a thread thread_rows x thread_columns
 * of it. `speed`: how much a multiprocessor does with it, compared with the others; read from no measurement yet. Each
 * exists for every element type, as gemm_<rows>x<columns>. */
#define PMM_CUDA_TILES(X)                                                                                              \
    X(128, 128, 8, 8, 8, 100)                                                                                          \
    X(64, 64, 16, 8, 4, 85)                                                                                            \
    X(32, 32, 16, 4, 4, 50)

/* C := alpha * A * B + beta * C, row-major; A and B with any strides, one of which is 1. All in elements. beta == 0: C
 * is not read. The blocks' z counts the products of a batch. */
typedef struct pmm_cuda_product {
    uint64_t a, b, c; /* addresses of the first elements */
    int64_t m, n, k;
    int64_t a_row, a_column; /* from row to row, from column to column */
    int64_t b_row, b_column;
    int64_t c_row;
    int64_t a_next, b_next, c_next; /* from product to product */
    double alpha, beta;             /* exact also for f32 */
} pmm_cuda_product;

#endif
