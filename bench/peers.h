/* SPDX-License-Identifier: Apache-2.0 */
/* The raw libraries that are measured beside libportmm, and their ratios. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "block.h"

/* A library and the program that uses it. */
typedef struct bench_peer_kind {
    const char *name;    /* as in the JSON rows */
    const char *backend; /* whose devices it runs on */
    const char *program;
    const char *mode; /* the program's first argument; NULL: none */
} bench_peer_kind;

/* The kinds for a backend, from the one behind `after` (NULL: from the first); NULL at the end. */
const bench_peer_kind *bench_next_peer_kind(const char *backend, const bench_peer_kind *after);

/* Path of its program, beside ours or in ../libexec/portmm; new text, NULL if it is not there. */
char *bench_find_peer(const bench_peer_kind *kind, const char *self);

/* The temperatures at which peers are measured. */
bool bench_peer_has_temperature(bench_temperature temperature);

/* One quotient of medians: ours over the peer's. */
typedef struct bench_ratio {
    const bench_row *ours, *theirs;
    const char *what; /* "first_gemm"; "to result": from the start of the process; "gemm": steady */
    double ours_ms, theirs_ms, ratio;
    double low, high; /* 99 % interval */
    bool single;      /* of one process each: it has none */
} bench_ratio;

enum { BENCH_RATIO_MOST = 20 };

/* Ratios of a block to one of its peers: new processes to the peer's cold and driver, steady to steady. Where a library
 * loads in the first call and its peer with the process, only "to result" compares like with like. Returns their
 * number. */
size_t bench_make_ratios(const bench_block *block, const bench_peer *peer, bench_ratio ratios[BENCH_RATIO_MOST]);

#endif
