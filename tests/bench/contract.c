/* SPDX-License-Identifier: Apache-2.0 */
#include "contract.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct member {
    const char *name;
    json_type type;
} member;

static const char *const phase_names[] = {
    "load",        "enumerate", "context", "cache_lookup", "build",  "binary_load", "kernel_create",
    "engine_init", "allocate",  "upload",  "first_launch", "steady", "download",    "unattributed",
};
enum { PHASE_COUNT = sizeof phase_names / sizeof phase_names[0] };

json_t *parse_document(const char *text) {
    json_error_t error;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(document != NULL, "not one JSON document: line %d: %s", error.line, error.text);
    return document;
}

static void check_member(const json_t *object, const char *name, json_type type) {
    const json_t *value = json_object_get(object, name);
    ck_assert_msg(value != NULL, "member '%s' is missing", name);
    bool fits = type == JSON_REAL ? json_is_number(value) : type == JSON_TRUE && json_is_boolean(value);
    ck_assert_msg(fits || json_typeof(value) == type, "member '%s' has type %d", name, (int)json_typeof(value));
}

static double number_at(const json_t *object, const char *name) {
    check_member(object, name, JSON_REAL);
    return json_number_value(json_object_get(object, name));
}

static const char *text_at(const json_t *object, const char *name) {
    check_member(object, name, JSON_STRING);
    return json_string_value(json_object_get(object, name));
}

static bool is_warm(const json_t *row) {
    return strcmp(text_at(row, "temperature"), "warm") == 0;
}

static void check_summary(const json_t *row, const char *name, size_t values) {
    const json_t *summary = json_object_get(row, name);
    ck_assert_msg(json_is_object(summary), "'%s' is missing", name);
    ck_assert_uint_eq(json_object_size(summary), 5);
    const json_t *raw = json_object_get(summary, "raw");
    ck_assert_msg(json_is_array(raw), "'%s' has no raw values", name);
    double min = INFINITY, max = -INFINITY;
    for (size_t i = 0; i < json_array_size(raw); i++) {
        double value = json_number_value(json_array_get(raw, i));
        ck_assert_msg(value > 0, "'%s' has a value that is not positive", name);
        min = fmin(min, value);
        max = fmax(max, value);
    }
    ck_assert_uint_ge(json_array_size(raw), 1);
    if (values != 0) {
        ck_assert_uint_eq(json_array_size(raw), values);
    }
    ck_assert_double_eq(number_at(summary, "min"), min);
    ck_assert_double_eq(number_at(summary, "max"), max);
    ck_assert_double_ge(number_at(summary, "median"), min);
    ck_assert_double_le(number_at(summary, "median"), max);
    ck_assert_double_ge(number_at(summary, "iqr"), 0);
    ck_assert_double_le(number_at(summary, "iqr"), max - min + 1e-9);
}

/* A run cannot end before its last call has returned. */
static void check_runs(const json_t *row) {
    const json_t *complete = json_object_get(row, "runs_ms"),
                 *returned = json_object_get(row, "runs_unsynchronised_ms");
    ck_assert(json_is_array(complete) && json_is_array(returned));
    ck_assert_uint_eq(json_array_size(complete), json_array_size(returned));
    for (size_t i = 0; i < json_array_size(complete); i++) {
        double unsynchronised = json_number_value(json_array_get(returned, i));
        ck_assert_double_gt(unsynchronised, 0);
        ck_assert_double_le(unsynchronised, json_number_value(json_array_get(complete, i)));
    }
}

/* What rows of ours and of peers have in common. Returns the number of members. */
static size_t check_times(const json_t *row) {
    size_t samples = (size_t)number_at(row, "samples");
    check_member(row, "samples", JSON_INTEGER);
    ck_assert_uint_ge(samples, 1);
    check_summary(row, "process_to_result_ms", samples);
    check_summary(row, "first_gemm_ms", samples);
    for (size_t i = 0; i < samples; i++) {
        const json_t *whole = json_object_get(json_object_get(row, "process_to_result_ms"), "raw");
        const json_t *part = json_object_get(json_object_get(row, "first_gemm_ms"), "raw");
        ck_assert_double_lt(json_number_value(json_array_get(part, i)), json_number_value(json_array_get(whole, i)));
    }
    ck_assert_msg((json_object_get(row, "gemm_ms") != NULL) == is_warm(row), "gemm_ms belongs to warm rows alone");
    if (is_warm(row)) {
        check_summary(row, "gemm_ms", 0);
        check_summary(row, "gemm_by_process_ms", samples);
    }
    check_runs(row);
    check_member(row, "loops", JSON_INTEGER);
    return is_warm(row) ? 8 : 6;
}

