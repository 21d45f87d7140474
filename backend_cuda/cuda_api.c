/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_api.h"

#include <string.h>

portmm_status pmm_cuda_load(const pmm_host *host, pmm_cuda_api *api) {
    static const char *const name = "libcuda.so.1";
    const struct {
        const char *name;
        void *member;
    } functions[] = {
#define PMM_CUDA_ROW(symbol, type) {#symbol, &api->symbol},
        PMM_CUDA_FUNCTIONS(PMM_CUDA_ROW)
#undef PMM_CUDA_ROW
    };
    const char *why = "";
    host->span_begin(host, PORTMM_PHASE_LOAD, name);
    void *library = host->library_open(host, name, false, &why);
    host->span_end(host);
    if (library == NULL)
        return host->fail(PORTMM_STATUS_UNAVAILABLE,
                          "cuda: there is no CUDA driver (%s); with an NVIDIA GPU in this machine install its driver, "
                          "and in a container pass the GPU to it",
                          why);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = host->library_symbol(library, functions[i].name);
        if (symbol == NULL)
            return host->fail(PORTMM_STATUS_UNAVAILABLE,
                              "cuda: the driver's %s has no %s: it is older than CUDA 11; install a newer driver", name,
                              functions[i].name);
        memcpy(functions[i].member, &symbol, sizeof symbol); /* ISO C has no cast for it */
    }
    return PORTMM_STATUS_SUCCESS;
}
