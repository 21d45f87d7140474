/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms and devices, and the driver contexts opened on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl_error.h"
#include "opencl.h"

#define NO_PLATFORM_KHR (-1001)

/* ---- what a driver tells ---- */

static char *copy_trimmed(const char *text) {
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    char *copy = malloc(length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *pmm_cl_platform_text(const pmm_cl_api *api, cl_platform_id platform, cl_platform_info property) {
    size_t size = 0;
    if (api->clGetPlatformInfo(platform, property, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    char *text = calloc(1, size + 1), *trimmed;
    if (text == NULL)
        return NULL;
    if (size > 0 && api->clGetPlatformInfo(platform, property, size, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    trimmed = copy_trimmed(text);
    free(text);
    return trimmed;
}

char *pmm_cl_device_text(const pmm_cl_api *api, cl_device_id device, cl_device_info property) {
    size_t size = 0;
    if (api->clGetDeviceInfo(device, property, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    char *text = calloc(1, size + 1), *trimmed;
    if (text == NULL)
        return NULL;
    if (size > 0 && api->clGetDeviceInfo(device, property, size, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    trimmed = copy_trimmed(text);
    free(text);
    return trimmed;
}

/* `value` keeps what it holds when the driver does not know the property. */
static void read_device_value(const pmm_cl_api *api, cl_device_id device, cl_device_info property, void *value,
                              size_t size) {
    unsigned char told[16];
    if (size <= sizeof told && api->clGetDeviceInfo(device, property, size, told, NULL) == CL_SUCCESS)
        memcpy(value, told, size);
}

static portmm_device_type get_type(cl_device_type type) {
    if (type & CL_DEVICE_TYPE_GPU)
        return PORTMM_DEVICE_GPU;
    if (type & CL_DEVICE_TYPE_CPU)
        return PORTMM_DEVICE_CPU;
    return type & CL_DEVICE_TYPE_ACCELERATOR ? PORTMM_DEVICE_ACCELERATOR : PORTMM_DEVICE_OTHER;
}

static bool has_version_1_2(const char *version) {
    int major = 0, minor = 0;
    return sscanf(version, "OpenCL %d.%d", &major, &minor) == 2 && (major > 1 || minor >= 2);
}

static const char *find_reason(const pmm_cl_api *api, cl_device_id device) {
    cl_bool available = CL_TRUE, compiles = CL_TRUE;
    read_device_value(api, device, CL_DEVICE_AVAILABLE, &available, sizeof available);
    read_device_value(api, device, CL_DEVICE_COMPILER_AVAILABLE, &compiles, sizeof compiles);
    char *version = pmm_cl_device_text(api, device, CL_DEVICE_VERSION);
    bool answers = version != NULL && version[0] != '\0', new_enough = answers && has_version_1_2(version);
    free(version);
    if (!available)
        return "the driver says that it is not available now; is it used exclusively by another program?";
    if (!compiles)
        return "its driver has no compiler; install the driver's full version";
    if (!answers)
        return "its driver does not tell which OpenCL it supports; is the driver installed completely?";
    if (!new_enough)
        return "it does not support OpenCL 1.2, the oldest version that serves; a newer driver may";
    return "";
}

static portmm_status describe_device(const pmm_backend_state *state, size_t index, pmm_cl_found *found) {
    const pmm_cl_api *api = &state->api;
    cl_device_id id = found->id;
    cl_device_type type = CL_DEVICE_TYPE_DEFAULT;
    cl_uint units = 0;
    cl_ulong memory = 0, allocation = 0;
    cl_device_fp_config doubles = 0;
    read_device_value(api, id, CL_DEVICE_TYPE, &type, sizeof type);
    read_device_value(api, id, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    read_device_value(api, id, CL_DEVICE_GLOBAL_MEM_SIZE, &memory, sizeof memory);
    read_device_value(api, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &allocation, sizeof allocation);
    read_device_value(api, id, CL_DEVICE_DOUBLE_FP_CONFIG, &doubles, sizeof doubles);
    char *extensions = pmm_cl_device_text(api, id, CL_DEVICE_EXTENSIONS);
    found->info =
        (portmm_device_info){.struct_size = sizeof found->info,
                             .backend = "opencl",
                             .index = (int32_t)index,
                             .name = pmm_cl_device_text(api, id, CL_DEVICE_NAME),
                             .vendor = pmm_cl_device_text(api, id, CL_DEVICE_VENDOR),
                             .platform_name = pmm_cl_platform_text(api, found->platform, CL_PLATFORM_NAME),
                             .platform_version = pmm_cl_platform_text(api, found->platform, CL_PLATFORM_VERSION),
                             .driver_version = pmm_cl_device_text(api, id, CL_DRIVER_VERSION),
                             .type = get_type(type),
                             .compute_units = (int32_t)units,
                             .memory_size = memory,
                             .max_allocation = allocation,
                             .has_f64 = doubles != 0,
                             .has_f16 = extensions != NULL && strstr(extensions, "cl_khr_fp16") != NULL,
                             .engines = "clblast,starter",
                             .unavailable_reason = find_reason(api, id)};
    free(extensions);
    const portmm_device_info *info = &found->info;
    found->match = pmm_cl_quirks_match(api, id);
    found->quirks = pmm_cl_quirks_find(&found->match);
    bool complete = info->name && info->vendor && info->platform_name && info->platform_version && info->driver_version;
    return complete ? PORTMM_STATUS_SUCCESS
                    : state->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory to list devices");
}

static void free_texts(const portmm_device_info *info) {
    const char *texts[] = {info->name, info->vendor, info->platform_name, info->platform_version, info->driver_version};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((void *)(uintptr_t)texts[i]);
}

/* ---- the list ---- */

/* *trouble: why there is no list of devices, unless there is none to list. */
static portmm_status add_platform(pmm_backend_state *state, cl_platform_id platform, cl_int *trouble) {
    const pmm_host *host = state->host;
    cl_uint count = 0;
    cl_int code = state->api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (code != CL_SUCCESS || count == 0) { /* a platform without devices is common */
        host->log(host, PORTMM_LOG_INFO, "a platform has no device (%d)", (int)code);
        if (code != CL_SUCCESS && code != CL_DEVICE_NOT_FOUND)
            *trouble = code;
        return PORTMM_STATUS_SUCCESS;
    }
    cl_device_id *ids = calloc(count, sizeof *ids);
    pmm_cl_found *devices = realloc(state->devices, (state->count + count) * sizeof *devices);
    if (devices != NULL)
        state->devices = devices;
    if (ids == NULL || devices == NULL) {
        free(ids);
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory to list devices");
    }
    portmm_status status = PORTMM_STATUS_SUCCESS;
    code = state->api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids, NULL);
    if (code != CL_SUCCESS) {
        *trouble = code;
        count = 0;
    }
    for (cl_uint i = 0; i < count && status == PORTMM_STATUS_SUCCESS; i++) {
        devices[state->count] = (pmm_cl_found){.platform = platform, .id = ids[i]};
        status = describe_device(state, state->count, &devices[state->count]);
        state->count++;
    }
    free(ids);
    return status;
}

portmm_status pmm_cl_find_devices(pmm_backend_state *state) {
    const pmm_host *host = state->host;
    cl_uint count = 0;
    cl_int code = state->api.clGetPlatformIDs(0, NULL, &count);
    if (code == NO_PLATFORM_KHR || (code == CL_SUCCESS && count == 0))
        return host->fail(
            PORTMM_STATUS_UNAVAILABLE,
            "opencl: the ICD loader finds no driver; install one (your GPU vendor's, or pocl-opencl-icd for "
            "the CPU), and check that the library named in each /etc/OpenCL/vendors/*.icd exists and that "
            "OCL_ICD_VENDORS and OCL_ICD_FILENAMES are unset");
    if (code != CL_SUCCESS)
        return pmm_cl_fail(host, "clGetPlatformIDs", code);
    cl_platform_id *platforms = calloc(count, sizeof *platforms);
    if (platforms == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory to list platforms");
    portmm_status status = PORTMM_STATUS_SUCCESS;
    cl_int trouble = CL_SUCCESS;
    code = state->api.clGetPlatformIDs(count, platforms, NULL);
    if (code != CL_SUCCESS)
        status = pmm_cl_fail(host, "clGetPlatformIDs", code);
    for (cl_uint i = 0; i < count && status == PORTMM_STATUS_SUCCESS; i++)
        status = add_platform(state, platforms[i], &trouble);
    free(platforms);
    if (status == PORTMM_STATUS_SUCCESS && state->count == 0 && trouble != CL_SUCCESS)
        return host->fail(PORTMM_STATUS_UNAVAILABLE,
                          "opencl: a driver does not list its devices (clGetDeviceIDs: %s (%d)); is it installed "
                          "completely, and may this user use the device?",
                          pmm_cl_error_name(trouble), (int)trouble);
    if (status == PORTMM_STATUS_SUCCESS && state->count == 0)
        status = host->fail(PORTMM_STATUS_UNAVAILABLE,
                            "opencl: %u platform(s), but none has a device; is the GPU visible to this user (groups "
                            "render and video, /dev/dri, /dev/kfd), and its driver installed?",
                            (unsigned)count);
    return status;
}

void pmm_cl_free_devices(pmm_backend_state *state) {
    for (size_t i = 0; i < state->count; i++)
        free_texts(&state->devices[i].info);
    free(state->devices);
}

/* ---- open devices ---- */

struct pmm_cl_shared {
    cl_device_id id;
    bool is_borrowed;
    char *cache; /* contexts with another cache do not share: programs know what is in theirs */
    cl_context context;
    size_t users;
    pmm_cl_shared *next;
};

static pmm_cl_shared *open_contexts; /* under host->lock */

static portmm_status create_context(const pmm_backend_state *state, const pmm_cl_found *found, cl_context *context) {
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)found->platform, 0};
    cl_int code = CL_SUCCESS;
    cl_context made = state->api.clCreateContext(properties, 1, &found->id, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        return pmm_cl_fail(state->host, "clCreateContext", code);
    *context = made;
    return PORTMM_STATUS_SUCCESS;
}

/* `native` is the application's own, or NULL. */
static bool is_wanted(const pmm_cl_shared *each, const pmm_cl_found *found, cl_context native, const char *cache) {
    bool is_same = native != NULL ? each->is_borrowed && each->context == native : !each->is_borrowed;
    return is_same && each->id == found->id && strcmp(each->cache, cache) == 0;
}

static portmm_status take_context(const pmm_backend_state *state, const pmm_cl_found *found, cl_context native,
                                  cl_context *context) {
    if (native == NULL)
        return create_context(state, found, context);
    cl_int code = state->api.clRetainContext(native);
    if (code != CL_SUCCESS)
        return pmm_cl_fail(state->host, "clRetainContext", code);
    *context = native;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status share_context(const pmm_backend_state *state, const pmm_cl_found *found, cl_context native,
                                   pmm_cl_shared **shared) {
    const char *cache = state->host->cache_identity(state->host);
    for (pmm_cl_shared *each = open_contexts; each != NULL; each = each->next)
        if (is_wanted(each, found, native, cache)) {
            each->users++;
            *shared = each;
            return PORTMM_STATUS_SUCCESS;
        }
    pmm_cl_shared *made = calloc(1, sizeof *made);
    char *copy = copy_trimmed(cache);
    if (made == NULL || copy == NULL) {
        free(made);
        free(copy);
        return state->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory to open a device");
    }
    made->cache = copy;
    portmm_status status = take_context(state, found, native, &made->context);
    if (status != PORTMM_STATUS_SUCCESS) {
        free(made);
        free(copy);
        return status;
    }
    made->id = found->id;
    made->is_borrowed = native != NULL;
    made->users = 1;
    made->next = open_contexts;
    open_contexts = made;
    *shared = made;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status open_device(pmm_backend_state *state, size_t index, cl_context native, pmm_device **device) {
    const pmm_host *host = state->host;
    pmm_device *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory to open a device");
    made->host = host;
    made->api = &state->api;
    made->found = &state->devices[index];
    host->lock(host);
    portmm_status status = share_context(state, made->found, native, &made->shared);
    host->unlock(host);
    if (status != PORTMM_STATUS_SUCCESS) {
        free(made);
        return status;
    }
    made->context = made->shared->context;
    *device = made;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_device_open(pmm_backend_state *state, size_t index, pmm_device **device) {
    return open_device(state, index, NULL, device);
}

static portmm_status find_in_context(const pmm_backend_state *state, cl_context native, cl_device_id id, bool *found) {
    size_t size = 0;
    cl_int code = state->api.clGetContextInfo(native, CL_CONTEXT_DEVICES, 0, NULL, &size);
    cl_device_id *ids = code == CL_SUCCESS ? malloc(size) : NULL;
    if (ids != NULL)
        code = state->api.clGetContextInfo(native, CL_CONTEXT_DEVICES, size, ids, NULL);
    *found = false;
    for (size_t i = 0; ids != NULL && code == CL_SUCCESS && i < size / sizeof *ids; i++)
        *found = *found || ids[i] == id;
    bool lacks_memory = code == CL_SUCCESS && ids == NULL;
    free(ids);
    if (lacks_memory)
        return state->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory to open a device");
    if (code != CL_SUCCESS)
        return state->host->fail(PORTMM_STATUS_INVALID_ARGUMENT,
                                 "opencl: the cl_context given is none: clGetContextInfo: %s (%d)",
                                 pmm_cl_error_name(code), (int)code);
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_device_borrow(pmm_backend_state *state, size_t index, void *native, pmm_device **device) {
    const pmm_cl_found *found = &state->devices[index];
    bool has_device = false;
    portmm_status status = find_in_context(state, native, found->id, &has_device);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (!has_device)
        return state->host->fail(PORTMM_STATUS_INVALID_ARGUMENT, "opencl: the cl_context given has not opencl:%d (%s)",
                                 (int)index, found->info.name);
    return open_device(state, index, native, device);
}

void pmm_cl_device_close(pmm_device *device) {
    const pmm_host *host = device->host;
    host->lock(host);
    if (--device->shared->users == 0) {
        /* CLBlast holds programs of the driver context, and with them all of it. It can only drop every program at
         * once; those of other devices come back from the cache at their next use. */
        pmm_cl_clblast_forget(host);
        pmm_cl_starter_forget(device->api, device->context);
        device->api->clReleaseContext(device->context);
        pmm_cl_shared **link = &open_contexts;
        while (*link != device->shared)
            link = &(*link)->next;
        *link = device->shared->next;
        free(device->shared->cache);
        free(device->shared);
    }
    host->unlock(host);
    free(device);
}
