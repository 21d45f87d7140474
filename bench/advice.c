/* SPDX-License-Identifier: Apache-2.0 */
#include "advice.h"

#include "document.h"
#include "report.h"
#include "request.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static const double LEAST_SHARE = 0.05; /* of the way to the first result, to be worth a setting */
static const double DENORMAL_COST = 2;
/* Of a large library only what was used is in memory. */
static const double CACHED_LEAST = 0.05;
/* What NVIDIA's driver keeps unless it is told otherwise, at the least. */
static const double CUDA_CACHE_BYTES = 256.0 * 1024 * 1024;

static const json_t *environment_of(const json_t *document, const char *name) {
    return json_object_get(json_object_get(document, "environment"), name);
}

static const char *variable_of(const json_t *document, const char *name) {
    return bench_text_of(environment_of(document, "variables"), name);
}

/* New text, or NULL: not found. */
typedef char *(*find_function)(const json_t *document);

static char *find_persistence_off(const json_t *document) {
    const json_t *devices = environment_of(document, "nvidia");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        if (json_is_false(json_object_get(device, "persistence"))) {
            return bench_format("GPU %.0f (%s): persistence mode is off", bench_number_of(device, "index"),
                                bench_text_of(device, "name"));
        }
    }
    return NULL;
}

static char *find_driver_cache_off(const json_t *document) {
    static const struct cache_switch {
        const char *variable;
        bool off_when_set; /* else: off when "0" */
    } switches[] = {{"CUDA_CACHE_DISABLE", true},
                    {"POCL_KERNEL_CACHE", false},
                    {"MESA_SHADER_CACHE_DISABLE", true},
                    {"NEO_CACHE_PERSISTENT", false},
                    {"AMD_COMGR_CACHE", false}};
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        const char *value = variable_of(document, switches[i].variable);
        bool negative = strcmp(value, "0") == 0 || strcmp(value, "false") == 0;
        if (value[0] != '\0' && negative != switches[i].off_when_set) {
            return bench_format("%s=%s", switches[i].variable, value);
        }
    }
    return NULL;
}

static char *find_driver_cache_small(const json_t *document) {
    const char *value = variable_of(document, "CUDA_CACHE_MAXSIZE");
    double bytes = strtod(value, NULL);
    return value[0] != '\0' && bytes < CUDA_CACHE_BYTES
               ? bench_format("CUDA_CACHE_MAXSIZE=%s, and the driver's own choice is %.0f or more", value,
                              CUDA_CACHE_BYTES)
               : NULL;
}

static bool is_measured(const json_t *document, const char *backend) {
    const json_t *rows = json_object_get(document, "results");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (strcmp(bench_text_of(json_array_get(rows, i), "backend"), backend) == 0) {
            return true;
        }
    }
    return false;
}

/* The share of a phase in the median process of some row of the backend. */
static double largest_share(const json_t *document, const char *backend, const char *phase) {
    const json_t *rows = json_object_get(document, "results");
    double largest = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        double whole = bench_number_of(json_object_get(row, "process_to_result_ms"), "median");
        double portion = whole > 0 ? bench_number_of(json_object_get(row, "phases_ms"), phase) / whole : 0;
        if (strcmp(bench_text_of(row, "backend"), backend) == 0 && portion > largest) {
            largest = portion;
        }
    }
    return largest;
}

static char *find_many_icds(const json_t *document) {
    size_t count = json_array_size(environment_of(document, "icd_files"));
    double portion = largest_share(document, "opencl", "enumerate");
    return count > 1 && portion >= LEAST_SHARE
               ? bench_format("%zu OpenCL drivers are registered, and finding devices takes %.0f %% of a start", count,
                              100 * portion)
               : NULL;
}

static char *find_cold_page_cache(const json_t *document) {
    const json_t *files = environment_of(document, "page_cache_before");
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i), *cached = json_object_get(file, "cached");
        if (is_measured(document, bench_text_of(file, "backend")) && json_is_number(cached) &&
            json_number_value(cached) < CACHED_LEAST) {
            return bench_format("%.0f %% of %s was in memory when the run began", 100 * json_number_value(cached),
                                bench_text_of(file, "file"));
        }
    }
    return NULL;
}

static char *find_slow_denormals(const json_t *document) {
    double cost = bench_number_of(environment_of(document, "denormals"), "cost");
    return cost >= DENORMAL_COST
               ? bench_format("a product with denormal numbers takes this CPU %.0f times as long as one without", cost)
               : NULL;
}

