/* SPDX-License-Identifier: Apache-2.0 */
/* What happened when in the first process of each row, in the Trace Event Format that Perfetto opens. */
#ifndef BENCH_TRACE_H
#define BENCH_TRACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

bool bench_write_trace(FILE *output, const json_t *document);

#endif
