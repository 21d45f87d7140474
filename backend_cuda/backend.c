/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cuda_state.h"

static void close_backend(pmm_backend_state *state) {
    free(state->devices);
    free(state);
}

static portmm_status open_backend(const pmm_host *host, pmm_backend_state **state) {
    pmm_backend_state *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory");
    made->host = host;
    portmm_status status = pmm_cuda_load(host, &made->api);
    if (status == PORTMM_STATUS_SUCCESS) {
        host->span_begin(host, PORTMM_PHASE_ENUMERATE, "cuInit and devices");
        status = pmm_cuda_find_devices(made);
        host->span_end(host);
    }
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

static const pmm_engine *const engines[] = {&pmm_cuda_cublas, &pmm_cuda_starter, NULL};

static const pmm_backend backend = {
    .abi = PMM_BACKEND_ABI,
    .struct_size = sizeof(pmm_backend),
    .name = "cuda",
    .open = open_backend,
    .close = close_backend,
    .device_count = count_devices,
    .device_info = tell_device,
    .device_open = pmm_cuda_device_open,
    .device_close = pmm_cuda_device_close,
    .queue_create = pmm_cuda_queue_create,
    .queue_finish = pmm_cuda_queue_finish,
    .queue_barrier = pmm_cuda_queue_barrier,
    .queue_destroy = pmm_cuda_queue_destroy,
    .buffer_create = pmm_cuda_buffer_create,
    .buffer_wrap = pmm_cuda_buffer_wrap,
    .buffer_destroy = pmm_cuda_buffer_destroy,
    .buffer_write = pmm_cuda_buffer_write,
    .buffer_read = pmm_cuda_buffer_read,
    .event_wait = pmm_cuda_event_wait,
    .event_destroy = pmm_cuda_event_destroy,
    .engines = engines,
    .describe = pmm_cuda_describe,
    .buffer_write_start = pmm_cuda_buffer_write_start,
    .buffer_read_start = pmm_cuda_buffer_read_start,
    .event_times = pmm_cuda_event_times,
    .device_borrow = pmm_cuda_device_borrow,
    .queue_borrow = pmm_cuda_queue_borrow,
    .buffer_borrow = pmm_cuda_buffer_borrow,
    .event_native = pmm_cuda_event_native,
    .queue_create_timed = pmm_cuda_queue_create_timed,
};

const pmm_backend *pmm_backend_entry(void) {
    return &backend;
}
