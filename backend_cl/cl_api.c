/* SPDX-License-Identifier: Apache-2.0 */
#include "cl_api.h"

#include <string.h>

static void *open_loader(const pmm_host *host) {
    static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so"};
    const char *why = "", *first = NULL;
    char text[256] = "";
    void *library = NULL;
    host->span_begin(host, PORTMM_PHASE_LOAD, "OpenCL ICD loader");
    for (size_t i = 0; i < sizeof names / sizeof *names && library == NULL; i++) {
        library = host->library_open(host, names[i], false, &why);
        if (library == NULL && first == NULL) {
            strncpy(text, why, sizeof text - 1);
            first = text;
        }
    }
    host->span_end(host);
    if (library == NULL)
        host->fail(PORTMM_STATUS_UNAVAILABLE,
                   "opencl: there is no OpenCL ICD loader (%s); install ocl-icd-libopencl1 or your GPU vendor's OpenCL",
                   first);
    return library;
}

portmm_status pmm_cl_load(const pmm_host *host, pmm_cl_api *api) {
    void *library = open_loader(host);
    if (library == NULL)
        return PORTMM_STATUS_UNAVAILABLE;
    const struct {
        const char *name;
        void *member;
    } functions[] = {
#define PMM_CL_ROW(function) {#function, &api->function},
        PMM_CL_FUNCTIONS(PMM_CL_ROW)
#undef PMM_CL_ROW
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = host->library_symbol(library, functions[i].name);
        if (symbol == NULL)
            return host->fail(
                PORTMM_STATUS_UNAVAILABLE,
                "opencl: the ICD loader found has no %s: it is older than OpenCL 1.2; install a newer one",
                functions[i].name);
        memcpy(functions[i].member, &symbol, sizeof symbol);
    }
    return PORTMM_STATUS_SUCCESS;
}
