/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory.h"

#include "terminal.h"

#include <portmm/portmm.h>
#include <stdlib.h>
#include <string.h>

/* ---- the child ---- */

static json_t *describe_backend(const portmm_backend_info *info) {
    return json_pack("{s:o, s:o, s:b, s:o}", "name", bench_json_string(info->name), "module_file",
                     bench_json_string(info->module_file), "available", (int)info->available, "unavailable_reason",
                     bench_json_string(info->unavailable_reason));
}

static const char *name_device_type(portmm_device_type type) {
    static const char *const names[] = {
        [PORTMM_DEVICE_CPU] = "cpu",
        [PORTMM_DEVICE_GPU] = "gpu",
        [PORTMM_DEVICE_ACCELERATOR] = "accelerator",
        [PORTMM_DEVICE_OTHER] = "other",
    };
    return type >= PORTMM_DEVICE_CPU && type <= PORTMM_DEVICE_OTHER ? names[type] : "other";
}

static json_t *describe_device(const portmm_device_info *info) {
    json_t *device =
        json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "backend", bench_json_string(info->backend), "index",
                  (int)info->index, "name", bench_json_string(info->name), "vendor", bench_json_string(info->vendor),
                  "platform_name", bench_json_string(info->platform_name), "platform_version",
                  bench_json_string(info->platform_version), "driver_version", bench_json_string(info->driver_version));
    json_t *more = json_pack("{s:s, s:i, s:I, s:I, s:b, s:b, s:o, s:o}", "type", name_device_type(info->type),
                             "compute_units", (int)info->compute_units, "memory_size", (json_int_t)info->memory_size,
                             "max_allocation", (json_int_t)info->max_allocation, "has_f64", (int)info->has_f64,
                             "has_f16", (int)info->has_f16, "engines", bench_json_string(info->engines),
                             "unavailable_reason", bench_json_string(info->unavailable_reason));
    (void)json_object_update_new(device, more);
    return device;
}

static json_t *describe_inventory(const portmm_inventory *inventory) {
    json_t *backends = json_array(), *devices = json_array();
    for (size_t i = 0; i < portmm_inventory_backend_count(inventory); i++) {
        portmm_backend_info info = PORTMM_BACKEND_INFO_INIT;
        if (portmm_inventory_get_backend(inventory, i, &info) == PORTMM_STATUS_SUCCESS) {
            (void)json_array_append_new(backends, describe_backend(&info));
        }
    }
    for (size_t i = 0; i < portmm_inventory_device_count(inventory); i++) {
        portmm_device_info info = PORTMM_DEVICE_INFO_INIT;
        if (portmm_inventory_get_device(inventory, i, &info) == PORTMM_STATUS_SUCCESS) {
            (void)json_array_append_new(devices, describe_device(&info));
        }
    }
    return json_pack("{s:o, s:o}", "backends", backends, "devices", devices);
}

int bench_inventory_main(int argc, char **argv) {
    FILE *output = bench_take_stdout();
    if (argc < 3 || output == NULL) {
        return 2;
    }
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = argv[2];
    portmm_inventory *inventory = NULL;
    portmm_status status = portmm_inventory_create(&options, &inventory);
    json_t *result =
        status == PORTMM_STATUS_SUCCESS
            ? describe_inventory(inventory)
            : json_pack("{s:o, s:i}", "error", bench_json_string(portmm_last_error()), "status", (int)status);
    bool ok = json_dumpf(result, output, JSON_COMPACT) == 0;
    ok = fflush(output) == 0 && ok;
    json_decref(result);
    portmm_inventory_destroy(inventory);
    return ok ? 0 : 3;
}

/* ---- the parent ---- */

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
