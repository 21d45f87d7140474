/* SPDX-License-Identifier: Apache-2.0 */
#include "cl_error.h"

typedef struct meaning {
    cl_int code;
    const char *name;
    portmm_status status;
} meaning;

#define CODE(name, status)                                                                                             \
    { name, #name, PORTMM_STATUS_##status }

static const meaning meanings[] = {
    CODE(CL_DEVICE_NOT_FOUND, UNAVAILABLE),
    CODE(CL_DEVICE_NOT_AVAILABLE, DEVICE_LOST),
    CODE(CL_COMPILER_NOT_AVAILABLE, UNSUPPORTED),
    CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE, OUT_OF_MEMORY),
    CODE(CL_OUT_OF_RESOURCES, OUT_OF_MEMORY),
    CODE(CL_OUT_OF_HOST_MEMORY, OUT_OF_MEMORY),
    CODE(CL_BUILD_PROGRAM_FAILURE, DEVICE_ERROR),
    CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, DEVICE_ERROR),
    CODE(CL_INVALID_VALUE, DEVICE_ERROR),
    CODE(CL_INVALID_DEVICE, DEVICE_ERROR),
    CODE(CL_INVALID_CONTEXT, DEVICE_ERROR),
    CODE(CL_INVALID_COMMAND_QUEUE, DEVICE_ERROR),
    CODE(CL_INVALID_MEM_OBJECT, DEVICE_ERROR),
    CODE(CL_INVALID_BINARY, DEVICE_ERROR),
    CODE(CL_INVALID_BUILD_OPTIONS, DEVICE_ERROR),
    CODE(CL_INVALID_PROGRAM, DEVICE_ERROR),
    CODE(CL_INVALID_PROGRAM_EXECUTABLE, DEVICE_ERROR),
    CODE(CL_INVALID_KERNEL_NAME, DEVICE_ERROR),
    CODE(CL_INVALID_KERNEL, DEVICE_ERROR),
    CODE(CL_INVALID_KERNEL_ARGS, DEVICE_ERROR),
    CODE(CL_INVALID_WORK_GROUP_SIZE, UNSUPPORTED),
    CODE(CL_INVALID_WORK_ITEM_SIZE, UNSUPPORTED),
    CODE(CL_INVALID_EVENT, DEVICE_ERROR),
    CODE(CL_INVALID_OPERATION, DEVICE_ERROR),
    CODE(CL_INVALID_BUFFER_SIZE, OUT_OF_MEMORY),
    /* CLBlast's own, from -1024 and -2048 on */
    {-1024, "CLBlastNotImplemented", PORTMM_STATUS_UNSUPPORTED},
    {-2044, "CLBlastNoDoublePrecision", PORTMM_STATUS_UNSUPPORTED},
    {-2045, "CLBlastNoHalfPrecision", PORTMM_STATUS_UNSUPPORTED},
    {-2046, "CLBlastInvalidLocalMemUsage: the device's local memory is too small", PORTMM_STATUS_UNSUPPORTED},
};

portmm_status pmm_cl_fail(const pmm_host *host, const char *call, cl_int code) {
    meaning found = {code, "an error", PORTMM_STATUS_DEVICE_ERROR};
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].code == code)
            found = meanings[i];
    return host->fail(found.status, "opencl: %s: %s (%d)", call, found.name, (int)code);
}

portmm_status pmm_cl_fail_late(const pmm_host *host, const char *call, cl_int code) {
    portmm_status status = pmm_cl_fail(host, call, code);
    return status == PORTMM_STATUS_DEVICE_LOST ? status : PORTMM_STATUS_DEVICE_ERROR;
}
