/* SPDX-License-Identifier: Apache-2.0 */
/* Engine `clblast`, as the OpenCL module offers it: its own library, and CLBlast with it, is loaded at first use. */
#include <string.h>

#include "clblast/clblast.h"

static const pmm_clblast *loaded; /* under host->lock until set; stays */

static portmm_status load_library(const pmm_host *host, const pmm_cl_api *api) {
    const char *why = "";
    host->span_begin(host, PORTMM_PHASE_LOAD, "CLBlast");
    void *library = host->library_open(host, PMM_CLBLAST_FILE, true, &why);
    host->span_end(host);
    void *symbol = library != NULL ? host->library_symbol(library, PMM_CLBLAST_ENTRY_NAME) : NULL;
    if (symbol == NULL)
        return host->fail(PORTMM_STATUS_UNAVAILABLE,
                          "opencl: engine clblast cannot be loaded (%s); install libclblast1 and, beside the modules, "
                          "%s",
                          why, PMM_CLBLAST_FILE);
    pmm_clblast_entry_fn *entry;
    memcpy(&entry, &symbol, sizeof symbol); /* ISO C has no cast for it */
    loaded = entry(api);
    return loaded != NULL ? PORTMM_STATUS_SUCCESS
                          : host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for engine clblast");
}

static portmm_status open_engine(pmm_device *device, pmm_engine_state **engine) {
    const pmm_host *host = device->host;
    portmm_status status = PORTMM_STATUS_SUCCESS;
    host->lock(host);
    if (loaded == NULL)
        status = load_library(host, device->api);
    host->unlock(host);
    return status == PORTMM_STATUS_SUCCESS ? loaded->engine->open(device, engine) : status;
}

static void close_engine(pmm_engine_state *engine) {
    loaded->engine->close(engine);
}

static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    return loaded->engine->gemm(engine, queue, gemm, wait_count, wait_list, event);
}

static bool take_wanted(pmm_engine_state *engine) {
    return loaded->engine->capture_wanted(engine);
}

static void capture(pmm_engine_state *engine) {
    loaded->engine->capture(engine);
}

void pmm_cl_clblast_forget(const pmm_host *host) {
    if (loaded != NULL)
        loaded->forget(host);
}

const pmm_engine pmm_cl_clblast = {
    .name = "clblast",
    .dtypes = PMM_CL_CLBLAST_DTYPES,
    .features = PMM_ENGINE_BATCHES,
    .max_size = INT32_MAX, /* CLBlast indexes with int */
    .max_index = INT32_MAX,
    .open = open_engine,
    .close = close_engine,
    .gemm = run_gemm,
    .capture_wanted = take_wanted,
    .capture = capture,
};