static size_t check_members(const json_t *object, const member *members, size_t count) {
    for (size_t i = 0; i < count; i++) {
        check_member(object, members[i].name, members[i].type);
    }
    return count;
}

/* The phases of each sample, with what stays unexplained, are its time. */
static void check_attribution(const json_t *row) {
    const json_t *times = json_object_get(json_object_get(row, "process_to_result_ms"), "raw");
    const json_t *phases = json_object_get(row, "phases_raw_ms");
    ck_assert_uint_eq(json_object_size(phases), PHASE_COUNT);
    for (size_t i = 0; i < json_array_size(times); i++) {
        double sum = 0;
        for (size_t p = 0; p < PHASE_COUNT; p++) {
            const json_t *values = json_object_get(phases, phase_names[p]);
            ck_assert_uint_eq(json_array_size(values), json_array_size(times));
            sum += json_number_value(json_array_get(values, i));
        }
        ck_assert_double_lt(fabs(sum - json_number_value(json_array_get(times, i))), 1e-6);
    }
}

static void check_phases(const json_t *row) {
    const json_t *phases = json_object_get(row, "phases_ms");
    double sum = 0;
    for (size_t i = 0; i < PHASE_COUNT; i++) {
        sum += number_at(phases, phase_names[i]);
    }
    ck_assert_uint_eq(json_object_size(phases), PHASE_COUNT);
    const json_t *raw = json_object_get(json_object_get(row, "process_to_result_ms"), "raw");
    double nearest = INFINITY;
    for (size_t i = 0; i < json_array_size(raw); i++) {
        nearest = fmin(nearest, fabs(json_number_value(json_array_get(raw, i)) - sum));
    }
    ck_assert_msg(nearest < 0.1, "the phases add up to %g ms, which no sample took", sum);
    if (json_array_size(raw) % 2 == 1) {
        double median = number_at(json_object_get(row, "process_to_result_ms"), "median");
        ck_assert_double_lt(fabs(sum - median), 0.1);
    }
    check_attribution(row);
    /* The process's own start, the host's matrices and the product are never free. */
    ck_assert_double_gt(number_at(phases, "load"), 0);
    ck_assert_double_gt(number_at(phases, "allocate"), 0);
    ck_assert_double_gt(number_at(phases, "first_launch"), 0);
}

static void check_gflops(const json_t *row) {
    const char *times = is_warm(row) ? "gemm_ms" : "first_gemm_ms";
    double ms = number_at(json_object_get(row, times), "median");
    double flop = 2 * number_at(row, "m") * number_at(row, "n") * number_at(row, "k");
    double expected = flop / (ms * 1e6);
    ck_assert_double_lt(fabs(number_at(row, "gflops") - expected), 1e-6 * expected);
}

static void check_result(const json_t *row) {
    static const member members[] = {
        {"backend", JSON_STRING},
        {"device", JSON_STRING},
        {"driver", JSON_STRING},
        {"engine", JSON_STRING},
        {"m", JSON_INTEGER},
        {"n", JSON_INTEGER},
        {"k", JSON_INTEGER},
        {"dtype", JSON_STRING},
        {"start", JSON_STRING},
        {"temperature", JSON_STRING},
        {"samples", JSON_INTEGER},
        {"gflops", JSON_REAL},
        {"max_rel_error", JSON_REAL},
        {"phases_ms", JSON_OBJECT},
        {"cache", JSON_OBJECT},
        {"index", JSON_INTEGER},
        {"platform", JSON_STRING},
        {"transa", JSON_STRING},
        {"transb", JSON_STRING},
        {"switches", JSON_ARRAY},
        {"timeline", JSON_ARRAY},
        {"repeat", JSON_STRING},
        {"parent_ms", JSON_OBJECT},
        {"settled", JSON_TRUE},
        {"phases_raw_ms", JSON_OBJECT},
    };
    static const member counts[] = {
        {"hits", JSON_INTEGER},     {"misses", JSON_INTEGER}, {"stores", JSON_INTEGER},
        {"bypassed", JSON_INTEGER}, {"bytes", JSON_INTEGER},
    };
    size_t known = check_members(row, members, sizeof members / sizeof members[0]);
    known += check_times(row) - 1; /* "samples" is in both */
    ck_assert_uint_eq(json_object_size(row), known);
    check_phases(row);
    check_gflops(row);
    const json_t *cache = json_object_get(row, "cache");
    ck_assert_uint_eq(json_object_size(cache), check_members(cache, counts, sizeof counts / sizeof counts[0]));
    double bound = strcmp(text_at(row, "dtype"), "f32") == 0 ? 0x1p-24 : 0x1p-53;
    ck_assert_double_lt(number_at(row, "max_rel_error"), bound);
    ck_assert_str_eq(text_at(row, "start"), "fast"); /* the default */
}

