/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a product with a reference computed in double precision. */
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include "problem.h"

typedef struct bench_verdict {
    bool correct;
    /* ||C - Cref||_F / (sqrt(k + 2) ||A||_F ||B||_F), over the rows compared; not a number where C holds one. Correct
     * while below the unit roundoff u of the type, and while every element differs by no more than (k + 2) u times the
     * norms of its row of A and its column of B, the bound of any order of summation. */
    double relative_error;
    int64_t rows; /* how many rows of C were compared: all, or 64 spread at random */
} bench_verdict;

/* a, b, c: host matrices of the problem. All of C up to 2^30 multiplications; beyond that, 64 rows of it. */
bench_verdict bench_verify(const bench_problem *problem, const void *a, const void *b, const void *c);

#endif
