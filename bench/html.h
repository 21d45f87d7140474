/* SPDX-License-Identifier: Apache-2.0 */
/* One self-contained page; readable without scripts, light or dark as the reader likes, and printable. */
#ifndef BENCH_HTML_H
#define BENCH_HTML_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

bool bench_write_html(FILE *output, const json_t *document);

#endif
