/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_state.h"

#include "environment.h"
#include "platform.h"
#include "request.h"
#include "stats.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* ---- page cache ---- */

/* Beside the OpenCL drivers that are registered. */
static const struct vendor_library {
    const char *backend, *name;
} vendor_libraries[] = {
    {"cpu", "libopenblas.so.0"}, {"opencl", "libOpenCL.so.1"}, {"opencl", "libclblast.so.1"},
    {"cuda", "libcuda.so.1"},    {"cuda", "libcublas.so.13"},  {"cuda", "libcublas.so.12"},
};

typedef struct search {
    const char *name;
    char *found;
} search;

static void look_in(const char *directory, search *self) {
    char *path = bench_format("%s/%s", directory, self->name);
    if (self->found == NULL && bench_is_readable(path)) {
        self->found = path;
    } else {
        free(path);
    }
}

/* One of the dynamic linker's lists of directories. */
static void look_in_list(const char *list, void *user_data) {
    char line[512];
    for (size_t number = 0; bench_read_numbered_line(list, number, line, sizeof line); number++) {
        if (line[0] == '/') {
            look_in(line, user_data);
        }
    }
}

static void look_in_path(const char *path, search *self) {
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char *directory = bench_copy(path, length);
        if (directory[0] == '/') {
            look_in(directory, self);
        }
        free(directory);
        path += length + (path[length] == ':' ? 1 : 0);
    }
}

/* Where the dynamic linker would find it; loading it would change what is to be told. New text, or NULL. */
static char *find_library(const char *name) {
    static const char *const directories[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
    if (strchr(name, '/') != NULL) {
        return bench_is_readable(name) ? bench_copy(name, strlen(name)) : NULL;
    }
    search self = {.name = name};
    look_in_path(getenv("LD_LIBRARY_PATH"), &self);
    bench_visit_directory("/etc/ld.so.conf.d", look_in_list, &self);
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        look_in(directories[i], &self);
    }
    return self.found;
}

static void add_file(json_t *files, const char *backend, const char *name) {
    char *path = find_library(name);
    if (path != NULL) {
        double share = bench_cached_share(path);
        (void)json_array_append_new(files,
                                    json_pack("{s:s, s:o, s:o}", "backend", backend, "file", bench_json_string(path),
                                              "cached", share >= 0 ? json_real(share) : json_null()));
        free(path);
    }
}

json_t *bench_describe_page_cache(void) {
    json_t *files = json_array(), *drivers = bench_list_icd_files();
    for (size_t i = 0; i < json_array_size(drivers); i++) {
        const char *library = json_string_value(json_object_get(json_array_get(drivers, i), "library"));
        if (library != NULL && library[0] != '\0') {
            add_file(files, "opencl", library);
        }
    }
    for (size_t i = 0; i < sizeof vendor_libraries / sizeof vendor_libraries[0]; i++) {
        add_file(files, vendor_libraries[i].backend, vendor_libraries[i].name);
    }
    json_decref(drivers);
    return files;
}

/* ---- clock ---- */

static int64_t read_number(const char *directory, const char *name) {
    char line[64];
    int64_t number = 0;
    char *path = bench_format("%s/%s", directory, name);
    bench_read_line(path, line, sizeof line);
    free(path);
    return bench_parse_integer(line, 0, INT64_MAX, &number) ? number : 0;
}

static void add_throttling(const char *entry, void *total) {
    *(int64_t *)total += read_number(entry, "thermal_throttle/core_throttle_count");
}

json_t *bench_describe_clock(const char *cpus) {
    char governor[64];
    char *first = bench_format("%s/cpu0/cpufreq", cpus), *path = bench_format("%s/scaling_governor", first);
    int64_t throttled = 0;
    bench_read_line(path, governor, sizeof governor);
    bench_visit_directory(cpus, add_throttling, &throttled);
    json_t *clock =
        json_pack("{s:o, s:I, s:I, s:I}", "governor", bench_json_string(governor), "limit_khz",
                  (json_int_t)read_number(first, "scaling_max_freq"), "most_khz",
                  (json_int_t)read_number(first, "cpuinfo_max_freq"), "throttle_count", (json_int_t)throttled);
    free(path);
    free(first);
    return clock;
}

/* ---- denormal numbers ---- */

enum { PRODUCTS = 20000, TRIES = 15 };

static double time_products(float factor) {
    volatile float source = factor, result;
    uint64_t begin = bench_clock_ns();
    for (int i = 0; i < PRODUCTS; i++) {
        result = source * 0.5F;
    }
    (void)result;
    return (double)(bench_clock_ns() - begin);
}

json_t *bench_describe_denormals(void) {
    bench_series normal = {0}, denormal = {0};
    for (int i = 0; i < TRIES; i++) {
        bench_series_add(&normal, time_products(1.0F));
        bench_series_add(&denormal, time_products(0x1p-140F));
    }
    double least = bench_summarize(&normal).min;
    json_t *result = json_pack("{s:f}", "cost", least > 0 ? bench_summarize(&denormal).min / least : 0.0);
    bench_series_fini(&normal);
    bench_series_fini(&denormal);
    return result;
}
