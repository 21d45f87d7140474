/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured: a block for each device and product, in it a row for each temperature. */
#ifndef BENCH_BLOCK_H
#define BENCH_BLOCK_H

#include "problem.h"
#include "stats.h"

#include <jansson.h>
#include <portmm/portmm.h>

/* The library's phases, and behind them what they do not explain. */
enum { BENCH_UNATTRIBUTED = PORTMM_PHASE_COUNT, BENCH_PHASE_COUNT = PORTMM_PHASE_COUNT + 1 };
const char *bench_phase_name(int phase);

typedef struct bench_identity {
    char *backend, *device, *platform, *driver, *engine, *reason;
    int64_t index;
} bench_identity;

typedef struct bench_cache_counts {
    int64_t hits, misses, stores, bypassed, bytes, helpers, faults;
} bench_cache_counts;

/* What a sample of ours tells beyond its times. */
typedef struct bench_detail {
    double phases_ms[BENCH_PHASE_COUNT];
    bench_cache_counts cache;
} bench_detail;

typedef struct bench_row {
    bench_temperature temperature;
    char *engine;                               /* that made the latest product of the latest sample; NULL for a peer */
    bench_series process_to_result, first_gemm; /* ms, one value for each sample */
    bench_series parent;                        /* ms, process_to_result by the clock of the parent */
    bench_series gemm;                          /* ms, steady products of all samples; only if warm */
    bench_series gemm_by_process;               /* ms, the median of each sample; only if warm */
    bench_detail *details;                      /* one for each sample; NULL for a peer */
    /* Of the first sample: */
    bench_series runs;           /* ms */
    bench_series unsynchronised; /* ms: the same runs, timed until the last call returned */
    json_t *timeline, *switches; /* arrays as the sample tells them; NULL for a peer */
    bool verified, correct;
    double relative_error; /* NAN where it is not a finite number */
    int64_t rows_compared;
    bool unsettled; /* the steady products of some sample were still changing */
} bench_row;

typedef struct bench_peer {
    const char *name;
    char *device; /* as the peer tells it; NULL: it does not */
    char *absent; /* why there are no rows, else NULL */
    bench_row rows[BENCH_TEMPERATURE_COUNT];
    size_t row_count;
} bench_peer;

typedef struct bench_block {
    bench_identity identity;
    bench_problem problem;
    bench_start start;
    bench_row rows[BENCH_TEMPERATURE_COUNT];
    size_t row_count;
    bench_peer *peers;
    size_t peer_count;
    char **warnings;
    size_t warning_count;
} bench_block;

void bench_block_fini(bench_block *block);

/* Takes over the text; one that is there already is not repeated. */
void bench_block_warn(bench_block *block, char *warning);

/* Reads the identity out of a child's result; what is not there becomes "". */
void bench_identity_read(bench_identity *identity, const json_t *result);
void bench_identity_fini(bench_identity *identity);

/* Adds a child's result as the row's next sample. */
void bench_row_add(bench_row *row, const json_t *result);

/* NULL if it was not measured. */
const bench_row *bench_find_row(const bench_row *rows, size_t count, bench_temperature temperature);

/* The detail of the sample whose process_to_result is the lower median: so its phases add up to a measured time. */
const bench_detail *bench_median_detail(const bench_row *row);

/* Milliseconds a product takes at this temperature: steady if warm, else the first. */
double bench_row_product_ms(const bench_row *row);
double bench_row_gflops(const bench_row *row, const bench_problem *problem);

#endif
