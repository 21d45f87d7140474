/* SPDX-License-Identifier: Apache-2.0 */
/* A module built with an earlier, shorter table of the same ABI number. */
#include <portmm/backend.h>

const pmm_backend *pmm_backend_entry(void) {
    static const pmm_backend backend = {
        .abi = PMM_BACKEND_ABI, .struct_size = sizeof(pmm_backend) - sizeof(void *), .name = TEST_BACKEND};
    return &backend;
}
