/* SPDX-License-Identifier: Apache-2.0 */
/* Says in words where the time of run #0 went. */
#ifndef BENCH_EXPLAIN_H
#define BENCH_EXPLAIN_H

#include "block.h"

#include <stdio.h>

/* The largest parts of the block's first new process, in a few lines. */
void bench_explain_briefly(FILE *output, const bench_block *block, int64_t loops);

/* Every part of every temperature, with what it means, and what the caches saved. */
void bench_explain_fully(FILE *output, const bench_block *block, int64_t loops);

#endif