static char *find_clock_limit(const json_t *document) {
    const json_t *clock = environment_of(document, "clock");
    double limit = bench_number_of(clock, "limit_khz"), most = bench_number_of(clock, "most_khz");
    const char *governor = bench_text_of(clock, "governor");
    if (limit > 0 && limit < most) {
        return bench_format("the CPU's clock is limited to %.0f of %.0f MHz", limit / 1000, most / 1000);
    }
    if (strcmp(governor, "powersave") == 0 || strcmp(governor, "conservative") == 0) {
        return bench_format("the CPU's clock is governed by '%s'", governor);
    }
    return NULL;
}

static char *find_throttling(const json_t *document) {
    double events = bench_number_of(environment_of(document, "clock"), "throttled");
    return events > 0 ? bench_format("the CPU was slowed down for its heat %.0f times during the run", events) : NULL;
}

static char *find_own_cache_off(const json_t *document) {
    const char *mode = variable_of(document, "PORTMM_CACHE");
    return strcmp(mode, "off") == 0 || strcmp(mode, "ro") == 0 ? bench_format("PORTMM_CACHE=%s", mode) : NULL;
}

static const struct rule {
    const char *cause;
    find_function find;
    const char *advice;
} rules[] = {
    {"persistence mode", find_persistence_off,
     "the driver is set up anew for each process that finds the GPU idle: start nvidia-persistenced, or nvidia-smi -pm "
     "1"},
    {"a driver cache that is off", find_driver_cache_off,
     "your programs compile at every start, though not those measured here, which get private caches: unset it"},
    {"a driver cache that is too small", find_driver_cache_small,
     "entries are thrown out and compiled again: unset it, or make it larger"},
    {"several OpenCL drivers", find_many_icds,
     "each is loaded at every start: keep only the file of the one you use, by OCL_ICD_VENDORS=FILE.icd"},
    {"files that are not in memory", find_cold_page_cache,
     "the first start reads from the disk: measure again for what the next one needs; read the file at boot to have "
     "that at once"},
    {"denormal numbers", find_slow_denormals,
     "where your matrices hold values below 1.2e-38, have them flushed to zero (-ffast-math when linking, or MXCSR's "
     "FTZ and DAZ)"},
    {"the CPU's clock", find_clock_limit, "first calls run on the CPU: cpupower frequency-set -g performance"},
    {"heat", find_throttling, "figures of this run are those of a hot machine: let it cool, then measure again"},
    {"libportmm's cache that is off", find_own_cache_off,
     "nothing, or nothing new, is kept for the next start, though it was in these measurements: unset it"},
};
enum { RULE_COUNT = sizeof rules / sizeof rules[0] };

json_t *bench_list_advice(const json_t *document) {
    json_t *list = json_array();
    for (size_t i = 0; i < RULE_COUNT; i++) {
        char *found = rules[i].find(document);
        if (found != NULL) {
            (void)json_array_append_new(list, json_pack("{s:s, s:o, s:s}", "cause", rules[i].cause, "found",
                                                        bench_json_string(found), "advice", rules[i].advice));
            free(found);
        }
    }
    return list;
}

static void print_not_found(FILE *output, const json_t *advice) {
    char *text = bench_format("looked for and not found, or not to be told here:");
    bool any = false;
    for (size_t i = 0; i < RULE_COUNT; i++) {
        bool found = false;
        for (size_t k = 0; k < json_array_size(advice); k++) {
            found = found || strcmp(bench_text_of(json_array_get(advice, k), "cause"), rules[i].cause) == 0;
        }
        if (!found) {
            char *longer = bench_format("%s%s %s", text, any ? ";" : "", rules[i].cause);
            free(text);
            text = longer;
            any = true;
        }
    }
    bench_print_wrapped(output, "  ", text);
    free(text);
}

void bench_print_advice(FILE *output, const json_t *document, bool fully) {
    json_t *advice = bench_list_advice(document);
    if (fully || json_array_size(advice) != 0) {
        fputs("what would help here\n", output);
    }
    for (size_t i = 0; i < json_array_size(advice); i++) {
        const json_t *item = json_array_get(advice, i);
        char *line = bench_format("%s: %s", bench_text_of(item, "found"), bench_text_of(item, "advice"));
        bench_print_wrapped(output, "  - ", line);
        free(line);
    }
    if (fully) {
        print_not_found(output, advice);
    }
    if (fully || json_array_size(advice) != 0) {
        fputc('\n', output);
    }
    json_decref(advice);
}
