/* SPDX-License-Identifier: Apache-2.0 */
/* The results as JSON, the contract of which is in docs: "schema" counts up on a change. */
#ifndef BENCH_JSON_OUT_H
#define BENCH_JSON_OUT_H

#include "block.h"

#include <stdio.h>

bool bench_write_json(FILE *output, const bench_block *blocks, size_t count);

#endif
