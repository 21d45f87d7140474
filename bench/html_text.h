/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the HTML page are written with. */
#ifndef BENCH_HTML_TEXT_H
#define BENCH_HTML_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* Text of any origin, so that it is text in an element or in a quoted attribute. */
void bench_html_text(FILE *output, const char *text);

/* A number for people, with that of the JSON document in it for programs: <data class=NAME value=...>. */
void bench_html_ms(FILE *output, const char *name, double milliseconds);

/* "12.3 ms (IQR 0.4, 12.1 to 13.0, n=5)" of a summary in the document; one value: "12.3 ms (n=1)". */
void bench_html_summary(FILE *output, const json_t *summary);

#endif
