/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's error codes as status and text. */
#ifndef PMM_CL_ERROR_H
#define PMM_CL_ERROR_H

#include "cl_api.h"

/* "CL_INVALID_VALUE". Never NULL. */
const char *pmm_cl_error_name(cl_int code);

/* Records "opencl: <call>: CL_... (-n)" and returns the status that fits. */
portmm_status pmm_cl_fail(const pmm_host *host, const char *call, cl_int code);

/* For work that was enqueued before: whatever the code, it may have been done in part. DEVICE_ERROR or DEVICE_LOST. */
portmm_status pmm_cl_fail_late(const pmm_host *host, const char *call, cl_int code);

#endif
