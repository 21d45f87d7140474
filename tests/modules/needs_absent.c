/* SPDX-License-Identifier: Apache-2.0 */
/* A module linked to a library that is not there when it is loaded. */
#include <portmm/backend.h>

int test_absent_function(void);

const pmm_backend *pmm_backend_entry(void) {
    return test_absent_function() ? NULL : NULL;
}
