/* SPDX-License-Identifier: Apache-2.0 */
/* What a person who looks for trouble wants to know of the loader and of a device, in the words of OpenCL. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

enum kind { TEXT, UINT32, UINT64, SIZE, BOOLEAN, SIZES, CONFIG, PLATFORM_TEXT };

static const struct property {
    const char *name;
    cl_uint id;
    enum kind kind;
} table[] = {
    {"platform_vendor", CL_PLATFORM_VENDOR, PLATFORM_TEXT},
    {"platform_profile", CL_PLATFORM_PROFILE, PLATFORM_TEXT},
    {"device_version", CL_DEVICE_VERSION, TEXT},
    {"opencl_c_version", CL_DEVICE_OPENCL_C_VERSION, TEXT},
    {"vendor_id", CL_DEVICE_VENDOR_ID, UINT32},
    {"max_clock_mhz", CL_DEVICE_MAX_CLOCK_FREQUENCY, UINT32},
    {"address_bits", CL_DEVICE_ADDRESS_BITS, UINT32},
    {"little_endian", CL_DEVICE_ENDIAN_LITTLE, BOOLEAN},
    {"max_work_group_size", CL_DEVICE_MAX_WORK_GROUP_SIZE, SIZE},
    {"max_work_item_sizes", CL_DEVICE_MAX_WORK_ITEM_SIZES, SIZES},
    {"preferred_vector_width_float", CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, UINT32},
    {"preferred_vector_width_double", CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, UINT32},
    {"native_vector_width_float", CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, UINT32},
    {"native_vector_width_double", CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, UINT32},
    {"single_fp_config", CL_DEVICE_SINGLE_FP_CONFIG, CONFIG},
    {"double_fp_config", CL_DEVICE_DOUBLE_FP_CONFIG, CONFIG},
    {"global_mem_cache_size", CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, UINT64},
    {"global_mem_cacheline_size", CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, UINT32},
    {"local_mem_size", CL_DEVICE_LOCAL_MEM_SIZE, UINT64},
    {"dedicated_local_mem", CL_DEVICE_LOCAL_MEM_TYPE, BOOLEAN}, /* CL_LOCAL is 1, as CL_TRUE */
    {"max_constant_buffer_size", CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, UINT64},
    {"mem_base_addr_align_bits", CL_DEVICE_MEM_BASE_ADDR_ALIGN, UINT32},
    {"host_unified_memory", CL_DEVICE_HOST_UNIFIED_MEMORY, BOOLEAN},
    {"error_correction", CL_DEVICE_ERROR_CORRECTION_SUPPORT, BOOLEAN},
    {"profiling_timer_resolution_ns", CL_DEVICE_PROFILING_TIMER_RESOLUTION, SIZE},
    {"extensions", CL_DEVICE_EXTENSIONS, TEXT},
};

static void tell_text(pmm_properties *properties, const char *name, char *text) {
    if (text != NULL && text[0] != '\0')
        properties->add(properties, name, "%s", text);
    free(text);
}

static void tell_config(pmm_properties *properties, const char *name, cl_device_fp_config config) {
    static const struct {
        cl_device_fp_config bit;
        const char *name;
    } bits[] = {
        {CL_FP_DENORM, "denorm "},
        {CL_FP_INF_NAN, "inf_nan "},
        {CL_FP_ROUND_TO_NEAREST, "rte "},
        {CL_FP_ROUND_TO_ZERO, "rtz "},
        {CL_FP_FMA, "fma "},
        {CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, "exact_divide_sqrt "},
        {CL_FP_SOFT_FLOAT, "soft_float "},
    };
    char text[128] = "";
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (config & bits[i].bit)
            strcat(text, bits[i].name);
    size_t length = strlen(text);
    if (length > 0)
        text[length - 1] = '\0';
    properties->add(properties, name, "%s", length > 0 ? text : "none");
}

