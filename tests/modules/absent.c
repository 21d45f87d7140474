/* SPDX-License-Identifier: Apache-2.0 */
/* What needs_absent.c is linked to; put where no loader looks. */
#include <portmm/backend.h>

PMM_EXPORT int test_absent_function(void);

int test_absent_function(void) {
    return 0;
}
