/* SPDX-License-Identifier: Apache-2.0 */
#include "significance.h"

#include "text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_MOST = 60, RESAMPLINGS = 10000 };
static const double OUTSIDE = 0.005; /* of the resamplings, at each end */

typedef struct ranked {
    double value;
    bool first; /* of the first series */
    size_t twice_rank;
} ranked;

static int compare_ranked(const void *left, const void *right) {
    double a = ((const ranked *)left)->value, b = ((const ranked *)right)->value;
    return (a > b) - (a < b);
}

/* All values in order; ties share the mean of their ranks, which is why ranks are kept twice. *ties: sum of t^3 - t. */
static ranked *rank_values(const bench_series *one, const bench_series *other, double *ties) {
    size_t count = one->count + other->count;
    ranked *all = bench_resize(NULL, count, sizeof *all);
    for (size_t i = 0; i < count; i++) {
        bool first = i < one->count;
        all[i] = (ranked){.value = first ? one->values[i] : other->values[i - one->count], .first = first};
    }
    qsort(all, count, sizeof *all, compare_ranked);
    *ties = 0;
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && all[end].value == all[begin].value) {
            end++;
        }
        for (size_t i = begin; i < end; i++) {
            all[i].twice_rank = begin + 1 + end;
        }
        double size = (double)(end - begin);
        *ties += size * size * size - size;
    }
    return all;
}

/* Counts, over all choices of `chosen` of the values, the sums of their doubled ranks that are as far from the middle.
 */
static double test_exactly(const ranked *all, size_t count, size_t chosen, size_t sum) {
    size_t sums = count * (count + 1) + 1; /* all doubled ranks add up to sums - 1 */
    double *ways = bench_resize(NULL, (chosen + 1) * sums, sizeof *ways);
    memset(ways, 0, (chosen + 1) * sums * sizeof *ways);
    ways[0] = 1;
    for (size_t i = 0; i < count; i++) {
        for (size_t c = chosen; c > 0; c--) {
            for (size_t s = sums - 1; s >= all[i].twice_rank; s--) {
                ways[c * sums + s] += ways[(c - 1) * sums + s - all[i].twice_rank];
            }
        }
    }
    double middle = (double)chosen * (double)(count + 1), distance = fabs((double)sum - middle);
    double extreme = 0, total = 0;
    for (size_t s = 0; s < sums; s++) {
        double number = ways[chosen * sums + s];
        total += number;
        extreme += fabs((double)s - middle) >= distance ? number : 0;
    }
    free(ways);
    return extreme / total;
}

static double test_normally(size_t one, size_t other, size_t twice_sum, double ties) {
    double n = (double)one, m = (double)other, all = n + m;
    double distance = fabs((double)twice_sum / 2 - n * (all + 1) / 2);
    double variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
    return variance > 0 ? erfc(fmax(distance - 0.5, 0) / sqrt(2 * variance)) : 1;
}

double bench_rank_test(const bench_series *one, const bench_series *other) {
    if (one->count == 0 || other->count == 0) {
        return 1;
    }
    double ties = 0;
    size_t count = one->count + other->count, sum = 0;
    ranked *all = rank_values(one, other, &ties);
    for (size_t i = 0; i < count; i++) {
        sum += all[i].first ? all[i].twice_rank : 0;
    }
    double probability = count <= EXACT_MOST ? test_exactly(all, count, one->count, sum)
                                             : test_normally(one->count, other->count, sum, ties);
    free(all);
    return probability;
}

/* xorshift64*: the same interval for the same values on every machine. */
static uint64_t draw(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * UINT64_C(0x2545F4914F6CDD1D)) >> 32;
}

static double draw_median(const bench_series *from, bench_series *into, uint64_t *state) {
    into->count = 0;
    for (size_t i = 0; i < from->count; i++) {
        bench_series_add(into, from->values[draw(state) % from->count]);
    }
    return bench_quantile(into, 0.5);
}

bench_interval bench_ratio_interval(const bench_series *one, const bench_series *other) {
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
    bench_series drawn = {0}, ratios = {0};
    for (int i = 0; i < RESAMPLINGS; i++) {
        double numerator = draw_median(one, &drawn, &state);
        bench_series_add(&ratios, numerator / draw_median(other, &drawn, &state));
    }
    bench_interval interval = {bench_quantile(&ratios, OUTSIDE), bench_quantile(&ratios, 1 - OUTSIDE)};
    bench_series_fini(&drawn);
    bench_series_fini(&ratios);
    return interval;
}
