/* SPDX-License-Identifier: Apache-2.0 */
/* A module of another ABI: all that may be looked at is the number. */
#include <portmm/backend.h>

const pmm_backend *pmm_backend_entry(void) {
    static const pmm_backend backend = {.abi = PMM_BACKEND_ABI + 1, .struct_size = sizeof(pmm_backend)};
    return &backend;
}