static void check_peer(const json_t *row) {
    static const member members[] = {
        {"name", JSON_STRING},     {"backend", JSON_STRING}, {"device", JSON_STRING}, {"m", JSON_INTEGER},
        {"n", JSON_INTEGER},       {"k", JSON_INTEGER},      {"dtype", JSON_STRING},  {"temperature", JSON_STRING},
        {"samples", JSON_INTEGER}, {"index", JSON_INTEGER},  {"transa", JSON_STRING}, {"transb", JSON_STRING},
    };
    size_t known = check_members(row, members, sizeof members / sizeof members[0]);
    known += check_times(row) - 1;
    ck_assert_uint_eq(json_object_size(row), known);
}

static void check_environment(const json_t *environment) {
    static const member members[] = {
        {"date", JSON_STRING},          {"cpu", JSON_STRING},       {"cores", JSON_INTEGER},
        {"memory_bytes", JSON_INTEGER}, {"system", JSON_STRING},    {"distribution", JSON_STRING},
        {"drivers", JSON_ARRAY},        {"variables", JSON_OBJECT}, {"governor", JSON_STRING},
        {"revision", JSON_STRING},      {"icd_files", JSON_ARRAY},
    };
    static const char *const private_names[] = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "CUDA_HOME"};
    (void)check_members(environment, members, sizeof members / sizeof members[0]);
    ck_assert_int_ge(json_integer_value(json_object_get(environment, "cores")), 1);
    const char *name;
    json_t *value, *variables = json_object_get(environment, "variables");
    json_object_foreach(variables, name, value) {
        ck_assert_msg(json_is_string(value), "variable '%s' is not text", name);
        for (size_t i = 0; i < sizeof private_names / sizeof private_names[0]; i++) {
            ck_assert_msg(strcmp(name, private_names[i]) != 0, "variable '%s' is nobody's business", name);
        }
    }
}

void check_document(const json_t *document) {
    static const member members[] = {
        {"schema", JSON_INTEGER}, {"portmm", JSON_STRING},     {"environment", JSON_OBJECT},
        {"results", JSON_ARRAY},  {"peers", JSON_ARRAY},       {"absent_peers", JSON_ARRAY},
        {"warnings", JSON_ARRAY}, {"interrupted", JSON_FALSE},
    };
    ck_assert_uint_eq(json_object_size(document), check_members(document, members, sizeof members / sizeof members[0]));
    ck_assert_int_eq(json_integer_value(json_object_get(document, "schema")), 4);
    check_environment(json_object_get(document, "environment"));
    size_t i;
    json_t *row;
    ck_assert_uint_ge(json_array_size(json_object_get(document, "results")), 1);
    json_array_foreach(json_object_get(document, "results"), i, row) {
        check_result(row);
    }
    json_array_foreach(json_object_get(document, "peers"), i, row) {
        check_peer(row);
    }
    json_array_foreach(json_object_get(document, "absent_peers"), i, row) {
        static const member absent[] = {{"name", JSON_STRING}, {"backend", JSON_STRING}, {"reason", JSON_STRING}};
        ck_assert_uint_eq(json_object_size(row), check_members(row, absent, 3));
    }
}

static json_t *find_row(const json_t *rows, const char *name, const char *temperature) {
    json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        bool named = name == NULL || strcmp(text_at(row, "name"), name) == 0;
        if (named && strcmp(text_at(row, "temperature"), temperature) == 0) {
            ck_assert_msg(found == NULL, "there are two rows for %s", temperature);
            found = row;
        }
    }
    ck_assert_msg(found != NULL, "there is no row for %s", temperature);
    return found;
}

json_t *find_result(const json_t *document, const char *temperature) {
    return find_row(json_object_get(document, "results"), NULL, temperature);
}

json_t *find_peer(const json_t *document, const char *name, const char *temperature) {
    return find_row(json_object_get(document, "peers"), name, temperature);
}
