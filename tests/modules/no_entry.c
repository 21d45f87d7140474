/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library, but no module. */
#include <portmm/backend.h>

PMM_EXPORT int test_some_function(void);

int test_some_function(void) {
    return 1;
}
