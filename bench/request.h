/* SPDX-License-Identifier: Apache-2.0 */
/* What the parent asks of a child process: one JSON object as a command-line argument. */
#ifndef BENCH_REQUEST_H
#define BENCH_REQUEST_H

#include "problem.h"

#include <jansson.h>

typedef struct bench_request {
    const char *backend;  /* libportmm's spec, "opencl:0" */
    const char *engine;   /* "": the backend's best */
    const char *start;    /* libportmm's start policy, "fast" */
    int64_t device_index; /* for peers: the same device, counted the same way */
    bool resolve;         /* only open the device and tell which it is */
    bench_problem problem;
    int64_t runs, loops; /* the founding experiment: `runs` times `loops` products; 0 runs: not at all */
    bool runs_bounded;   /* the runs stop after a time */
    bool steady;         /* go on to steady state after the first result */
    bool verify;
} bench_request;

/* A new string. */
char *bench_request_encode(const bench_request *request);

/* The strings of the request belong to *storage, which the caller frees with bench_request_free. */
bool bench_request_decode(const char *text, bench_request *request, void **storage);
void bench_request_free(void *storage);

/* A JSON string of any bytes: what is not UTF-8 (a driver's text, an environment variable) becomes '?'. */
json_t *bench_json_string(const char *text);

#endif
