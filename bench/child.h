/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child process measures, the same for libportmm and for every peer: a first product on a device just opened,
 * then (if asked) the founding experiment, steady state and the check of the result.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include "request.h"
#include "text.h"

/* Why a step failed; `status` is a portmm_status where there is one. */
typedef struct bench_failure {
    int status;
    char text[512];
} bench_failure;

/* Moments of the first result, by bench_clock_ns. */
typedef struct bench_stamps {
    uint64_t spawn;      /* the parent, before it starts the process */
    uint64_t entry;      /* main */
    uint64_t first_call; /* the first call into the library measured */
    uint64_t gemm_begin, gemm_end;
    uint64_t result;               /* C is in host memory */
    uint64_t host_begin, host_end; /* allocating and filling host matrices */
} bench_stamps;

/* In host memory. */
typedef struct bench_matrices {
    void *a, *b, *c;
} bench_matrices;

/* A library that multiplies. Functions return false after filling in *failure. */
typedef struct bench_subject {
    /* Opens the device. */
    bool (*connect)(void *state, const bench_request *request, bench_failure *failure);
    /* Device memory for A, B and C. */
    bool (*allocate)(void *state, bench_failure *failure);
    /* A and B to the device. A library that works on host memory may keep the pointers. */
    bool (*upload)(void *state, const bench_matrices *host, bench_failure *failure);
    /* One product; complete on return. */
    bool (*multiply)(void *state, bench_failure *failure);
    /* One product, not waited for; and the wait for all of them. */
    bool (*enqueue)(void *state, bench_failure *failure);
    bool (*finish)(void *state, bench_failure *failure);
    /* C to host memory, if it is not there. */
    bool (*download)(void *state, const bench_matrices *host, bench_failure *failure);
    /* Adds what this library can tell to the result: its device, phases, caches. stamps is NULL for a request that only
     * resolves the device. */
    bool (*describe)(void *state, const bench_stamps *stamps, json_t *result, bench_failure *failure);
    /* Accepts a state that was opened halfway. */
    void (*close)(void *state);
} bench_subject;

void bench_fail(bench_failure *failure, int status, const char *format, ...) BENCH_PRINTF(3, 4);

/* Milliseconds between two stamps. */
double bench_elapsed_ms(uint64_t begin_ns, uint64_t end_ns);

/*
 * The whole life of a child: its last two arguments are the request and the spawn stamp. An empty line goes to stdout
 * as soon as the first result is there, so that the parent can measure that, too; then one JSON object, {"error": text,
 * "status": number} if a step failed. Returns the exit status.
 */
int bench_child_main(const bench_subject *subject, void *state, int argc, char **argv, uint64_t entry_ns);

#endif
