/* SPDX-License-Identifier: Apache-2.0 */
#include "environment.h"

#include "embedded/revision.h"
#include "platform.h"
#include "request.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Variables with these beginnings change what is measured; others are nobody's business. */
static const char *const variable_prefixes[] = {
    "PORTMM_",         "POCL_",         "OCL_ICD_",     "OPENCL_",       "OCLGRIND_",
    "RUSTICL_",        "MESA_",         "NEO_",         "AMD_COMGR_",    "CUDA_CACHE_",
    "CUDA_DEVICE_",    "CUDA_FORCE_",   "CUDA_MODULE_", "CUDA_VISIBLE_", "NVIDIA_TF32_",
    "HIP_VISIBLE_",    "ROCR_VISIBLE_", "ZE_AFFINITY_", "CLBLAST_",      "OPENBLAS_",
    "GOTO_",           "BLIS_",         "MKL_",         "OMP_",          "XDG_CACHE_HOME",
    "LD_LIBRARY_PATH", "LD_PRELOAD",
};

static bool is_of_interest(const char *entry) {
    for (size_t i = 0; i < sizeof variable_prefixes / sizeof variable_prefixes[0]; i++) {
        if (strncmp(entry, variable_prefixes[i], strlen(variable_prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static json_t *list_variables(void) {
    json_t *variables = json_object();
    char *const *entries = bench_environment_entries();
    for (size_t i = 0; entries[i] != NULL; i++) {
        const char *equals = strchr(entries[i], '=');
        if (equals != NULL && is_of_interest(entries[i])) {
            char *name = bench_copy(entries[i], (size_t)(equals - entries[i]));
            (void)json_object_set_new(variables, name, bench_json_string(equals + 1));
            free(name);
        }
    }
    return variables;
}

static const char *find_vendors(void) {
    const char *const names[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = getenv(names[i]);
        if (path != NULL && path[0] != '\0') {
            return path;
        }
    }
    return "/etc/OpenCL/vendors";
}

static bool is_icd_file(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".icd") == 0;
}

static void add_icd_file(const char *path, void *files) {
    if (is_icd_file(path)) {
        char library[4096] = "";
        bench_read_line(path, library, sizeof library);
        (void)json_array_append_new(
            files, json_pack("{s:o, s:o}", "file", bench_json_string(path), "library", bench_json_string(library)));
    }
}

json_t *bench_list_icd_files(void) {
    json_t *files = json_array();
    const char *vendors = find_vendors();
    if (is_icd_file(vendors)) {
        add_icd_file(vendors, files);
    } else {
        bench_visit_directory(vendors, add_icd_file, files);
    }
    return files;
}

json_t *bench_describe_environment(void) {
    bench_machine machine;
    bench_get_machine(&machine);
    char date[32] = "";
    time_t now = time(NULL);
    const struct tm *utc = gmtime(&now);
    if (utc != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", utc);
    }
    json_t *environment = json_pack("{s:s, s:s, s:o, s:I, s:I}", "date", date, "revision", BENCH_REVISION, "cpu",
                                    bench_json_string(machine.cpu), "cores", (json_int_t)machine.cores, "memory_bytes",
                                    (json_int_t)machine.memory_bytes);
    json_t *more = json_pack("{s:s, s:o, s:o, s:o, s:o}", "governor", machine.governor, "system",
                             bench_json_string(machine.system), "distribution", bench_json_string(machine.distribution),
                             "icd_files", bench_list_icd_files(), "variables", list_variables());
    (void)json_object_update_new(environment, more);
    return environment;
}
