/* SPDX-License-Identifier: Apache-2.0 */
#include "children.h"

#include "platform_library.h"

#include "platform.h"
#include "request.h"

#include <portmm/portmm.h>

static int write_result(json_t *result) {
    FILE *output = bench_take_stdout();
    bool ok = output != NULL && json_dumpf(result, output, JSON_COMPACT) == 0 && fflush(output) == 0;
    json_decref(result);
    return ok ? 0 : 3;
}

/* ---- libraries ---- */

/* Names that are tried one after the other for one purpose. */
static const struct {
    const char *purpose;
    const char *names[4];
} libraries[] = {
    {"OpenCL loader: backend opencl", {"libOpenCL.so.1"}},
    {"CLBlast: engine clblast", {"libclblast.so.1"}},
    {"OpenBLAS: backend cpu", {"libopenblas.so.0", "libopenblas.so"}},
    {"NVIDIA driver: backend cuda", {"libcuda.so.1"}},
    {"cuBLAS: engine cublas", {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}},
};

static json_t *describe_library(size_t row) {
    char file[4096] = "", error[1024] = "", first[1024] = "";
    size_t used = 0;
    bool found = false;
    for (size_t i = 0; i < 4 && libraries[row].names[i] != NULL && !found; i++) {
        used = i;
        found = info_open_library(libraries[row].names[i], file, sizeof file, error, sizeof error);
        if (!found && i == 0) {
            (void)snprintf(first, sizeof first, "%s", error);
        }
    }
    return json_pack("{s:s, s:s, s:o, s:o}", "name", libraries[row].names[found ? used : 0], "purpose",
                     libraries[row].purpose, "file", bench_json_string(found ? file : ""), "error",
                     bench_json_string(found ? "" : first));
}

int info_libraries_main(void) {
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        (void)json_array_append_new(list, describe_library(i));
    }
    return write_result(json_pack("{s:o}", "libraries", list));
}

int info_open_main(const char *library) {
    char file[4096] = "", error[1024] = "";
    bool found = info_open_library(library, file, sizeof file, error, sizeof error);
    return write_result(json_pack("{s:o}", "error", bench_json_string(found ? "" : error)));
}

/* ---- the choice ---- */

static json_t *describe_choice(portmm_context *context) {
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    if (portmm_context_get_info(context, &info) != PORTMM_STATUS_SUCCESS) {
        return json_pack("{s:o}", "error", bench_json_string(portmm_last_error()));
    }
    return json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "backend", bench_json_string(info.backend), "device_index",
                     (int)info.device_index, "device", bench_json_string(info.device_name), "engine",
                     bench_json_string(info.engine), "reason", bench_json_string(info.reason), "cache_path",
                     bench_json_string(portmm_cache_get_path(context)), "cache_reason",
                     bench_json_string(portmm_cache_get_reason(context)));
}

int info_choice_main(const char *spec) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = spec[0] != '\0' ? spec : NULL;
    portmm_context *context = NULL;
    json_t *choice = portmm_context_create(&options, &context) == PORTMM_STATUS_SUCCESS
                         ? describe_choice(context)
                         : json_pack("{s:o}", "error", bench_json_string(portmm_last_error()));
    portmm_context_destroy(context);
    return write_result(choice);
}
