/* SPDX-License-Identifier: Apache-2.0 */
/* The module of another backend under a wrong file name. */
#include <portmm/backend.h>

const pmm_backend *pmm_backend_entry(void) {
    static const pmm_backend backend = {
        .abi = PMM_BACKEND_ABI, .struct_size = sizeof(pmm_backend), .name = "something-else"};
    return &backend;
}
