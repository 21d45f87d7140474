/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's wait list, checked. */
#ifndef PMM_WAITS_H
#define PMM_WAITS_H

#include "context.h"

enum { PMM_MAX_WAITS = 64 };

portmm_status pmm_waits_take(const char *function, const portmm_context *context, size_t count,
                             portmm_event *const *list, pmm_event *waits[PMM_MAX_WAITS]);

#endif
