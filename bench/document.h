/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results as one JSON document, the contract of which is portmm-bench.schema.json: what --json writes, and what the
 * other outputs (CSV, trace, HTML) and the comparison are made from.
 */
#ifndef BENCH_DOCUMENT_H
#define BENCH_DOCUMENT_H

#include "block.h"
#include "options.h"

/* Digits of a real number, in every file: nanoseconds up to a quarter of an hour, and the same ones when a file is read
 * and written again. */
enum { BENCH_DIGITS = 12 };
enum { BENCH_SCHEMA = 4 };

/* A new document. `facts`: more members of its environment. */
json_t *bench_make_document(const bench_options *options, const bench_block *blocks, size_t count, const json_t *facts,
                            bool interrupted);

bool bench_write_document(FILE *output, const json_t *document);

/* The document of an earlier --json; NULL and what is wrong, one line of new text. */
json_t *bench_read_document(const char *path, char **complaint);

/* The command that measures this row alone, again; new text. */
char *bench_make_repeat(const bench_options *options, const bench_block *block, const bench_row *row);

/* Members of its rows. */
const char *bench_text_of(const json_t *object, const char *key); /* "" where there is none */
double bench_number_of(const json_t *object, const char *key);    /* 0 where there is none */
/* A new string such as "opencl:0 f32 1000x1000x1000 NT fast cold"; a peer's begins with its name. */
char *bench_row_label(const json_t *row);

#endif
