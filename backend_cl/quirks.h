/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between drivers, as data: a table of records, each with the devices that it holds for, and the reason.
 */
#ifndef PMM_CL_QUIRKS_H
#define PMM_CL_QUIRKS_H

#include "cl_api.h"

enum {
    PMM_CL_ONE_QUEUE_AT_A_TIME = 1 << 0, /* products of two queues do not run at the same time */
    PMM_CL_COMPLETE_AT_BUILD = 1 << 1,   /* a binary has all code as soon as the program is built; else it gains some
                                          * with each kernel and work-group size that ran, and is taken again then */
};

/* What a driver tells of a device, as far as a record asks for it. */
typedef struct pmm_cl_match {
    char platform[64], driver[64]; /* CL_PLATFORM_NAME, CL_DRIVER_VERSION; "": not told, or longer than any record's */
    cl_device_type type;
} pmm_cl_match;

pmm_cl_match pmm_cl_quirks_match(const pmm_cl_api *api, cl_device_id device);
/* The sum of all that hold. */
unsigned pmm_cl_quirks_find(const pmm_cl_match *match);
/* The reason of each of them, from number 0 on; NULL: no more. */
const char *pmm_cl_quirks_reason(const pmm_cl_match *match, int number);

#endif
