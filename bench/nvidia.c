/* SPDX-License-Identifier: Apache-2.0 */
#include "nvidia.h"

#include "platform_symbols.h"
#include "request.h"

#include <stdbool.h>
#include <string.h>

/* The part of NVML that is used, by the names and values of its documentation. */
enum { NVML_SUCCESS = 0 };
typedef struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*get_count)(unsigned *count);
    int (*get_handle)(unsigned index, void **device);
    int (*get_name)(void *device, char *name, unsigned length);
    int (*get_persistence)(void *device, int *mode);
} nvml;

static bool find_all(nvml *self) {
    char error[256];
    void *library = bench_open_library("libnvidia-ml.so.1", error, sizeof error);
    if (library == NULL) {
        return false;
    }
    const struct symbol {
        const char *name;
        void *slot;
    } symbols[] = {{"nvmlInit_v2", &self->init},
                   {"nvmlShutdown", &self->shutdown},
                   {"nvmlDeviceGetCount_v2", &self->get_count},
                   {"nvmlDeviceGetHandleByIndex_v2", &self->get_handle},
                   {"nvmlDeviceGetName", &self->get_name},
                   {"nvmlDeviceGetPersistenceMode", &self->get_persistence}};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *found = bench_find_symbol(library, symbols[i].name);
        if (found == NULL) {
            return false;
        }
        memcpy(symbols[i].slot, &found, sizeof found);
    }
    return true;
}

json_t *bench_nvidia_devices(void) {
    nvml self;
    unsigned count = 0;
    json_t *devices = json_array();
    if (!find_all(&self) || self.init() != NVML_SUCCESS) {
        return devices;
    }
    if (self.get_count(&count) != NVML_SUCCESS) {
        count = 0;
    }
    for (unsigned i = 0; i < count; i++) {
        void *device = NULL;
        char name[96] = "";
        int mode = 0;
        if (self.get_handle(i, &device) == NVML_SUCCESS && self.get_persistence(device, &mode) == NVML_SUCCESS) {
            (void)self.get_name(device, name, sizeof name);
            (void)json_array_append_new(devices, json_pack("{s:i, s:o, s:b}", "index", (int)i, "name",
                                                           bench_json_string(name), "persistence", mode != 0));
        }
    }
    (void)self.shutdown();
    return devices;
}
