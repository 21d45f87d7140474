/* SPDX-License-Identifier: Apache-2.0 */
/* Known causes of slow first products that a setting removes, looked for in the results and their environment. */
#ifndef BENCH_ADVICE_H
#define BENCH_ADVICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* A new array of {"cause", "found", "advice"}, for what was found. */
json_t *bench_list_advice(const json_t *document);

/* fully: also which causes were looked for and not found. Prints nothing if there is nothing to say. */
void bench_print_advice(FILE *output, const json_t *document, bool fully);

#endif
