/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify --recompile: known-answer products once with the cache as it is, and once with an empty one, so that every
 * program of theirs is compiled anew, without the drivers' own caches. Binaries that differ are no fault by themselves:
 * not every compiler makes the same bytes twice. The products decide.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/problems.h"
#include "platform.h"

typedef enum half { AS_IT_IS, ANEW } half;

typedef struct recompiling {
    half now;
    json_t *products;
    unsigned wrong, failed;
} recompiling;

/* Whole numbers from -2 to 2, whose sums f32 holds exactly. */
static double pick(int64_t row, int64_t column, unsigned seed) {
    uint64_t mixed = ((uint64_t)row * 2654435761u + (uint64_t)column * 40503u + seed) * 0x9e3779b97f4a7c15u;
    return (double)((mixed >> 33) % 5) - 2;
}

static void put(void *data, portmm_dtype dtype, int64_t at, double value) {
    if (dtype == PORTMM_F64)
        ((double *)data)[at] = value;
    else
        ((float *)data)[at] = (float)value;
}

static double get(const void *data, portmm_dtype dtype, int64_t at) {
    return dtype == PORTMM_F64 ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void fill(void *data, const portmm_problem *problem, bool transposed, int64_t rows, int64_t columns,
                 unsigned seed) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            put(data, problem->dtype, transposed ? j * rows + i : i * columns + j, pick(i, j, seed));
}

/* y = M x for the matrix of `fill`. */
static void apply(const double *x, double *y, int64_t rows, int64_t columns, unsigned seed) {
    for (int64_t i = 0; i < rows; i++) {
        y[i] = 0;
        for (int64_t j = 0; j < columns; j++)
            y[i] += pick(i, j, seed) * x[j];
    }
}

/* C x = A (B x) for an x of whole numbers, exactly; a wrong element shows, unless weights make up for it. */
static bool is_product(const void *c, const portmm_problem *problem) {
    double *x = malloc((size_t)problem->n * sizeof *x), *inner = malloc((size_t)problem->k * sizeof *inner);
    double *y = malloc((size_t)problem->m * sizeof *y);
    bool right = x != NULL && inner != NULL && y != NULL;
    for (int64_t j = 0; right && j < problem->n; j++)
        x[j] = (double)(1 + j % 97);
    if (right) {
        apply(x, inner, problem->k, problem->n, 2);
        apply(inner, y, problem->m, problem->k, 1);
    }
    for (int64_t i = 0; right && i < problem->m; i++) {
        double sum = 0;
        for (int64_t j = 0; j < problem->n; j++)
            sum += get(c, problem->dtype, i * problem->n + j) * x[j];
        right = sum == y[i];
    }
    free(x);
    free(inner);
    free(y);
    return right;
}

static portmm_status multiply(portmm_context *context, const portmm_problem *problem, bool *right) {
    const float one = 1, zero = 0;
    const double one64 = 1, zero64 = 0;
    bool wide = problem->dtype == PORTMM_F64;
    size_t element = wide ? sizeof(double) : sizeof(float);
    void *a = calloc((size_t)(problem->m * problem->k), element),
         *b = calloc((size_t)(problem->k * problem->n), element);
    void *c = calloc((size_t)(problem->m * problem->n), element);
    portmm_status status = PORTMM_STATUS_OUT_OF_MEMORY;
    if (a != NULL && b != NULL && c != NULL) {
        fill(a, problem, problem->transa != PORTMM_NO_TRANS, problem->m, problem->k, 1);
        fill(b, problem, problem->transb != PORTMM_NO_TRANS, problem->k, problem->n, 2);
        status = portmm_gemm_host(context, problem, wide ? (const void *)&one64 : &one, a, b,
                                  wide ? (const void *)&zero64 : &zero, c, NULL);
        *right = status == PORTMM_STATUS_SUCCESS && is_product(c, problem);
    }
    free(a);
    free(b);
    free(c);
    return status;
}

static void run_one(portmm_context *context, const char *spec, const portmm_problem *problem, void *user) {
    recompiling *this = user;
    bool right = false;
    portmm_status status = context == NULL ? PORTMM_STATUS_UNAVAILABLE : portmm_prewarm(context, problem);
    if (status == PORTMM_STATUS_SUCCESS)
        status = multiply(context, problem, &right);
    json_t *product = tool_describe(context, spec, problem);
    json_object_set_new(product, "compiled_anew", json_boolean(this->now == ANEW));
    json_object_set_new(product, "right", json_boolean(right));
    tool_set_text(product, "error", status != PORTMM_STATUS_SUCCESS ? portmm_last_error() : "");
    json_array_append_new(this->products, product);
    this->failed += status != PORTMM_STATUS_SUCCESS;
    this->wrong += status == PORTMM_STATUS_SUCCESS && !right;
}

