/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict on every row against an earlier run, from the raw values of both: process_to_result_ms, for warm rows the
 * median of each process (products of one process are not independent of each other).
 *   slower, faster   Mann-Whitney's p is below 0.01, the ratio of the medians beyond the least effect, and the 99 %
 *                    bootstrap interval of the ratio has not got 1 in it
 *   same             the interval lies within the least effect
 *   unsure           anything else: take more samples, or a quieter machine
 */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum bench_change { BENCH_SAME, BENCH_SLOWER, BENCH_FASTER, BENCH_UNSURE } bench_change;

/* `least_effect` as a fraction, 0.05. Series as JSON arrays of positive numbers, none empty. */
typedef struct bench_comparison {
    bench_change change;
    double old_median, new_median, old_iqr, new_iqr, ratio, low, high, probability;
} bench_comparison;
bench_comparison bench_compare_series(const json_t *older, const json_t *newer, double least_effect);

/* Prints a line for each row of `newer`, and those of `older` that have no match; `output` NULL: nothing. Returns
 * whether a row is slower; *matched: some rows are in both. */
bool bench_compare(FILE *output, const json_t *older, const json_t *newer, double least_effect, bool *matched);

#endif
