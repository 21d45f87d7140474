/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void bench_series_add(bench_series *series, double value) {
    if (series->count == series->capacity) {
        series->capacity = series->capacity != 0 ? 2 * series->capacity : 16;
        series->values = bench_resize(series->values, series->capacity, sizeof *series->values);
    }
    series->values[series->count++] = value;
}

void bench_series_fini(bench_series *series) {
    free(series->values);
    *series = (bench_series){0};
}

static int compare_values(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double *copy_sorted(const bench_series *series) {
    double *sorted = bench_resize(NULL, series->count, sizeof *sorted);
    memcpy(sorted, series->values, series->count * sizeof *sorted);
    qsort(sorted, series->count, sizeof *sorted, compare_values);
    return sorted;
}

static double interpolate(const double *sorted, size_t count, double fraction) {
    double position = fraction * (double)(count - 1);
    size_t below = (size_t)position;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - (double)below) * (sorted[above] - sorted[below]);
}

double bench_quantile(const bench_series *series, double fraction) {
    double *sorted = copy_sorted(series);
    double value = interpolate(sorted, series->count, fraction);
    free(sorted);
    return value;
}

bench_summary bench_summarize(const bench_series *series) {
    bench_summary summary = {0};
    if (series->count == 0) {
        return summary;
    }
    double *sorted = copy_sorted(series);
    summary.median = interpolate(sorted, series->count, 0.5);
    summary.min = sorted[0];
    summary.max = sorted[series->count - 1];
    summary.iqr = interpolate(sorted, series->count, 0.75) - interpolate(sorted, series->count, 0.25);
    free(sorted);
    return summary;
}

size_t bench_median_position(const bench_series *series) {
    double *sorted = copy_sorted(series);
    double median = sorted[(series->count - 1) / 2];
    free(sorted);
    for (size_t i = 0; i < series->count; i++) {
        if (series->values[i] == median) {
            return i;
        }
    }
    return 0;
}

bool bench_is_noisy(const bench_summary *summary) {
    return summary->iqr > 0.1 * fabs(summary->median);
}
