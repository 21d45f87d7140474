/* SPDX-License-Identifier: Apache-2.0 */
#include <portmm/backend.h>

const pmm_backend *pmm_backend_entry(void) {
    return NULL;
}
