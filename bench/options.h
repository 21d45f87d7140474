/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "problem.h"

typedef enum bench_action { BENCH_MEASURE, BENCH_LIST, BENCH_HELP, BENCH_VERSION } bench_action;

/* What can be written beside the report. */
typedef enum bench_format_kind { BENCH_JSON, BENCH_CSV, BENCH_TRACE, BENCH_HTML, BENCH_FORMAT_COUNT } bench_format_kind;

typedef struct bench_options {
    bench_action action;
    char **backends; /* specs as given, "opencl:1"; "all" stands alone */
    size_t backend_count;
    bench_shape *shapes;
    size_t shape_count;
    bench_dtype dtype;
    bool transa, transb;
    const char *engine; /* "": the backend's best */
    bool starts[BENCH_START_COUNT];
    bool temperatures[BENCH_TEMPERATURE_COUNT];
    int64_t runs, loops, samples;
    bool runs_given; /* then they are not cut short */
    bool verify, peers, explain, quiet;
    const char *paths[BENCH_FORMAT_COUNT]; /* NULL: none; "-": stdout */
    const char *from;                      /* results of an earlier run instead of measuring; NULL: measure */
    const char *compare;                   /* results to compare with; NULL: none */
    double least_effect;                   /* smaller changes are none, as a fraction */
    bool fail_on_slower;
} bench_options;

/* Backends that libportmm may have; NULL-terminated. */
extern const char *const bench_backend_names[];

/* NULL and *options filled in (strings of argv are kept), or what is wrong and what to do: one line of new text. */
char *bench_options_parse(int argc, char **argv, bench_options *options);
void bench_options_fini(bench_options *options);

bool bench_options_want_all(const bench_options *options);

/* The text of --help. */
extern const char bench_help_text[];

#endif
