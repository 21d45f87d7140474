/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory_child.h"

#include "nvidia.h"
#include "platform.h"
#include "request.h"

#include <portmm/portmm.h>
#include <string.h>

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

static void add_property(const char *name, const char *value, void *user_data) {
    (void)json_object_set_new(user_data, name, bench_json_string(value));
}

static json_t *describe_properties(const portmm_inventory *inventory, const char *backend, int32_t index) {
    json_t *properties = json_object();
    (void)portmm_inventory_visit_properties(inventory, backend, index, add_property, properties);
    return properties;
}

static json_t *describe_inventory(const portmm_inventory *inventory) {
    json_t *backends = json_array(), *devices = json_array();
    for (size_t i = 0; i < portmm_inventory_backend_count(inventory); i++) {
        portmm_backend_info info = PORTMM_BACKEND_INFO_INIT;
        if (portmm_inventory_get_backend(inventory, i, &info) == PORTMM_STATUS_SUCCESS) {
            json_t *backend = describe_backend(&info);
            (void)json_object_set_new(backend, "properties", describe_properties(inventory, info.name, -1));
            (void)json_array_append_new(backends, backend);
        }
    }
    for (size_t i = 0; i < portmm_inventory_device_count(inventory); i++) {
        portmm_device_info info = PORTMM_DEVICE_INFO_INIT;
        if (portmm_inventory_get_device(inventory, i, &info) == PORTMM_STATUS_SUCCESS) {
            json_t *device = describe_device(&info);
            (void)json_object_set_new(device, "properties", describe_properties(inventory, info.backend, info.index));
            (void)json_array_append_new(devices, device);
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
    if (strcmp(argv[2], "opencl") != 0 && strcmp(argv[2], "cpu") != 0) {
        (void)json_object_set_new(result, "nvidia", bench_nvidia_devices());
    }
    bool ok = json_dumpf(result, output, JSON_COMPACT) == 0;
    ok = fflush(output) == 0 && ok;
    json_decref(result);
    portmm_inventory_destroy(inventory);
    return ok ? 0 : 3;
}
