/* SPDX-License-Identifier: Apache-2.0 */
#include "structs.h"

#include <string.h>

#include "status.h"

static portmm_status check_size(size_t given, const char *name) {
    if (given >= 2 * sizeof(size_t) && given <= 4096)
        return PORTMM_STATUS_SUCCESS;
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s.struct_size = %zu: set it to sizeof the structure", name,
                    given);
}

portmm_status pmm_struct_in(void *ours, size_t size, const void *theirs, const char *name) {
    if (theirs == NULL)
        return PORTMM_STATUS_SUCCESS;
    size_t given;
    memcpy(&given, theirs, sizeof given);
    portmm_status status = check_size(given, name);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)theirs)[i] != 0)
            return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                            "%s.struct_size = %zu: uses members that this version (%s) does not know", name, given,
                            PORTMM_VERSION_STRING);
    memcpy(ours, theirs, given < size ? given : size);
    memcpy(ours, &size, sizeof size);
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_struct_out(void *theirs, const void *ours, size_t size, const char *name) {
    size_t given;
    memcpy(&given, theirs, sizeof given);
    portmm_status status = check_size(given, name);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    memset((unsigned char *)theirs + sizeof given, 0, given - sizeof given);
    memcpy((unsigned char *)theirs + sizeof given, (const unsigned char *)ours + sizeof given,
           (given < size ? given : size) - sizeof given);
    return PORTMM_STATUS_SUCCESS;
}