typedef struct comparing {
    portmm_cache *cache, *anew;
    char names[256][40];
    size_t count;
} comparing;

static int keep_name(const portmm_cache_entry *entry, void *user) {
    comparing *this = user;
    if (strstr(entry->kind, "program") != NULL && this->count < sizeof this->names / sizeof *this->names)
        snprintf(this->names[this->count++], sizeof *this->names, "%s", entry->name);
    return 0;
}

static const char *compare_one(const comparing *this, const char *name) {
    void *built = NULL, *kept = NULL;
    size_t built_size = 0, kept_size = 0;
    const char *outcome = "unreadable";
    if (portmm_cache_read_payload(this->anew, 0, name, &built, &built_size) == PORTMM_STATUS_SUCCESS) {
        outcome = "not in the cache";
        for (size_t i = 0; i < portmm_cache_place_count(this->cache) && kept == NULL; i++)
            if (portmm_cache_read_payload(this->cache, i, name, &kept, &kept_size) == PORTMM_STATUS_SUCCESS)
                outcome = kept_size == built_size && memcmp(kept, built, built_size) == 0 ? "same" : "other bytes";
    }
    portmm_cache_free(built);
    portmm_cache_free(kept);
    return outcome;
}

static json_t *compare_programs(portmm_cache *cache, portmm_cache *anew) {
    static comparing this;
    json_t *programs = json_array();
    this = (comparing){.cache = cache, .anew = anew};
    portmm_cache_visit_entries(anew, 0, keep_name, &this);
    for (size_t i = 0; i < this.count; i++) {
        json_t *one = json_object();
        tool_set_text(one, "name", this.names[i]);
        tool_set_text(one, "outcome", compare_one(&this, this.names[i]));
        json_array_append_new(programs, one);
    }
    return programs;
}

static bool only_real(const char *dtypes) {
    return strcmp(dtypes, "f32") == 0 || strcmp(dtypes, "f64") == 0 || strcmp(dtypes, "f32,f64") == 0 ||
           strcmp(dtypes, "f64,f32") == 0;
}

static int recompile(const tool_request *request, portmm_cache *cache, const char *root, json_t *result) {
    recompiling this = {.products = json_array()};
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_cache *anew = NULL;
    json_object_set_new(result, "products", this.products);
    options.warmup = PORTMM_WARMUP_OFF;
    for (this.now = AS_IT_IS; this.now <= ANEW; this.now++) {
        options.cache_dir = this.now == ANEW ? root : request->directory;
        options.cache_path_ro = this.now == ANEW ? "/nonexistent" : request->path_ro;
        options.cache_mode = this.now == ANEW ? PORTMM_CACHE_READ_WRITE : PORTMM_CACHE_READ_ONLY;
        if (!tool_visit_problems(request, &options, run_one, &this))
            return TOOL_USAGE;
    }
    tool_set_number(result, "wrong", this.wrong);
    tool_set_number(result, "failed", this.failed);
    options.cache_dir = root;
    if (portmm_cache_create(&options, &anew) != PORTMM_STATUS_SUCCESS)
        return tool_complain_last(request, TOOL_UNAVAILABLE);
    json_object_set_new(result, "programs", compare_programs(cache, anew));
    portmm_cache_destroy(anew);
    return this.wrong + this.failed == 0 ? TOOL_FINE : TOOL_PROBLEM;
}

int tool_recompile(const tool_request *request, portmm_cache *cache, json_t *result) {
    if (!only_real(request->dtypes))
        return tool_complain(request, TOOL_USAGE,
                             "--recompile multiplies in f32 and f64: give --dtype f32, f64 or both");
    char *root = tool_make_private_directory();
    if (root == NULL)
        return tool_complain(request, TOOL_UNAVAILABLE, "no private directory in $TMPDIR or /tmp");
    tool_redirect_driver_caches(root);
    int status = recompile(request, cache, root, result);
    tool_remove_tree(root);
    free(root);
    return status;
}
