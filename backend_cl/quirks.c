/* SPDX-License-Identifier: Apache-2.0 */
#include "quirks.h"

#include <stddef.h>
#include <string.h>

typedef struct quirk_record {
    const char *platform; /* CL_PLATFORM_NAME; NULL: any */
    const char *driver;   /* how CL_DRIVER_VERSION begins; NULL: any */
    cl_device_type type;  /* 0: any */
    unsigned quirks;
    const char *reason;
} quirk_record;

/* What was measured: docs/drivers.md. The comment names the test. */
static const quirk_record records[] = {
    {.type = CL_DEVICE_TYPE_CPU, /* queues.opencl */
     .quirks = PMM_CL_ONE_QUEUE_AT_A_TIME,
     .reason = "one queue at a time: products of two queues would share the same cores"},
    {.platform = "Portable Computing Language", /* queues.opencl, on PoCL 3.1 */
     .driver = "3.",
     .quirks = PMM_CL_ONE_QUEUE_AT_A_TIME,
     .reason = "one queue at a time: PoCL 3.1 ends the process when it runs one kernel from two queues with grids of "
               "different widths (it counts the users of its loaded code wrongly)"},
    {.platform = "Intel(R) OpenCL", /* driver.quirks */
     .type = CL_DEVICE_TYPE_CPU,
     .quirks = PMM_CL_COMPLETE_AT_BUILD,
     .reason = "binaries are complete at the build: a launch adds nothing to them"},
};
enum { RECORDS = sizeof records / sizeof *records };

static bool is_meant(const quirk_record *record, const pmm_cl_match *match) {
    return (record->platform == NULL || strcmp(record->platform, match->platform) == 0) &&
           (record->driver == NULL || strncmp(record->driver, match->driver, strlen(record->driver)) == 0) &&
           (record->type == 0 || (record->type & match->type) != 0);
}

unsigned pmm_cl_quirks_find(const pmm_cl_match *match) {
    unsigned found = 0;
    for (size_t i = 0; i < RECORDS; i++)
        if (is_meant(&records[i], match))
            found |= records[i].quirks;
    return found;
}

const char *pmm_cl_quirks_reason(const pmm_cl_match *match, int number) {
    for (size_t i = 0; i < RECORDS; i++)
        if (is_meant(&records[i], match) && number-- == 0)
            return records[i].reason;
    return NULL;
}

pmm_cl_match pmm_cl_quirks_match(const pmm_cl_api *api, cl_device_id device) {
    pmm_cl_match match = {0};
    cl_platform_id platform = NULL;
    if (api->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS ||
        api->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof match.platform, match.platform, NULL) != CL_SUCCESS)
        match.platform[0] = '\0';
    if (api->clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof match.driver, match.driver, NULL) != CL_SUCCESS)
        match.driver[0] = '\0';
    if (api->clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof match.type, &match.type, NULL) != CL_SUCCESS)
        match.type = 0;
    return match;
}
