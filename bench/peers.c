/* SPDX-License-Identifier: Apache-2.0 */
#include "peers.h"

#include "platform.h"
#include "significance.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* Where peer programs are installed, seen from the folder of portmm-bench. */
#ifndef BENCH_PEER_FOLDER
#define BENCH_PEER_FOLDER "../libexec/portmm/"
#endif

static const bench_peer_kind kinds[] = {
    {"clblast", "opencl", "portmm-peer-clblast", NULL},
    {"openblas", "cpu", "portmm-peer-openblas", NULL},
    {"pytorch", "cpu", "portmm-peer-python", "pytorch"},
    {"tensorflow", "cpu", "portmm-peer-python", "tensorflow"},
    {"jax", "cpu", "portmm-peer-python", "jax"},
    {"numpy", "cpu", "portmm-peer-python", "numpy"},
    {"cublas", "cuda", "portmm-peer-cublas", NULL},
    {"pytorch", "cuda", "portmm-peer-python", "pytorch"},
    {"tensorflow", "cuda", "portmm-peer-python", "tensorflow"},
    {"jax", "cuda", "portmm-peer-python", "jax"},
    {"cupy", "cuda", "portmm-peer-python", "cupy"},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

const bench_peer_kind *bench_next_peer_kind(const char *backend, const bench_peer_kind *after) {
    for (size_t i = after != NULL ? (size_t)(after - kinds) + 1 : 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].backend, backend) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

char *bench_find_peer(const bench_peer_kind *kind, const char *self) {
    static const char *const folders[] = {"", BENCH_PEER_FOLDER};
    const char *slash = strrchr(self, '/');
    int length = slash != NULL ? (int)(slash - self + 1) : 0;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char *path = bench_format("%.*s%s%s", length, self, folders[i], kind->program);
        if (bench_is_program(path)) {
            return path;
        }
        free(path);
    }
    return NULL;
}

bool bench_peer_has_temperature(bench_temperature temperature) {
    return temperature == BENCH_COLD || temperature == BENCH_DRIVER || temperature == BENCH_WARM;
}

typedef enum metric { FIRST_GEMM, TO_RESULT, STEADY, METRIC_COUNT } metric;

static const char *const metric_names[] = {[FIRST_GEMM] = "first_gemm", [TO_RESULT] = "to result", [STEADY] = "gemm"};

static const bench_series *series_of(const bench_row *row, metric what) {
    return what == FIRST_GEMM ? &row->first_gemm : what == TO_RESULT ? &row->process_to_result : &row->gemm;
}

static bench_ratio make_ratio(const bench_row *ours, const bench_row *theirs, metric what) {
    const bench_series *one = what == STEADY ? &ours->gemm_by_process : series_of(ours, what);
    const bench_series *other = what == STEADY ? &theirs->gemm_by_process : series_of(theirs, what);
    double ours_ms = bench_summarize(series_of(ours, what)).median;
    double theirs_ms = bench_summarize(series_of(theirs, what)).median;
    bench_interval interval = {0};
    if (one->count != 0 && other->count != 0) {
        interval = bench_ratio_interval(one, other);
    }
    return (bench_ratio){.ours = ours,
                         .theirs = theirs,
                         .what = metric_names[what],
                         .ours_ms = ours_ms,
                         .theirs_ms = theirs_ms,
                         .ratio = theirs_ms > 0 ? ours_ms / theirs_ms : 0,
                         .low = interval.low,
                         .high = interval.high,
                         .single = one->count < 2 || other->count < 2};
}

static bool is_sensible(const bench_row *ours, const bench_row *theirs, metric what) {
    bool warm = what == STEADY;
    return (ours->temperature == BENCH_WARM) == warm && (theirs->temperature == BENCH_WARM) == warm;
}

size_t bench_make_ratios(const bench_block *block, const bench_peer *peer, bench_ratio ratios[BENCH_RATIO_MOST]) {
    size_t count = 0;
    for (int what = 0; what < METRIC_COUNT; what++) {
        for (size_t i = 0; i < block->row_count * peer->row_count && count < BENCH_RATIO_MOST; i++) {
            const bench_row *ours = &block->rows[i / peer->row_count], *theirs = &peer->rows[i % peer->row_count];
            if (is_sensible(ours, theirs, (metric)what)) {
                ratios[count++] = make_ratio(ours, theirs, (metric)what);
            }
        }
    }
    return count;
}
