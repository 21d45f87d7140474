/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, and the primary contexts opened on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_state.h"

/* The driver's own version, which its API does not tell: "580.95.05"; "" where the file is missing, as on WSL. */
static void read_kernel_version(char *version, size_t size) {
    char line[256] = "", word[64];
    int used = 0;
    version[0] = '\0';
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file == NULL)
        return;
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    for (const char *at = line; sscanf(at, "%63s%n", word, &used) == 1; at += used)
        if (word[0] >= '0' && word[0] <= '9' && strchr(word, '.') != NULL) {
            snprintf(version, size, "%s", word);
            return;
        }
}

static portmm_status read_versions(pmm_backend_state *state) {
    CUresult code = state->api.cuDriverGetVersion(&state->cuda_version);
    if (code != CUDA_SUCCESS)
        return pmm_cuda_fail(state->host, &state->api, "cuDriverGetVersion", code);
    char kernel[64];
    read_kernel_version(kernel, sizeof kernel);
    snprintf(state->driver_version, sizeof state->driver_version, "%s%sCUDA %d.%d", kernel,
             kernel[0] != '\0' ? ", " : "", state->cuda_version / 1000, state->cuda_version % 1000 / 10);
    return PORTMM_STATUS_SUCCESS;
}

/* 0 where the driver does not know the property. */
static int read_attribute(const pmm_cuda_api *api, CUdevice id, CUdevice_attribute attribute) {
    int value = 0;
    return api->cuDeviceGetAttribute(&value, attribute, id) == CUDA_SUCCESS ? value : 0;
}

static const char *find_reason(const pmm_cuda_api *api, CUdevice id) {
    if (read_attribute(api, id, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == (int)CU_COMPUTEMODE_PROHIBITED)
        return "its compute mode prohibits contexts; an administrator allows them with nvidia-smi -c 0";
    return "";
}

static portmm_status describe_device(pmm_backend_state *state, int index, pmm_cuda_found *found) {
    const pmm_cuda_api *api = &state->api;
    size_t memory = 0;
    CUresult code = api->cuDeviceGet(&found->id, index);
    if (code == CUDA_SUCCESS)
        code = api->cuDeviceGetName(found->name, (int)sizeof found->name, found->id);
    if (code == CUDA_SUCCESS)
        code = api->cuDeviceTotalMem(&memory, found->id);
    if (code != CUDA_SUCCESS)
        return pmm_cuda_fail(state->host, api, "the properties of a device", code);
    found->capability = 10 * read_attribute(api, found->id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                        read_attribute(api, found->id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    found->info =
        (portmm_device_info){.struct_size = sizeof found->info,
                             .backend = "cuda",
                             .index = index,
                             .name = found->name,
                             .vendor = "NVIDIA",
                             .platform_name = "",
                             .platform_version = "",
                             .driver_version = state->driver_version,
                             .type = PORTMM_DEVICE_GPU,
                             .compute_units = read_attribute(api, found->id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                             .memory_size = memory,
                             .max_allocation = memory,
                             .has_f64 = 1,
                             .has_f16 = found->capability >= 53,
                             .engines = "cublas,starter",
                             .unavailable_reason = find_reason(api, found->id)};
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cuda_find_devices(pmm_backend_state *state) {
    int count = 0;
    CUresult code = state->api.cuInit(0);
    if (code != CUDA_SUCCESS)
        return pmm_cuda_fail(state->host, &state->api, "cuInit", code);
    portmm_status status = read_versions(state);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    code = state->api.cuDeviceGetCount(&count);
    if (code == CUDA_SUCCESS && count == 0)
        code = CUDA_ERROR_NO_DEVICE;
    if (code != CUDA_SUCCESS)
        return pmm_cuda_fail(state->host, &state->api, "cuDeviceGetCount", code);
    state->devices = calloc((size_t)count, sizeof *state->devices);
    if (state->devices == NULL)
        return state->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory to list devices");
    for (int i = 0; i < count && status == PORTMM_STATUS_SUCCESS; i++) {
        status = describe_device(state, i, &state->devices[i]);
        state->count += status == PORTMM_STATUS_SUCCESS;
    }
    return status;
}

portmm_status pmm_cuda_device_open(pmm_backend_state *state, size_t index, pmm_device **device) {
    const pmm_host *host = state->host;
    pmm_device *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory to open a device");
    made->host = host;
    made->api = &state->api;
    made->state = state;
    made->found = &state->devices[index];
    CUresult code = state->api.cuDevicePrimaryCtxRetain(&made->context, made->found->id);
    if (code != CUDA_SUCCESS) {
        free(made);
        return pmm_cuda_fail(host, &state->api, "cuDevicePrimaryCtxRetain", code);
    }
    *device = made;
    return PORTMM_STATUS_SUCCESS;
}

void pmm_cuda_device_close(pmm_device *device) {
    if (device->epoch != NULL && pmm_cuda_enter(device) == PORTMM_STATUS_SUCCESS) {
        device->api->cuEventDestroy(device->epoch);
        pmm_cuda_leave(device);
    }
    if (!device->context_is_borrowed)
        device->api->cuDevicePrimaryCtxRelease(device->found->id);
    free(device);
}

void pmm_cuda_describe(const pmm_backend_state *state, int32_t index, pmm_properties *properties) {
    static const struct {
        const char *name;
        CUdevice_attribute attribute;
    } table[] = {
        {"clock_khz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
        {"memory_clock_khz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
        {"memory_bus_bits", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
        {"l2_cache_size", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
        {"shared_memory_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
        {"registers_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
        {"max_threads_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
        {"copy_engines", CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
        {"error_correction", CU_DEVICE_ATTRIBUTE_ECC_ENABLED},
        {"integrated", CU_DEVICE_ATTRIBUTE_INTEGRATED},
        {"compute_mode", CU_DEVICE_ATTRIBUTE_COMPUTE_MODE},
        {"pci_bus", CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
        {"pci_device", CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    };
    if (index < 0)
        return;
    const pmm_cuda_found *found = &state->devices[index];
    properties->add(properties, "compute_capability", "%d.%d", found->capability / 10, found->capability % 10);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int value;
        if (state->api.cuDeviceGetAttribute(&value, table[i].attribute, found->id) == CUDA_SUCCESS)
            properties->add(properties, table[i].name, "%d", value);
    }
}
