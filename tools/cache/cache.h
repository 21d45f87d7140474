/* SPDX-License-Identifier: Apache-2.0 */
/* portmm-cache: each command makes one JSON object, which is printed as it is or as text. */
#ifndef TOOL_CACHE_H
#define TOOL_CACHE_H

#include <stdbool.h>

#include <jansson.h>
#include <portmm/cache.h>

enum { TOOL_FINE = 0, TOOL_PROBLEM = 1, TOOL_USAGE = 2, TOOL_UNAVAILABLE = 3 };

typedef struct tool_request {
    const char *command;
    const char *const *operands; /* ended by NULL */
    bool json, dry_run, remove, recompile;
    const char *directory, *path_ro; /* NULL: by the environment */
    const char *backends, *dtypes, *shapes, *transposes;
    uint64_t max_size;
    bool has_max_size;
} tool_request;

/* Fills `result`, an object, and returns an exit status. A complaint is printed where the command cannot be done. */
int tool_path(const tool_request *request, portmm_cache *cache, json_t *result);
int tool_stats(const tool_request *request, portmm_cache *cache, json_t *result);
int tool_list(const tool_request *request, portmm_cache *cache, json_t *result);
int tool_explain(const tool_request *request, portmm_cache *cache, json_t *result);
int tool_verify(const tool_request *request, portmm_cache *cache, json_t *result);
int tool_prune(const tool_request *request, portmm_cache *cache, json_t *result);
int tool_clear(const tool_request *request, portmm_cache *cache, json_t *result);
int tool_prewarm(const tool_request *request, portmm_cache *cache, json_t *result);
int tool_seal(const tool_request *request, portmm_cache *cache, json_t *result);
int tool_import(const tool_request *request, portmm_cache *cache, json_t *result);

/* The same object as text. */
void tool_print_path(const json_t *result);
void tool_print_stats(const json_t *result);
void tool_print_list(const json_t *result);
void tool_print_explain(const json_t *result);
void tool_print_verify(const json_t *result);
void tool_print_removed(const json_t *result);
void tool_print_prewarm(const json_t *result);
void tool_print_moved(const json_t *result);

/* verify --recompile: adds "recompiled" to the result. */
int tool_recompile(const tool_request *request, portmm_cache *cache, json_t *result);

/* "portmm-cache: COMMAND: ..." on stderr; returns `status`. */
int tool_complain(const tool_request *request, int status, const char *format, ...);
/* With portmm_last_error. */
int tool_complain_last(const tool_request *request, int status);

/* Members of an object; 0 and "" where they are missing. */
long long tool_number(const json_t *object, const char *name);
const char *tool_text(const json_t *object, const char *name);
void tool_set_number(json_t *object, const char *name, uint64_t value);
void tool_set_text(json_t *object, const char *name, const char *text);
/* Bytes that are no UTF-8 text are told by their number. */
void tool_set_bytes(json_t *object, const char *name, const void *data, size_t size);

#endif