/* The size a driver gives a value of each kind; 0: any. */
static size_t size_of(enum kind kind) {
    switch (kind) {
    case UINT32:
    case BOOLEAN:
        return sizeof(cl_uint);
    case UINT64:
    case CONFIG:
        return sizeof(cl_ulong);
    case SIZE:
        return sizeof(size_t);
    default:
        return 0;
    }
}

static void tell_value(const pmm_cl_api *api, cl_device_id device, const struct property *property,
                       pmm_properties *properties) {
    union {
        cl_uint uint32;
        cl_ulong uint64;
        size_t size;
        size_t sizes[8];
    } value;
    size_t given = 0;
    if (api->clGetDeviceInfo(device, property->id, sizeof value, &value, &given) != CL_SUCCESS ||
        (size_of(property->kind) != 0 && given != size_of(property->kind)))
        return;
    switch (property->kind) {
    case UINT32:
        properties->add(properties, property->name, "%" PRIu32, value.uint32);
        break;
    case UINT64:
        properties->add(properties, property->name, "%" PRIu64, (uint64_t)value.uint64);
        break;
    case SIZE:
        properties->add(properties, property->name, "%zu", value.size);
        break;
    case BOOLEAN:
        properties->add(properties, property->name, "%s", value.uint32 == 1 ? "yes" : "no");
        break;
    case CONFIG:
        tell_config(properties, property->name, value.uint64);
        break;
    case SIZES:
        if (given >= 3 * sizeof(size_t))
            properties->add(properties, property->name, "%zu x %zu x %zu", value.sizes[0], value.sizes[1],
                            value.sizes[2]);
        break;
    default:
        break;
    }
}

static void tell_quirks(const pmm_cl_found *found, pmm_properties *properties) {
    char text[1024] = "";
    const char *reason;
    for (int i = 0; (reason = pmm_cl_quirks_reason(&found->match, i)) != NULL; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s", i > 0 ? "; " : "", reason);
    }
    if (text[0] != '\0')
        properties->add(properties, "quirks", "%s", text);
}

static void describe_device(const pmm_backend_state *state, const pmm_cl_found *found, pmm_properties *properties) {
    const pmm_cl_api *api = &state->api;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].kind == TEXT)
            tell_text(properties, table[i].name, pmm_cl_device_text(api, found->id, table[i].id));
        else if (table[i].kind == PLATFORM_TEXT)
            tell_text(properties, table[i].name, pmm_cl_platform_text(api, found->platform, table[i].id));
        else
            tell_value(api, found->id, &table[i], properties);
    tell_quirks(found, properties);
}

/* ---- the loader -------------------------------------------------------------------------------------------------- */

/* An extension of ocl-icd's that Khronos's loader has taken over. */
typedef cl_int(CL_API_CALL loader_info_fn)(cl_uint property, size_t size, void *value, size_t *given);
enum { LOADER_VERSION = 2, LOADER_NAME = 3, LOADER_VENDOR = 4 };

static void describe_loader(const pmm_backend_state *state, pmm_properties *properties) {
    static const struct {
        const char *name;
        cl_uint id;
    } wanted[] = {{"loader", LOADER_NAME}, {"loader_version", LOADER_VERSION}, {"loader_vendor", LOADER_VENDOR}};
    void *extension = state->api.clGetExtensionFunctionAddress("clGetICDLoaderInfoOCLICD");
    if (extension == NULL)
        return;
    loader_info_fn *get_info;
    memcpy(&get_info, &extension,
           sizeof extension); /* ISO C has no cast from an object pointer to a function pointer */
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char text[256] = "";
        if (get_info(wanted[i].id, sizeof text - 1, text, NULL) == CL_SUCCESS)
            properties->add(properties, wanted[i].name, "%s", text);
    }
}

void pmm_cl_describe(const pmm_backend_state *state, int32_t index, pmm_properties *properties) {
    if (index >= 0)
        describe_device(state, &state->devices[index], properties);
    else
        describe_loader(state, properties);
}
