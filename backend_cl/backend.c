/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "opencl.h"

static void close_backend(pmm_backend_state *state) {
    pmm_cl_free_devices(state);
    free(state);
}

static portmm_status open_backend(const pmm_host *host, pmm_backend_state **state) {
    pmm_backend_state *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory");
    made->host = host;
    host->lock(host); /* some drivers do not survive two threads that start them */
    portmm_status status = pmm_cl_load(host, &made->api);
    if (status == PORTMM_STATUS_SUCCESS) {
        host->span_begin(host, PORTMM_PHASE_ENUMERATE, "OpenCL platforms and devices");
        status = pmm_cl_find_devices(made);
        host->span_end(host);
    }
    host->unlock(host);
    if (status != PORTMM_STATUS_SUCCESS) {
        close_backend(made);
        return status;
    }
    *state = made;
    return PORTMM_STATUS_SUCCESS;
}

static size_t count_devices(const pmm_backend_state *state) {
    return state->count;
}

static void tell_device(const pmm_backend_state *state, size_t index, portmm_device_info *info) {
    *info = state->devices[index].info;
}

static const pmm_engine *const engines[] = {&pmm_cl_clblast, &pmm_cl_starter, NULL};

static const pmm_backend backend = {
    .abi = PMM_BACKEND_ABI,
    .struct_size = sizeof(pmm_backend),
    .name = "opencl",
    .open = open_backend,
    .close = close_backend,
    .device_count = count_devices,
    .device_info = tell_device,
    .device_open = pmm_cl_device_open,
    .device_close = pmm_cl_device_close,
    .queue_create = pmm_cl_queue_create,
    .queue_finish = pmm_cl_queue_finish,
    .queue_barrier = pmm_cl_queue_barrier,
    .queue_destroy = pmm_cl_queue_destroy,
    .buffer_create = pmm_cl_buffer_create,
    .buffer_wrap = pmm_cl_buffer_wrap,
    .buffer_destroy = pmm_cl_buffer_destroy,
    .buffer_write = pmm_cl_buffer_write,
    .buffer_read = pmm_cl_buffer_read,
    .event_wait = pmm_cl_event_wait,
    .event_destroy = pmm_cl_event_destroy,
    .engines = engines,
    .describe = pmm_cl_describe,
    .buffer_write_start = pmm_cl_buffer_write_start,
    .buffer_read_start = pmm_cl_buffer_read_start,
    .buffer_map = pmm_cl_buffer_map,
    .buffer_unmap = pmm_cl_buffer_unmap,
    .event_times = pmm_cl_event_times,
    .device_borrow = pmm_cl_device_borrow,
    .queue_borrow = pmm_cl_queue_borrow,
    .buffer_borrow = pmm_cl_buffer_borrow,
    .event_native = pmm_cl_event_native,
    .queue_create_timed = pmm_cl_queue_create_timed,
    .buffer_share = pmm_cl_buffer_share,
};

const pmm_backend *pmm_backend_entry(void) {
    return &backend;
}
