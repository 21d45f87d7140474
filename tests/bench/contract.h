/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a document against the JSON contract of portmm-bench, schema 1. */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <jansson.h>

/* The whole of `text` is one JSON document; the caller decrefs it. */
json_t *parse_document(const char *text);

/* Every member of every level has the type it must have, none is missing or new, and the figures fit each other. */
void check_document(const json_t *document);

/* The row of ours for a temperature; fails the test if there is not exactly one. */
json_t *find_result(const json_t *document, const char *temperature);
/* The same for a peer. */
json_t *find_peer(const json_t *document, const char *name, const char *temperature);

#endif
