/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, streams and memory that the application made. The driver counts no references to them: they stay the
 * application's, and have to outlive ours. */
#include <stdlib.h>

#include "cuda_state.h"

portmm_status pmm_cuda_device_borrow(pmm_backend_state *state, size_t index, void *native, pmm_device **device) {
    const pmm_host *host = state->host;
    CUcontext context = native, popped;
    CUdevice id = CU_DEVICE_INVALID;
    CUresult code = context != NULL ? state->api.cuCtxPushCurrent(context) : CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS) {
        code = state->api.cuCtxGetDevice(&id);
        (void)state->api.cuCtxPopCurrent(&popped);
    }
    if (code != CUDA_SUCCESS || id != state->devices[index].id)
        return host->fail(PORTMM_STATUS_INVALID_ARGUMENT, "cuda: the CUcontext given is not one of cuda:%d (%s)",
                          (int)index, state->devices[index].name);
    pmm_device *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory to open a device");
    made->host = host;
    made->api = &state->api;
    made->state = state;
    made->found = &state->devices[index];
    made->context = context;
    made->context_is_borrowed = true;
    *device = made;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cuda_queue_borrow(pmm_device *device, void *native, pmm_queue **queue) {
    const pmm_host *host = device->host;
    CUcontext context = NULL;
    CUstream stream = native;
    portmm_status status = pmm_cuda_enter(device);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    CUresult code = device->api->cuStreamGetCtx(stream, &context); /* the default stream is the current context's */
    pmm_cuda_leave(device);
    if (code != CUDA_SUCCESS || context != device->context)
        return host->fail(PORTMM_STATUS_INVALID_ARGUMENT,
                          "cuda: the CUstream given is not one of the context's CUcontext (of a program on the CUDA "
                          "runtime that is the primary context of %s)",
                          device->found->name);
    pmm_queue *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory for a queue");
    *made = (pmm_queue){.device = device, .stream = stream, .stream_is_borrowed = true};
    *queue = made;
    return PORTMM_STATUS_SUCCESS;
}

/* Memory of a pool, or managed, belongs to no context. */
static bool is_of_context(const pmm_device *device, CUdeviceptr address) {
    CUcontext context = NULL;
    CUresult code = device->api->cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address);
    return code != CUDA_SUCCESS || context == NULL || context == device->context;
}

portmm_status pmm_cuda_buffer_borrow(pmm_device *device, void *native, size_t *size, pmm_buffer **buffer) {
    const pmm_host *host = device->host;
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)native, base = 0;
    size_t all = 0;
    portmm_status status = pmm_cuda_enter(device);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    CUresult code = device->api->cuMemGetAddressRange(&base, &all, address);
    bool fits = code == CUDA_SUCCESS && is_of_context(device, address);
    pmm_cuda_leave(device);
    if (!fits)
        return host->fail(PORTMM_STATUS_INVALID_ARGUMENT,
                          "cuda: the CUdeviceptr given is no memory that the context of %s can use",
                          device->found->name);
    pmm_buffer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory for a buffer");
    *made = (pmm_buffer){.device = device, .address = address, .memory_is_borrowed = true};
    *size = all - (size_t)(address - base);
    *buffer = made;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cuda_event_native(pmm_event *event, void **native) {
    *native = event->event;
    return PORTMM_STATUS_SUCCESS;
}
