/* SPDX-License-Identifier: Apache-2.0 */
/* Says in words and bars where the time of run #0 went, what would help on this machine, and what that answers. All of
 * it is made from the results document, of this run or of an earlier one. */
#ifndef BENCH_EXPLAIN_H
#define BENCH_EXPLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Not fully: the first temperature of each device, product and start policy. */
void bench_explain(FILE *output, const json_t *document, bool fully);

/* The founding question, answered for this machine: ten lines at most, for the first product and start policy. */
void bench_answer(FILE *output, const json_t *document);

#endif
