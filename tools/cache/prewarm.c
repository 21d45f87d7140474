/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that open a device: prewarm and explain. */
#include <stdio.h>
#include <string.h>

#include "cache/problems.h"

typedef struct warming {
    json_t *products;
    unsigned compiled, loaded, there, failed;
} warming;

static void prewarm_one(portmm_context *context, const char *spec, const portmm_problem *problem, void *user) {
    warming *this = user;
    portmm_cache_prewarmed report = PORTMM_CACHE_PREWARMED_INIT;
    char error[512];
    snprintf(error, sizeof error, "%s", portmm_last_error()); /* of the device that cannot be opened */
    portmm_status status = PORTMM_STATUS_UNAVAILABLE;
    if (context != NULL) {
        status = portmm_cache_prewarm(context, problem, &report);
        snprintf(error, sizeof error, "%s", status != PORTMM_STATUS_SUCCESS ? portmm_last_error() : "");
    }
    json_t *product = tool_describe(context, spec, problem);
    tool_set_number(product, "compiled", report.compiled);
    tool_set_number(product, "loaded", report.loaded);
    tool_set_number(product, "stored", report.stored);
    json_object_set_new(product, "already_there", json_boolean(report.already_there));
    json_object_set_new(product, "failed", json_boolean(status != PORTMM_STATUS_SUCCESS));
    tool_set_text(product, "error", error);
    tool_set_number(product, "ns", report.ns);
    json_array_append_new(this->products, product);
    this->compiled += (unsigned)report.compiled;
    this->loaded += (unsigned)report.loaded;
    this->there += report.already_there != 0;
    this->failed += status != PORTMM_STATUS_SUCCESS;
}

static void set_options(const tool_request *request, portmm_cache_mode mode, portmm_context_options *options) {
    *options = (portmm_context_options)PORTMM_CONTEXT_OPTIONS_INIT;
    options->cache_dir = request->directory;
    options->cache_path_ro = request->path_ro;
    options->cache_mode = mode;
    options->warmup = PORTMM_WARMUP_THREAD; /* of many at once, one compiles */
}

int tool_prewarm(const tool_request *request, portmm_cache *cache, json_t *result) {
    portmm_context_options options;
    warming this = {.products = json_array()};
    json_object_set_new(result, "products", this.products);
    if (portmm_cache_why_off(cache)[0] != '\0')
        return tool_complain(request, TOOL_UNAVAILABLE, "%s", portmm_cache_why_off(cache));
    set_options(request, PORTMM_CACHE_READ_WRITE, &options);
    if (!tool_visit_problems(request, &options, prewarm_one, &this))
        return TOOL_USAGE;
    tool_set_number(result, "compiled", this.compiled);
    tool_set_number(result, "loaded", this.loaded);
    tool_set_number(result, "already_there", this.there);
    tool_set_number(result, "failed", this.failed);
    return this.failed == 0 ? TOOL_FINE : TOOL_PROBLEM;
}

/* ---- explain ---- */

static int add_difference(const portmm_cache_difference *difference, void *user) {
    json_t *one = json_object();
    tool_set_text(one, "missing", difference->name);
    tool_set_text(one, "kind", difference->kind);
    tool_set_text(one, "nearest", difference->nearest);
    if (difference->nearest[0] != '\0') {
        tool_set_text(one, "field", difference->label);
        tool_set_bytes(one, "wanted", difference->wanted, difference->wanted_size);
        tool_set_bytes(one, "found", difference->found, difference->found_size);
    }
    json_array_append_new(user, one);
    return 0;
}

typedef struct explaining {
    json_t *products;
    unsigned missed, failed;
} explaining;

/* The product itself, on a cache that is only read. */
static void explain_one(portmm_context *context, const char *spec, const portmm_problem *problem, void *user) {
    explaining *this = user;
    char error[512] = "";
    json_t *product = tool_describe(context, spec, problem), *differences = json_array();
    if (context == NULL || portmm_prewarm(context, problem) != PORTMM_STATUS_SUCCESS ||
        portmm_cache_explain(context, add_difference, differences) != PORTMM_STATUS_SUCCESS) {
        snprintf(error, sizeof error, "%s", portmm_last_error());
        this->failed++;
    }
    this->missed += json_array_size(differences) > 0;
    tool_set_text(product, "error", error);
    json_object_set_new(product, "differences", differences);
    json_array_append_new(this->products, product);
}

int tool_explain(const tool_request *request, portmm_cache *cache, json_t *result) {
    portmm_context_options options;
    explaining this = {.products = json_array()};
    json_object_set_new(result, "products", this.products);
    if (portmm_cache_why_off(cache)[0] != '\0')
        return tool_complain(request, TOOL_UNAVAILABLE, "%s", portmm_cache_why_off(cache));
    set_options(request, PORTMM_CACHE_READ_ONLY, &options);
    if (!tool_visit_problems(request, &options, explain_one, &this))
        return TOOL_USAGE;
    tool_set_number(result, "missed", this.missed);
    return this.failed == 0 ? TOOL_FINE : TOOL_PROBLEM;
}
