/* SPDX-License-Identifier: Apache-2.0 */
/* The last error of each thread. */
#ifndef PMM_STATUS_H
#define PMM_STATUS_H

#include <portmm/backend.h>

/* Records the text and returns `status`. Needs no memory. */
portmm_status pmm_fail(portmm_status status, const char *format, ...) PMM_PRINTF(2, 3);
/* Each public function that returns a status begins with it. */
void pmm_clear_error(void);

#endif
