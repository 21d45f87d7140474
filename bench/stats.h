/* SPDX-License-Identifier: Apache-2.0 */
/* Series of measured values and what is said about them. There are no averages here, on purpose. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bench_series {
    double *values; /* in the order of measuring */
    size_t count, capacity;
} bench_series;

void bench_series_add(bench_series *series, double value);
void bench_series_fini(bench_series *series);

typedef struct bench_summary {
    double median, min, max;
    double iqr; /* third less first quartile, by linear interpolation; 0 for a single value */
} bench_summary;

/* All zero for no values. */
bench_summary bench_summarize(const bench_series *series);

/* The value at `fraction` (0 to 1) of the sorted values, by linear interpolation; the series is not empty. */
double bench_quantile(const bench_series *series, double fraction);

/* Position in the series of its lower median: a value that was really measured. The series is not empty. */
size_t bench_median_position(const bench_series *series);

/* IQR above 10 % of the median. */
bool bench_is_noisy(const bench_summary *summary);

#endif
