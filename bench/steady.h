/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats single products until their median settles, then measures. */
#ifndef BENCH_STEADY_H
#define BENCH_STEADY_H

#include "child.h"
#include "stats.h"

/* Adds up to 200 times in ms to `gemm_ms`. *settled: the median settled within the bound of 5 s. */
bool bench_measure_steady(const bench_subject *subject, void *state, bench_series *gemm_ms, bool *settled,
                          bench_failure *failure);

#endif
