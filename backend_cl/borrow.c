/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and memory that the application made. Each is referenced as long as ours lives. */
#include <stdlib.h>

#include "cl_error.h"
#include "opencl.h"

/* How the driver answers for an object that is none: as an argument, not as a trouble of the device. */
static portmm_status refuse(const pmm_device *device, const char *call, cl_int code) {
    return device->host->fail(PORTMM_STATUS_INVALID_ARGUMENT, "opencl: %s: %s (%d)", call, pmm_cl_error_name(code),
                              (int)code);
}

static portmm_status check_queue(const pmm_device *device, cl_command_queue queue, bool *timed) {
    const pmm_cl_api *api = device->api;
    cl_context context = NULL;
    cl_device_id id = NULL;
    cl_command_queue_properties properties = 0;
    cl_int code = api->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (code != CL_SUCCESS)
        return refuse(device, "clGetCommandQueueInfo", code);
    if (context != device->context || id != device->found->id)
        return device->host->fail(PORTMM_STATUS_INVALID_ARGUMENT,
                                  "opencl: the cl_command_queue given is of another cl_context or device; give its "
                                  "context as options.native_context");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return device->host->fail(PORTMM_STATUS_INVALID_ARGUMENT,
                                  "opencl: the cl_command_queue given is out of order; only queues in order are used");
    *timed = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_queue_borrow(pmm_device *device, void *native, pmm_queue **queue) {
    bool timed = false;
    portmm_status status = check_queue(device, native, &timed);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_queue *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for a queue");
    cl_int code = device->api->clRetainCommandQueue(native);
    if (code != CL_SUCCESS) {
        free(made);
        return pmm_cl_fail(device->host, "clRetainCommandQueue", code);
    }
    *made = (pmm_queue){.device = device, .queue = native, .timed = timed};
    *queue = made;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status check_memory(const pmm_device *device, cl_mem memory, size_t *size, cl_mem_flags *flags) {
    const pmm_cl_api *api = device->api;
    cl_context context = NULL;
    cl_mem_object_type type = 0;
    cl_int code = api->clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof *size, size, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof *flags, flags, NULL);
    if (code != CL_SUCCESS)
        return refuse(device, "clGetMemObjectInfo", code);
    if (context != device->context)
        return device->host->fail(PORTMM_STATUS_INVALID_ARGUMENT,
                                  "opencl: the cl_mem given is of another cl_context; give its context as "
                                  "options.native_context");
    if (type != CL_MEM_OBJECT_BUFFER)
        return device->host->fail(PORTMM_STATUS_INVALID_ARGUMENT, "opencl: the cl_mem given is no buffer");
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_buffer_borrow(pmm_device *device, void *native, size_t *size, pmm_buffer **buffer) {
    size_t told = 0;
    cl_mem_flags flags = 0;
    portmm_status status = check_memory(device, native, &told, &flags);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_buffer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for a buffer");
    cl_int code = device->api->clRetainMemObject(native);
    if (code != CL_SUCCESS) {
        free(made);
        return pmm_cl_fail(device->host, "clRetainMemObject", code);
    }
    *made = (pmm_buffer){.device = device, .memory = native, .flags = flags};
    *buffer = made;
    *size = told;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_cl_event_native(pmm_event *event, void **native) {
    *native = event->event;
    return PORTMM_STATUS_SUCCESS;
}
