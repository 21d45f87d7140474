/* SPDX-License-Identifier: Apache-2.0 */
/* The times as comma-separated values (RFC 4180): one line for each row and kind of time, always with its spread. */
#ifndef BENCH_CSV_H
#define BENCH_CSV_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

bool bench_write_csv(FILE *output, const json_t *document);

#endif
