/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory.h"

#include "terminal.h"

#include <stdlib.h>
#include <string.h>

static json_t *make_failed(const char *backend, const char *reason) {
    return json_pack("{s:[{s:s, s:s, s:b, s:o}], s:[]}", "backends", "name", backend, "module_file", "", "available", 0,
                     "unavailable_reason", bench_json_string(reason), "devices");
}

json_t *bench_inventory_probe(bench_launcher *launcher, const char *backend) {
    bench_failure failure = {0};
    char *directory = bench_dirs_make(&launcher->dirs);
    if (directory == NULL) {
        return make_failed(backend, "no private directory can be made");
    }
    bench_progress("looking at backend %s", backend);
    bench_launch_request request = {
        .mode = BENCH_INVENTORY_CHILD,
        .text = backend,
        .caches = {.drivers = directory},
    };
    json_t *result = bench_launch(launcher, &request, &failure);
    bench_dirs_drop(directory);
    bench_progress_clear();
    return result != NULL ? result : make_failed(backend, failure.text);
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static void print_size(FILE *output, const char *what, const json_t *bytes) {
    double gibibytes = (double)json_integer_value(bytes) / 0x1p30;
    if (gibibytes > 0) {
        fprintf(output, ", %s %.1f GiB", what, gibibytes);
    }
}

static void print_line(FILE *output, const char *what, const json_t *device, const char *key) {
    if (text_of(device, key)[0] != '\0') {
        fprintf(output, "      %-9s %s\n", what, text_of(device, key));
    }
}

static void print_device(FILE *output, const json_t *device) {
    fprintf(output, "  %s:%lld  %s\n", text_of(device, "backend"),
            (long long)json_integer_value(json_object_get(device, "index")), text_of(device, "name"));
    print_line(output, "platform", device, "platform_name");
    print_line(output, "version", device, "platform_version");
    print_line(output, "vendor", device, "vendor");
    print_line(output, "driver", device, "driver_version");
    fprintf(output, "      device    %s, %lld compute units", text_of(device, "type"),
            (long long)json_integer_value(json_object_get(device, "compute_units")));
    print_size(output, "memory", json_object_get(device, "memory_size"));
    print_size(output, "largest buffer", json_object_get(device, "max_allocation"));
    fprintf(output, ", f32%s%s\n", json_is_true(json_object_get(device, "has_f64")) ? ", f64" : "",
            json_is_true(json_object_get(device, "has_f16")) ? ", f16" : "");
    fprintf(output, "      engines   %s\n",
            text_of(device, "engines")[0] != '\0' ? text_of(device, "engines") : "none");
    if (text_of(device, "unavailable_reason")[0] != '\0') {
        fprintf(output, "      UNAVAILABLE: %s\n", text_of(device, "unavailable_reason"));
    }
}

/* True if the backend is available. */
static bool print_backend(FILE *output, const json_t *inventory) {
    const json_t *backend = json_array_get(json_object_get(inventory, "backends"), 0);
    bool available = json_is_true(json_object_get(backend, "available"));
    fprintf(output, "%s: %s\n", text_of(backend, "name"), available ? "available" : "unavailable");
    if (text_of(backend, "module_file")[0] != '\0') {
        fprintf(output, "  module %s\n", text_of(backend, "module_file"));
    }
    if (!available) {
        fprintf(output, "  reason: %s\n", text_of(backend, "unavailable_reason"));
    }
    const json_t *devices = json_object_get(inventory, "devices");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        print_device(output, json_array_get(devices, i));
    }
    return available;
}

static bool is_of_backend(const char *spec, const char *backend) {
    size_t length = strcspn(spec, ":");
    return strlen(backend) == length && strncmp(spec, backend, length) == 0;
}

static bool is_wanted(const bench_options *options, const char *backend) {
    for (size_t i = 0; i < options->backend_count; i++) {
        const char *spec = options->backends[i];
        if (strcmp(spec, "auto") == 0 || strcmp(spec, "all") == 0 || is_of_backend(spec, backend)) {
            return true;
        }
    }
    return false;
}

bool bench_inventory_print(bench_launcher *launcher, const bench_options *options, FILE *output) {
    bool any = false;
    for (size_t i = 0; bench_backend_names[i] != NULL && !bench_interrupted(); i++) {
        if (is_wanted(options, bench_backend_names[i])) {
            json_t *inventory = bench_inventory_probe(launcher, bench_backend_names[i]);
            any = print_backend(output, inventory) || any;
            json_decref(inventory);
        }
    }
    return any;
}

char *bench_inventory_devices(bench_launcher *launcher, const char *spec) {
    char *backend = bench_copy(spec, strcspn(spec, ":"));
    json_t *inventory = bench_inventory_probe(launcher, backend);
    const json_t *devices = json_object_get(inventory, "devices");
    char *list = bench_copy("", 0);
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        char *longer =
            bench_format("%s%s%s:%lld (%s)", list, i != 0 ? ", " : "", backend,
                         (long long)json_integer_value(json_object_get(device, "index")), text_of(device, "name"));
        free(list);
        list = longer;
    }
    free(backend);
    json_decref(inventory);
    return list;
}
