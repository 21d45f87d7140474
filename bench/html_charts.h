/* SPDX-License-Identifier: Apache-2.0 */
/* The charts of the HTML page, made of elements and CSS alone. */
#ifndef BENCH_HTML_CHARTS_H
#define BENCH_HTML_CHARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Rows of one device, product and start policy belong together. */
bool bench_html_same_group(const json_t *one, const json_t *other);
bool bench_html_same_problem(const json_t *one, const json_t *other);

/* Of each row in the group of `first`: what happened until the first result, on a scale of its own. */
void bench_html_waterfalls(FILE *output, const json_t *results, const json_t *first);

/* All rows and all peers' rows with the problem of `first`, a chart for each temperature. */
void bench_html_bars(FILE *output, const json_t *document, const json_t *first);

#endif
