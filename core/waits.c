/* SPDX-License-Identifier: Apache-2.0 */
#include "waits.h"

#include "status.h"

portmm_status pmm_waits_take(const char *function, const portmm_context *context, size_t count,
                             portmm_event *const *list, pmm_event *waits[PMM_MAX_WAITS]) {
    if (count > PMM_MAX_WAITS)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: wait_count = %zu is more than %d", function, count,
                        (int)PMM_MAX_WAITS);
    if (count > 0 && list == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: wait_list is NULL but wait_count = %zu", function, count);
    for (size_t i = 0; i < count; i++) {
        if (list[i] == NULL || list[i]->context != context)
            return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: wait_list[%zu] is NULL or of another context",
                            function, i);
        waits[i] = list[i]->event;
    }
    return PORTMM_STATUS_SUCCESS;
}
