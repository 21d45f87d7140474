/* SPDX-License-Identifier: Apache-2.0 */
/* A module in order, whose driver is in order, on a machine without a device. */
#include <portmm/backend.h>

static portmm_status open_backend(const pmm_host *host, pmm_backend_state **state) {
    (void)host;
    *state = NULL;
    return PORTMM_STATUS_SUCCESS;
}

static void close_backend(pmm_backend_state *state) {
    (void)state;
}

static size_t count_devices(const pmm_backend_state *state) {
    (void)state;
    return 0;
}

const pmm_backend *pmm_backend_entry(void) {
    static const pmm_backend backend = {.abi = PMM_BACKEND_ABI,
                                        .struct_size = sizeof(pmm_backend),
                                        .name = TEST_BACKEND,
                                        .open = open_backend,
                                        .close = close_backend,
                                        .device_count = count_devices};
    return &backend;
}
