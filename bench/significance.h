/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two series differ: a test of ranks, and an interval of the ratio of their medians. */
#ifndef BENCH_SIGNIFICANCE_H
#define BENCH_SIGNIFICANCE_H

#include "stats.h"

/*
 * Mann-Whitney's test: the two-sided probability of ranks at least this uneven if both series came from one
 * distribution. Exact, ties included, for up to 60 values together; beyond, the normal approximation with the
 * corrections for ties and continuity. 1 where a series is empty.
 */
double bench_rank_test(const bench_series *one, const bench_series *other);

typedef struct bench_interval {
    double low, high;
} bench_interval;

/* The 99 % percentile-bootstrap interval of median(one) / median(other), from 10000 resamplings with a fixed seed. Both
 * have a value, and all are positive. */
bench_interval bench_ratio_interval(const bench_series *one, const bench_series *other);

#endif
