/* SPDX-License-Identifier: Apache-2.0 */
/* The files that results are written to; opened before anything is measured, so that a bad path is told at once. */
#ifndef BENCH_OUTPUTS_H
#define BENCH_OUTPUTS_H

#include "document.h"

typedef struct bench_output {
    FILE *file; /* NULL: not asked for */
    const char *path;
    bool created;
} bench_output;

typedef struct bench_outputs {
    bench_output files[BENCH_FORMAT_COUNT];
} bench_outputs;

/* False after a complaint on stderr. */
bool bench_outputs_open(bench_outputs *outputs, const bench_options *options);
/* One of them is stdout, which then holds nothing else. */
bool bench_outputs_have_stdout(const bench_outputs *outputs);
/* False after a complaint on stderr. */
bool bench_outputs_write(bench_outputs *outputs, const json_t *document);
/* Removes what was created and not written. */
void bench_outputs_close(bench_outputs *outputs);

#endif
