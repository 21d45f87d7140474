/* SPDX-License-Identifier: Apache-2.0 */
#include "steady.h"

#include "platform.h"

#include <math.h>

/* Settling: windows of at least 10 products and 0.1 s; done when the medians of two windows differ by less than 1 %,
 * but not before 20 products and 0.5 s. */
static const size_t WINDOW_PRODUCTS = 10, WINDOW_MOST = 100000, SETTLE_PRODUCTS = 20;
static const double WINDOW_MS = 100, SETTLE_MS = 500, SETTLE_BOUND_MS = 5000, SETTLE_DIFFERENCE = 0.01;
/* Measuring: 200 products, fewer if they take longer than 2 s, but not fewer than 5. */
static const size_t KEEP_MOST = 200, KEEP_LEAST = 5;
static const double KEEP_MS = 2000;

static bool time_product(const bench_subject *subject, void *state, bench_series *times, bench_failure *failure) {
    uint64_t begin = bench_clock_ns();
    if (!subject->multiply(state, failure)) {
        return false;
    }
    bench_series_add(times, bench_elapsed_ms(begin, bench_clock_ns()));
    return true;
}

static bool run_window(const bench_subject *subject, void *state, uint64_t settle_begin, bench_series *window,
                       bench_failure *failure) {
    uint64_t begin = bench_clock_ns();
    double elapsed = 0;
    window->count = 0;
    while ((window->count < WINDOW_PRODUCTS || elapsed < WINDOW_MS) && window->count < WINDOW_MOST) {
        if (!time_product(subject, state, window, failure)) {
            return false;
        }
        uint64_t now = bench_clock_ns();
        elapsed = bench_elapsed_ms(begin, now);
        if (bench_elapsed_ms(settle_begin, now) >= SETTLE_BOUND_MS) {
            break;
        }
    }
    return true;
}

static bool settle(const bench_subject *subject, void *state, bool *settled, bench_failure *failure) {
    uint64_t begin = bench_clock_ns();
    bench_series window = {0};
    size_t products = 0;
    double before = 0, elapsed = 0;
    bool ok = true;
    *settled = false;
    while (ok && !*settled && elapsed < SETTLE_BOUND_MS) {
        ok = run_window(subject, state, begin, &window, failure);
        if (ok) {
            double median = bench_quantile(&window, 0.5);
            products += window.count;
            elapsed = bench_elapsed_ms(begin, bench_clock_ns());
            *settled = window.count >= WINDOW_PRODUCTS && products >= SETTLE_PRODUCTS && elapsed >= SETTLE_MS &&
                       fabs(median - before) <= SETTLE_DIFFERENCE * before;
            before = median;
        }
    }
    bench_series_fini(&window);
    return ok;
}

bool bench_measure_steady(const bench_subject *subject, void *state, bench_series *gemm_ms, bool *settled,
                          bench_failure *failure) {
    if (!settle(subject, state, settled, failure)) {
        return false;
    }
    uint64_t begin = bench_clock_ns();
    size_t count = 0;
    while (count < KEEP_LEAST || (count < KEEP_MOST && bench_elapsed_ms(begin, bench_clock_ns()) < KEEP_MS)) {
        if (!time_product(subject, state, gemm_ms, failure)) {
            return false;
        }
        count++;
    }
    return true;
}
