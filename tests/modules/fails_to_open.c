/* SPDX-License-Identifier: Apache-2.0 */
/* A module in order whose driver is missing. Its words tell a test that it was loaded. */
#include <portmm/backend.h>

static portmm_status open_backend(const pmm_host *host, pmm_backend_state **state) {
    (void)state;
    return host->fail(PORTMM_STATUS_UNAVAILABLE, "%s: the planted module was loaded", TEST_BACKEND);
}

const pmm_backend *pmm_backend_entry(void) {
    static const pmm_backend backend = {
        .abi = PMM_BACKEND_ABI, .struct_size = sizeof(pmm_backend), .name = TEST_BACKEND, .open = open_backend};
    return &backend;
}
