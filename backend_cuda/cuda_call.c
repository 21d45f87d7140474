/* SPDX-License-Identifier: Apache-2.0 */
/* What a driver's answer means, and the current context around calls. */
#include "cuda_state.h"

typedef struct meaning {
    CUresult code;
    portmm_status status;
    const char *advice;
} meaning;

/* A code that is not here is a DEVICE_ERROR. DEVICE_LOST are those after which the driver fails every call on the
 * context. */
static const meaning meanings[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, PORTMM_STATUS_OUT_OF_MEMORY, ""},
    {CUDA_ERROR_NOT_INITIALIZED, PORTMM_STATUS_DEVICE_ERROR, "; CUDA does not survive a fork"},
    {CUDA_ERROR_DEINITIALIZED, PORTMM_STATUS_DEVICE_LOST, "; the process is about to end"},
    {CUDA_ERROR_STUB_LIBRARY, PORTMM_STATUS_UNAVAILABLE,
     "; the toolkit's stub of libcuda was found in place of the driver's: correct LD_LIBRARY_PATH"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, PORTMM_STATUS_UNAVAILABLE, "; is another program using it exclusively?"},
    {CUDA_ERROR_NO_DEVICE, PORTMM_STATUS_UNAVAILABLE,
     "; check nvidia-smi, CUDA_VISIBLE_DEVICES and the permissions of /dev/nvidia*"},
    {CUDA_ERROR_INVALID_DEVICE, PORTMM_STATUS_UNAVAILABLE, ""},
    {CUDA_ERROR_DEVICE_NOT_LICENSED, PORTMM_STATUS_UNAVAILABLE, ""},
    {CUDA_ERROR_SYSTEM_NOT_READY, PORTMM_STATUS_UNAVAILABLE, "; is the fabric manager running?"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, PORTMM_STATUS_UNAVAILABLE,
     "; the kernel's driver and libcuda are of different versions: restart the machine after an update"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, PORTMM_STATUS_UNAVAILABLE, ""},
    {CUDA_ERROR_MPS_CONNECTION_FAILED, PORTMM_STATUS_UNAVAILABLE, ""},
    {CUDA_ERROR_MPS_SERVER_NOT_READY, PORTMM_STATUS_UNAVAILABLE, ""},
    {CUDA_ERROR_INVALID_IMAGE, PORTMM_STATUS_UNSUPPORTED, ""},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, PORTMM_STATUS_UNSUPPORTED, ""},
    {CUDA_ERROR_INVALID_PTX, PORTMM_STATUS_UNSUPPORTED, ""},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, PORTMM_STATUS_UNSUPPORTED, "; the driver is older than this build's CUDA"},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, PORTMM_STATUS_UNSUPPORTED, "; the driver's installation is incomplete"},
    {CUDA_ERROR_NOT_SUPPORTED, PORTMM_STATUS_UNSUPPORTED, ""},
    {CUDA_ERROR_ECC_UNCORRECTABLE, PORTMM_STATUS_DEVICE_LOST, "; the GPU's memory is faulty: see nvidia-smi -q"},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, PORTMM_STATUS_DEVICE_LOST, ""},
    {CUDA_ERROR_ILLEGAL_ADDRESS, PORTMM_STATUS_DEVICE_LOST, ""},
    {CUDA_ERROR_LAUNCH_TIMEOUT, PORTMM_STATUS_DEVICE_LOST, "; a GPU with a display ends long kernels"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, PORTMM_STATUS_DEVICE_LOST, "; another part of the program has reset the device"},
    {CUDA_ERROR_ASSERT, PORTMM_STATUS_DEVICE_LOST, ""},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, PORTMM_STATUS_DEVICE_LOST, ""},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, PORTMM_STATUS_DEVICE_LOST, ""},
    {CUDA_ERROR_MISALIGNED_ADDRESS, PORTMM_STATUS_DEVICE_LOST, ""},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, PORTMM_STATUS_DEVICE_LOST, ""},
    {CUDA_ERROR_INVALID_PC, PORTMM_STATUS_DEVICE_LOST, ""},
    {CUDA_ERROR_LAUNCH_FAILED, PORTMM_STATUS_DEVICE_LOST, ""},
    {CUDA_ERROR_EXTERNAL_DEVICE, PORTMM_STATUS_DEVICE_LOST, ""},
    {CUDA_ERROR_MPS_CLIENT_TERMINATED, PORTMM_STATUS_DEVICE_LOST, ""},
};

static meaning find_meaning(CUresult code) {
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].code == code)
            return meanings[i];
    return (meaning){code, PORTMM_STATUS_DEVICE_ERROR, ""};
}

static const char *get_name(const pmm_cuda_api *api, CUresult code) {
    const char *name = NULL;
    return api->cuGetErrorName(code, &name) == CUDA_SUCCESS && name != NULL ? name : "an unknown error";
}

static portmm_status fail(const pmm_host *host, const pmm_cuda_api *api, const char *call, CUresult code,
                          portmm_status status) {
    const char *text = NULL;
    if (api->cuGetErrorString(code, &text) != CUDA_SUCCESS || text == NULL)
        text = "no description";
    return host->fail(status, "cuda: %s: %s (%d): %s%s", call, get_name(api, code), (int)code, text,
                      find_meaning(code).advice);
}

portmm_status pmm_cuda_fail(const pmm_host *host, const pmm_cuda_api *api, const char *call, CUresult code) {
    return fail(host, api, call, code, find_meaning(code).status);
}

static portmm_status check(pmm_device *device, const char *call, CUresult code, bool is_late) {
    if (code == CUDA_SUCCESS)
        return PORTMM_STATUS_SUCCESS;
    portmm_status status = find_meaning(code).status;
    if (status == PORTMM_STATUS_DEVICE_LOST)
        atomic_store(&device->lost, (int)code);
    else if (is_late)
        status = PORTMM_STATUS_DEVICE_ERROR;
    return fail(device->host, device->api, call, code, status);
}

portmm_status pmm_cuda_check(pmm_device *device, const char *call, CUresult code) {
    return check(device, call, code, false);
}

portmm_status pmm_cuda_check_late(pmm_device *device, const char *call, CUresult code) {
    return check(device, call, code, true);
}

portmm_status pmm_cuda_enter(pmm_device *device) {
    CUresult lost = (CUresult)atomic_load(&device->lost);
    if (lost != CUDA_SUCCESS)
        return device->host->fail(PORTMM_STATUS_DEVICE_LOST,
                                  "cuda: the device was lost in an earlier call: %s (%d); the process has to start "
                                  "anew to use it again",
                                  get_name(device->api, lost), (int)lost);
    return pmm_cuda_check(device, "cuCtxPushCurrent", device->api->cuCtxPushCurrent(device->context));
}

void pmm_cuda_leave(const pmm_device *device) {
    CUcontext popped;
    (void)device->api->cuCtxPopCurrent(&popped); /* cannot fail after a push that did not */
}
