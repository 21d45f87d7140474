/* SPDX-License-Identifier: Apache-2.0 */
/* The report for people: tables for a terminal of 100 columns. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "block.h"
#include "options.h"

#include <stdio.h>

void bench_report_block(FILE *output, const bench_options *options, const bench_block *block);

/* Words of `text` in lines of 100 columns; the first starts with `lead`, the others are indented like it. */
void bench_print_wrapped(FILE *output, const char *lead, const char *text);

/* A time in ms with three or four significant digits, as text in `buffer`. */
const char *bench_format_ms(char buffer[24], double milliseconds);

#endif
