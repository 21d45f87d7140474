/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"

static const char *get_type_name(portmm_dtype dtype) {
    return dtype == PORTMM_F64 ? "f64" : "f32";
}

/* Machine code runs on devices of the same generation from its own capability on; PTX on all later ones. */
static const pmm_cuda_code *find_code(portmm_dtype dtype, int capability, bool as_text) {
    const pmm_cuda_code *best = NULL;
    for (const pmm_cuda_code *each = pmm_cuda_codes; each < pmm_cuda_codes + pmm_cuda_code_count; each++) {
        bool fits = each->capability <= capability && (as_text || each->capability / 10 == capability / 10);
        if (each->dtype == dtype && (each->hash != NULL) == as_text && fits &&
            (best == NULL || each->capability > best->capability))
            best = each;
    }
    return best;
}

static bool is_text_wanted(const pmm_host *host) {
    static const char *const nothing[] = {NULL};
    char *variables = host->environment("PORTMM_CUDA_CODE=", nothing);
    bool wanted = variables != NULL && strncmp(variables, "PORTMM_CUDA_CODE=ptx\n", 21) == 0;
    free(variables);
    return wanted;
}

static CUresult load_binary(const pmm_device *device, const void *bytes, CUmodule *module) {
    const pmm_host *host = device->host;
    host->span_begin(host, PORTMM_PHASE_BINARY_LOAD, "cuModuleLoadData");
    CUresult code = device->api->cuModuleLoadData(module, bytes);
    host->span_end(host);
    return code;
}

/* ---- PTX ---- */

enum { KEY_FIELDS = 4 };

static pmm_cache_key make_key(const pmm_device *device, const pmm_cuda_code *code, pmm_key_field fields[KEY_FIELDS],
                              char capability[8]) {
    snprintf(capability, 8, "%d", device->found->capability);
    const char *const texts[KEY_FIELDS][2] = {{"type", get_type_name(code->dtype)},
                                              {"ptx.sha256", code->hash},
                                              {"driver", device->state->driver_version},
                                              {"capability", capability}};
    for (size_t i = 0; i < KEY_FIELDS; i++)
        fields[i] = (pmm_key_field){texts[i][0], texts[i][1], strlen(texts[i][1])};
    return (pmm_cache_key){.kind = "cuda cubin", .fields = fields, .count = KEY_FIELDS};
}

static bool load_cached(pmm_device *device, const pmm_cache_key *key, CUmodule *module) {
    const pmm_host *host = device->host;
    void *data = NULL;
    size_t size = 0;
    host->span_begin(host, PORTMM_PHASE_CACHE_LOOKUP, "cubin");
    bool found = host->cache_get(host, key, &data, &size);
    host->span_end(host);
    if (!found)
        return false;
    CUresult code = load_binary(device, data, module);
    free(data);
    if (code != CUDA_SUCCESS)
        host->cache_reject(host, key, "refused by the driver");
    return code == CUDA_SUCCESS;
}

/* The binary belongs to the link. */
static portmm_status link_text(pmm_device *device, const pmm_cuda_code *text, CUlinkState link, void **binary,
                               size_t *size) {
    const pmm_cuda_api *api = device->api;
    /* The driver does not write to the text, but has no const for it. */
    void *bytes;
    memcpy(&bytes, &text->bytes, sizeof bytes);
    portmm_status status =
        pmm_cuda_check(device, "cuLinkAddData of the starter's PTX",
                       api->cuLinkAddData(link, CU_JIT_INPUT_PTX, bytes, text->size, "starter", 0, NULL, NULL));
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_cuda_check(device, "cuLinkComplete of the starter's PTX", api->cuLinkComplete(link, binary, size));
    return status;
}

static portmm_status build_text(pmm_device *device, const pmm_cuda_code *text, const pmm_cache_key *key,
                                CUmodule *module) {
    const pmm_host *host = device->host;
    char errors[2048] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {errors, (void *)(uintptr_t)sizeof errors}; /* numbers go as pointers */
    CUlinkState link = NULL;
    void *binary = NULL;
    size_t size = 0;
    host->span_begin(host, PORTMM_PHASE_BUILD, "cuLink of the starter's PTX");
    portmm_status status = pmm_cuda_check(device, "cuLinkCreate", device->api->cuLinkCreate(2, options, values, &link));
    if (status == PORTMM_STATUS_SUCCESS)
        status = link_text(device, text, link, &binary, &size);
    host->span_end(host);
    if (status != PORTMM_STATUS_SUCCESS && errors[0] != '\0')
        host->log(host, PORTMM_LOG_ERROR, "the driver's compiler: %s", errors);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_cuda_check(device, "cuModuleLoadData of the starter's PTX", load_binary(device, binary, module));
    if (status == PORTMM_STATUS_SUCCESS) {
        host->span_begin(host, PORTMM_PHASE_CACHE_LOOKUP, "store the cubin");
        host->cache_put(host, key, binary, size);
        host->span_end(host);
    }
    if (link != NULL)
        device->api->cuLinkDestroy(link);
    return status;
}

static portmm_status load_text(pmm_device *device, portmm_dtype dtype, CUmodule *module) {
    int capability = device->found->capability;
    const pmm_cuda_code *text = find_code(dtype, capability, true);
    if (text == NULL)
        return device->host->fail(
            PORTMM_STATUS_UNSUPPORTED,
            "cuda: %s has compute capability %d.%d, and this build's starter kernels need a later "
            "GPU; engine cublas may serve it, or a build with an older CUDA toolkit",
            device->found->name, capability / 10, capability % 10);
    pmm_key_field fields[KEY_FIELDS];
    char capability_text[8];
    pmm_cache_key key = make_key(device, text, fields, capability_text);
    return load_cached(device, &key, module) ? PORTMM_STATUS_SUCCESS : build_text(device, text, &key, module);
}

portmm_status pmm_cuda_module_load(pmm_device *device, portmm_dtype dtype, CUmodule *module) {
    const pmm_host *host = device->host;
    const pmm_cuda_code *binary = find_code(dtype, device->found->capability, false);
    if (binary == NULL || is_text_wanted(host))
        return load_text(device, dtype, module);
    CUresult code = load_binary(device, binary->bytes, module);
    if (code != CUDA_ERROR_NO_BINARY_FOR_GPU && code != CUDA_ERROR_INVALID_IMAGE)
        return pmm_cuda_check(device, "cuModuleLoadData of the starter", code);
    host->log(host, PORTMM_LOG_WARNING, "the starter's machine code is refused (%d): its PTX is compiled", (int)code);
    return load_text(device, dtype, module);
}
