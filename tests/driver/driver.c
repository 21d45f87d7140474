/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "settings.h"
#include "wrapped.h"

#define FUNCTIONS(X)                                                                                                   \
    X(clGetPlatformIDs)                                                                                                \
    X(clGetPlatformInfo)                                                                                               \
    X(clGetDeviceIDs)                                                                                                  \
    X(clGetDeviceInfo)                                                                                                 \
    X(clCreateContext)                                                                                                 \
    X(clRetainContext)                                                                                                 \
    X(clGetContextInfo)                                                                                                \
    X(clReleaseContext)                                                                                                \
    X(clCreateCommandQueue)                                                                                            \
    X(clRetainCommandQueue)                                                                                            \
    X(clReleaseCommandQueue)                                                                                           \
    X(clGetCommandQueueInfo)                                                                                           \
    X(clFlush)                                                                                                         \
    X(clFinish)                                                                                                        \
    X(clCreateBuffer)                                                                                                  \
    X(clRetainMemObject)                                                                                               \
    X(clReleaseMemObject)                                                                                              \
    X(clGetMemObjectInfo)                                                                                              \
    X(clEnqueueMapBuffer)                                                                                              \
    X(clEnqueueUnmapMemObject)                                                                                         \
    X(clEnqueueReadBuffer)                                                                                             \
    X(clEnqueueWriteBuffer)                                                                                            \
    X(clEnqueueReadBufferRect)                                                                                         \
    X(clEnqueueWriteBufferRect)                                                                                        \
    X(clEnqueueCopyBuffer)                                                                                             \
    X(clEnqueueMarkerWithWaitList)                                                                                     \
    X(clEnqueueBarrierWithWaitList)                                                                                    \
    X(clWaitForEvents)                                                                                                 \
    X(clGetEventProfilingInfo)                                                                                         \
    X(clRetainEvent)                                                                                                   \
    X(clReleaseEvent)                                                                                                  \
    X(clCreateProgramWithSource)                                                                                       \
    X(clCreateProgramWithBinary)                                                                                       \
    X(clBuildProgram)                                                                                                  \
    X(clGetProgramInfo)                                                                                                \
    X(clGetProgramBuildInfo)                                                                                           \
    X(clRetainProgram)                                                                                                 \
    X(clReleaseProgram)                                                                                                \
    X(clCreateKernel)                                                                                                  \
    X(clSetKernelArg)                                                                                                  \
    X(clGetKernelWorkGroupInfo)                                                                                        \
    X(clRetainKernel)                                                                                                  \
    X(clReleaseKernel)                                                                                                 \
    X(clEnqueueNDRangeKernel)

enum function {
#define NUMBER(name) NUMBER_##name,
    FUNCTIONS(NUMBER)
#undef NUMBER
        FUNCTION_COUNT
};

static const char *const names[FUNCTION_COUNT] = {
#define NAME(name) #name,
    FUNCTIONS(NAME)
#undef NAME
};

static atomic_long calls[FUNCTION_COUNT];

cl_icd_dispatch test_dispatch;
static const cl_icd_dispatch *real; /* the wrapped driver's table */
static test_wrapped *platform, *device;

#define VISIBLE __attribute__((visibility("default")))

/* ---- control ---- */

VISIBLE int test_driver_set(const char *settings) {
    for (int i = 0; i < FUNCTION_COUNT; i++)
        atomic_store(&calls[i], 0);
    return test_settings_change(settings);
}

VISIBLE long test_driver_calls(const char *function) {
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (strcmp(names[i], function) == 0)
            return atomic_load(&calls[i]);
    return -1;
}

VISIBLE const char *test_driver_function(int number) {
    return number >= 0 && number < FUNCTION_COUNT ? names[number] : NULL;
}

/* Counts the call; the code with which it has to fail, or CL_SUCCESS. */
static cl_int enter(enum function function) {
    long number = atomic_fetch_add(&calls[function], 1) + 1;
    const test_settings *set = &test_driver_settings;
    bool counts = number >= set->first && number <= set->last;
    bool fails = counts && strcmp(set->fail, names[function]) == 0;
    if (counts && strcmp(set->stop, names[function]) == 0)
        raise(SIGSTOP);
    return fails ? (cl_int)set->code : CL_SUCCESS;
}

#define ENTER(name)                                                                                                    \
    do {                                                                                                               \
        cl_int fault_ = enter(NUMBER_##name);                                                                          \
        if (fault_ != CL_SUCCESS)                                                                                      \
            return fault_;                                                                                             \
    } while (0)
#define ENTER_CREATE(name)                                                                                             \
    do {                                                                                                               \
        cl_int fault_ = enter(NUMBER_##name);                                                                          \
        if (fault_ != CL_SUCCESS)                                                                                      \
            return give_code(code, fault_);                                                                            \
    } while (0)

static void *give_code(cl_int *code, cl_int value) {
    if (code != NULL)
        *code = value;
    return NULL;
}

static void *give_object(cl_int *code, cl_int value, void *made, test_wrapped *context) {
    give_code(code, value);
    return value == CL_SUCCESS ? test_wrap(made, context, device) : NULL;
}

static cl_int give_bytes(const void *value, size_t value_size, size_t room, void *target, size_t *size_told) {
    if (size_told != NULL)
        *size_told = value_size;
    if (target == NULL)
        return CL_SUCCESS;
    if (room < value_size)
        return CL_INVALID_VALUE;
    memcpy(target, value, value_size);
    return CL_SUCCESS;
}

/* Those that are held from outside: the real driver's own do not count. */
static cl_int give_references(const void *handle, size_t room, void *value, size_t *size) {
    cl_uint count = (cl_uint)atomic_load(&((const test_wrapped *)handle)->references);
    return give_bytes(&count, sizeof count, room, value, size);
}

static double now_ms(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/* ---- platform and device ---- */

static cl_int CL_API_CALL wrap_clGetPlatformIDs(cl_uint room, cl_platform_id *ids, cl_uint *count) {
    ENTER(clGetPlatformIDs);
    if (test_driver_settings.platforms == 0 || platform == NULL)
        return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
    if (count != NULL)
        *count = 1;
    if (ids != NULL && room > 0)
        ids[0] = (cl_platform_id)(void *)platform;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL wrap_clGetPlatformInfo(cl_platform_id id, cl_platform_info property, size_t room, void *value,
                                                 size_t *size) {
    ENTER(clGetPlatformInfo);
    const char *text = property == CL_PLATFORM_NAME             ? "portmm's test driver"
                       : property == CL_PLATFORM_VENDOR         ? "portmm"
                       : property == CL_PLATFORM_EXTENSIONS     ? "cl_khr_icd"
                       : property == CL_PLATFORM_ICD_SUFFIX_KHR ? "PMMTEST"
                                                                : NULL;
    return text != NULL ? give_bytes(text, strlen(text) + 1, room, value, size)
                        : real->clGetPlatformInfo(test_real(id), property, room, value, size);
}

static cl_int CL_API_CALL wrap_clGetDeviceIDs(cl_platform_id id, cl_device_type type, cl_uint room, cl_device_id *ids,
                                              cl_uint *count) {
    ENTER(clGetDeviceIDs);
    (void)id, (void)type;
    if (test_driver_settings.devices == 0)
        return CL_DEVICE_NOT_FOUND;
    if (count != NULL)
        *count = 1;
    if (ids != NULL && room > 0)
        ids[0] = (cl_device_id)(void *)device;
    return CL_SUCCESS;
}

/* A property the device lies about; false: the real one's. */
static bool pose(cl_device_info property, char text[TEST_TEXT], cl_ulong *number, size_t *size) {
    const test_settings *set = &test_driver_settings;
    const struct {
        cl_device_info property;
        size_t size;
        long value;
    } numbers[] = {{CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong), set->local},
                   {CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t), set->group},
                   {CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong), set->alloc},
                   {CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(cl_bool), set->unified},
                   {CL_DEVICE_AVAILABLE, sizeof(cl_bool), set->available},
                   {CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool), set->compiler},
                   {CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config), set->fp64},
                   {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof(cl_uint), set->fp64},
                   {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, sizeof(cl_uint), set->fp64}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].property == property && numbers[i].value >= 0) {
            *number = (cl_ulong)numbers[i].value; /* little-endian: the first bytes are the value */
            *size = numbers[i].size;
            return true;
        }
    if (property == CL_DEVICE_TYPE && set->type[0] != '\0') {
        *number = strcmp(set->type, "gpu") == 0 ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU;
        *size = sizeof(cl_device_type);
        return true;
    }
    const char *says = property == CL_DEVICE_NAME      ? set->name
                       : property == CL_DRIVER_VERSION ? set->version
                       : property == CL_DEVICE_VERSION ? set->standard
                                                       : "";
    if (says[0] == '\0')
        return false;
    snprintf(text, TEST_TEXT, property == CL_DEVICE_VERSION ? "OpenCL %.64s test" : "%.200s", says);
    *size = strlen(text) + 1;
    return true;
}

static cl_int tell_extensions(size_t room, void *value, size_t *size) {
    char text[8192] = "";
    cl_int code = real->clGetDeviceInfo(device->real, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL);
    char *at = test_driver_settings.fp64 == 0 ? strstr(text, "cl_khr_fp64") : NULL;
    if (at != NULL)
        memset(at, ' ', strlen("cl_khr_fp64"));
    return code == CL_SUCCESS ? give_bytes(text, strlen(text) + 1, room, value, size) : code;
}

/* A work-group no longer than the largest one in any direction. */
static cl_int tell_item_sizes(size_t room, void *value, size_t *size) {
    cl_int code = real->clGetDeviceInfo(device->real, CL_DEVICE_MAX_WORK_ITEM_SIZES, room, value, size);
    for (size_t i = 0; code == CL_SUCCESS && value != NULL && i < 3 && i < room / sizeof(size_t); i++)
        if (((size_t *)value)[i] > (size_t)test_driver_settings.group)
            ((size_t *)value)[i] = (size_t)test_driver_settings.group;
    return code;
}

static cl_int CL_API_CALL wrap_clGetDeviceInfo(cl_device_id id, cl_device_info property, size_t room, void *value,
                                               size_t *size) {
    ENTER(clGetDeviceInfo);
    (void)id;
    char text[TEST_TEXT] = "";
    cl_ulong number = 0;
    size_t needed = 0;
    if (property == CL_DEVICE_PLATFORM)
        return give_bytes(&platform, sizeof platform, room, value, size);
    if (property == CL_DEVICE_EXTENSIONS)
        return tell_extensions(room, value, size);
    if (property == CL_DEVICE_MAX_WORK_ITEM_SIZES && test_driver_settings.group >= 0)
        return tell_item_sizes(room, value, size);
    if (pose(property, text, &number, &needed))
        return give_bytes(text[0] != '\0' ? (void *)text : &number, needed, room, value, size);
    return real->clGetDeviceInfo(device->real, property, room, value, size);
}

/* ---- contexts, queues, buffers ---- */

static cl_context CL_API_CALL
wrap_clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                     void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *code) {
    ENTER_CREATE(clCreateContext);
    (void)properties, (void)count, (void)devices;
    const cl_context_properties real_properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform->real, 0};
    cl_device_id real_device = device->real;
    cl_int told = CL_SUCCESS;
    void *made = real->clCreateContext(real_properties, 1, &real_device, notify, data, &told);
    return give_object(code, told, made, NULL);
}

static cl_int CL_API_CALL wrap_clGetContextInfo(cl_context context, cl_context_info property, size_t room, void *value,
                                                size_t *size) {
    ENTER(clGetContextInfo);
    if (property == CL_CONTEXT_DEVICES)
        return give_bytes(&device, sizeof device, room, value, size);
    if (property == CL_CONTEXT_REFERENCE_COUNT)
        return give_references(context, room, value, size);
    return real->clGetContextInfo(test_real(context), property, room, value, size);
}

static cl_command_queue CL_API_CALL wrap_clCreateCommandQueue(cl_context context, cl_device_id id,
                                                              cl_command_queue_properties properties, cl_int *code) {
    ENTER_CREATE(clCreateCommandQueue);
    cl_int told = CL_SUCCESS;
    void *made = real->clCreateCommandQueue(test_real(context), test_real(id), properties, &told);
    return give_object(code, told, made, (test_wrapped *)(void *)context);
}

static cl_int CL_API_CALL wrap_clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info property,
                                                     size_t room, void *value, size_t *size) {
    ENTER(clGetCommandQueueInfo);
    const test_wrapped *this = (const void *)queue;
    if (property == CL_QUEUE_CONTEXT)
        return give_bytes(&this->context, sizeof this->context, room, value, size);
    if (property == CL_QUEUE_DEVICE)
        return give_bytes(&this->device, sizeof this->device, room, value, size);
    if (property == CL_QUEUE_REFERENCE_COUNT)
        return give_references(this, room, value, size);
    return real->clGetCommandQueueInfo(this->real, property, room, value, size);
}

static cl_int CL_API_CALL wrap_clFlush(cl_command_queue queue) {
    ENTER(clFlush);
    return real->clFlush(test_real(queue));
}

static cl_int CL_API_CALL wrap_clFinish(cl_command_queue queue) {
    ENTER(clFinish);
    return real->clFinish(test_real(queue));
}

static cl_mem CL_API_CALL wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *memory,
                                              cl_int *code) {
    ENTER_CREATE(clCreateBuffer);
    if (test_driver_settings.alloc >= 0 && size > (size_t)test_driver_settings.alloc)
        return give_code(code, CL_INVALID_BUFFER_SIZE);
    cl_int told = CL_SUCCESS;
    void *made = real->clCreateBuffer(test_real(context), flags, size, memory, &told);
    test_wrapped *buffer = give_object(code, told, made, (test_wrapped *)(void *)context);
    if (buffer != NULL)
        test_note_buffer(buffer);
    return (cl_mem)(void *)buffer;
}

static cl_int CL_API_CALL wrap_clGetMemObjectInfo(cl_mem buffer, cl_mem_info property, size_t room, void *value,
                                                  size_t *size) {
    ENTER(clGetMemObjectInfo);
    const test_wrapped *this = (const void *)buffer;
    if (property == CL_MEM_CONTEXT)
        return give_bytes(&this->context, sizeof this->context, room, value, size);
    if (property == CL_MEM_REFERENCE_COUNT)
        return give_references(this, room, value, size);
    return real->clGetMemObjectInfo(this->real, property, room, value, size);
}

/* ---- references ---- */

/* A release that has to fail has released: nobody asks twice. */
#define REFERENCES(name, type)                                                                                         \
    static cl_int CL_API_CALL wrap_clRetain##name(type object) {                                                       \
        ENTER(clRetain##name);                                                                                         \
        atomic_fetch_add(&((test_wrapped *)(void *)object)->references, 1);                                            \
        return CL_SUCCESS;                                                                                             \
    }                                                                                                                  \
    static cl_int CL_API_CALL wrap_clRelease##name(type object) {                                                      \
        cl_int fault = enter(NUMBER_clRelease##name);                                                                  \
        type real_object = test_real(object);                                                                          \
        cl_int code = test_unwrap((test_wrapped *)(void *)object) ? real->clRelease##name(real_object) : CL_SUCCESS;   \
        return fault != CL_SUCCESS ? fault : code;                                                                     \
    }
REFERENCES(Context, cl_context)
REFERENCES(CommandQueue, cl_command_queue)
REFERENCES(Program, cl_program)
REFERENCES(Kernel, cl_kernel)
REFERENCES(Event, cl_event)

static cl_int CL_API_CALL wrap_clRetainMemObject(cl_mem buffer) {
    ENTER(clRetainMemObject);
    atomic_fetch_add(&((test_wrapped *)(void *)buffer)->references, 1);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL wrap_clReleaseMemObject(cl_mem buffer) {
    cl_int fault = enter(NUMBER_clReleaseMemObject);
    if (!test_is_buffer(buffer))
        return CL_INVALID_MEM_OBJECT;
    test_wrapped *this = (test_wrapped *)(void *)buffer;
    cl_mem real_buffer = this->real;
    if (atomic_load(&this->references) == 1)
        test_drop_buffer(this);
    bool is_last = test_unwrap(this);
    cl_int code = is_last && test_driver_settings.keep != 1 ? real->clReleaseMemObject(real_buffer) : CL_SUCCESS;
    return fault != CL_SUCCESS ? fault : code;
}

/* ---- commands ---- */

enum { MOST_WAITS = 256 };

static const cl_event *unwrap_events(cl_uint count, const cl_event *list, cl_event unwrapped[MOST_WAITS]) {
    for (cl_uint i = 0; i < count && i < MOST_WAITS; i++)
        unwrapped[i] = test_real(list[i]);
    return count > 0 ? unwrapped : NULL;
}

static cl_int give_event(cl_int code, cl_event made, cl_event *event) {
    if (code == CL_SUCCESS && event != NULL)
        *event = (cl_event)(void *)test_wrap(made, NULL, NULL);
    return code;
}

/* The body of a command: `call` sees `q`, `w` and `e`. */
#define COMMAND(name, queue, waits, list, event, call)                                                                 \
    ENTER(name);                                                                                                       \
    ENQUEUE(queue, waits, list, event, call)
#define ENQUEUE(queue, waits, list, event, call)                                                                       \
    cl_event unwrapped[MOST_WAITS], made = NULL;                                                                       \
    const cl_event *w = unwrap_events(waits, list, unwrapped);                                                         \
    cl_event *e = (event) != NULL ? &made : NULL;                                                                      \
    cl_command_queue q = test_real(queue);                                                                             \
    cl_int told = call;                                                                                                \
    return give_event(told, made, event)

static cl_int CL_API_CALL wrap_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset,
                                                   size_t size, void *to, cl_uint waits, const cl_event *list,
                                                   cl_event *event) {
    COMMAND(clEnqueueReadBuffer, queue, waits, list, event,
            real->clEnqueueReadBuffer(q, test_real(buffer), blocks, offset, size, to, waits, w, e));
}

static cl_int CL_API_CALL wrap_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                                    size_t offset, size_t size, const void *from, cl_uint waits,
                                                    const cl_event *list, cl_event *event) {
    COMMAND(clEnqueueWriteBuffer, queue, waits, list, event,
            real->clEnqueueWriteBuffer(q, test_real(buffer), blocks, offset, size, from, waits, w, e));
}

static cl_int CL_API_CALL wrap_clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                                       const size_t *origin, const size_t *host_origin,
                                                       const size_t *region, size_t pitch, size_t slice,
                                                       size_t host_pitch, size_t host_slice, void *to, cl_uint waits,
                                                       const cl_event *list, cl_event *event) {
    COMMAND(clEnqueueReadBufferRect, queue, waits, list, event,
            real->clEnqueueReadBufferRect(q, test_real(buffer), blocks, origin, host_origin, region, pitch, slice,
                                          host_pitch, host_slice, to, waits, w, e));
}

static cl_int CL_API_CALL wrap_clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                                        const size_t *origin, const size_t *host_origin,
                                                        const size_t *region, size_t pitch, size_t slice,
                                                        size_t host_pitch, size_t host_slice, const void *from,
                                                        cl_uint waits, const cl_event *list, cl_event *event) {
    COMMAND(clEnqueueWriteBufferRect, queue, waits, list, event,
            real->clEnqueueWriteBufferRect(q, test_real(buffer), blocks, origin, host_origin, region, pitch, slice,
                                           host_pitch, host_slice, from, waits, w, e));
}

static cl_int CL_API_CALL wrap_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                                   size_t to_offset, size_t size, cl_uint waits, const cl_event *list,
                                                   cl_event *event) {
    COMMAND(clEnqueueCopyBuffer, queue, waits, list, event,
            real->clEnqueueCopyBuffer(q, test_real(from), test_real(to), from_offset, to_offset, size, waits, w, e));
}

static cl_int CL_API_CALL wrap_clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event *list,
                                                           cl_event *event) {
    COMMAND(clEnqueueMarkerWithWaitList, queue, waits, list, event, real->clEnqueueMarkerWithWaitList(q, waits, w, e));
}

static cl_int CL_API_CALL wrap_clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event *list,
                                                            cl_event *event) {
    COMMAND(clEnqueueBarrierWithWaitList, queue, waits, list, event,
            real->clEnqueueBarrierWithWaitList(q, waits, w, e));
}

static void *CL_API_CALL wrap_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                                 cl_map_flags flags, size_t offset, size_t size, cl_uint waits,
                                                 const cl_event *list, cl_event *event, cl_int *code) {
    ENTER_CREATE(clEnqueueMapBuffer);
    cl_event unwrapped[MOST_WAITS], made = NULL;
    cl_int told = CL_SUCCESS;
    void *mapped = real->clEnqueueMapBuffer(test_real(queue), test_real(buffer), blocks, flags, offset, size, waits,
                                            unwrap_events(waits, list, unwrapped), event != NULL ? &made : NULL, &told);
    give_code(code, give_event(told, made, event));
    return mapped;
}

static cl_int CL_API_CALL wrap_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void *mapped,
                                                       cl_uint waits, const cl_event *list, cl_event *event) {
    cl_int fault = enter(NUMBER_clEnqueueUnmapMemObject);
    if (fault != CL_SUCCESS) { /* all the same: a buffer that stays mapped is never freed */
        real->clEnqueueUnmapMemObject(test_real(queue), test_real(buffer), mapped, 0, NULL, NULL);
        return fault;
    }
    ENQUEUE(queue, waits, list, event, real->clEnqueueUnmapMemObject(q, test_real(buffer), mapped, waits, w, e));
}

static cl_int CL_API_CALL wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info property, size_t room,
                                                       void *value, size_t *size) {
    ENTER(clGetEventProfilingInfo);
    return real->clGetEventProfilingInfo(test_real(event), property, room, value, size);
}

static cl_int CL_API_CALL wrap_clWaitForEvents(cl_uint count, const cl_event *list) {
    ENTER(clWaitForEvents);
    cl_event unwrapped[MOST_WAITS];
    return real->clWaitForEvents(count, unwrap_events(count, list, unwrapped));
}

static cl_int check_launch(const test_wrapped *kernel, cl_uint dimensions, const size_t *local) {
    cl_ulong needed = 0;
    size_t items = 1;
    for (cl_uint i = 0; local != NULL && i < dimensions; i++)
        items *= local[i];
    if (test_driver_settings.group >= 0 && items > (size_t)test_driver_settings.group)
        return CL_INVALID_WORK_GROUP_SIZE;
    if (test_driver_settings.local >= 0 &&
        real->clGetKernelWorkGroupInfo(kernel->real, device->real, CL_KERNEL_LOCAL_MEM_SIZE, sizeof needed, &needed,
                                       NULL) == CL_SUCCESS &&
        needed > (cl_ulong)test_driver_settings.local)
        return CL_OUT_OF_RESOURCES;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                                      const size_t *offset, const size_t *global, const size_t *local,
                                                      cl_uint waits, const cl_event *list, cl_event *event) {
    cl_int code = check_launch((const void *)kernel, dimensions, local);
    if (code != CL_SUCCESS)
        return code;
    COMMAND(clEnqueueNDRangeKernel, queue, waits, list, event,
            real->clEnqueueNDRangeKernel(q, test_real(kernel), dimensions, offset, global, local, waits, w, e));
}

/* ---- programs ---- */

/* All of a program's text, as the setting `edit` wants it. From malloc. */
static char *edit_source(cl_uint count, const char **texts, const size_t *lengths) {
    char *joined = NULL, *edited = NULL, change[TEST_TEXT];
    size_t size = 0;
    FILE *stream = open_memstream(&joined, &size);
    for (cl_uint i = 0; stream != NULL && i < count; i++)
        fwrite(texts[i], 1, lengths != NULL && lengths[i] > 0 ? lengths[i] : strlen(texts[i]), stream);
    if (stream == NULL || fclose(stream) != 0)
        return NULL;
    strcpy(change, test_driver_settings.edit);
    for (char *at = change; (at = strchr(at, '~')) != NULL;)
        *at = ' ';
    char *new = strchr(change, '|'), *found = NULL;
    if (new != NULL) {
        *new ++ = '\0';
        found = strstr(joined, change);
    }
    if (found == NULL)
        return joined;
    if (asprintf(&edited, "%.*s%s%s", (int)(found - joined), joined, new, found + strlen(change)) < 0)
        edited = NULL;
    free(joined);
    return edited;
}

static cl_program CL_API_CALL wrap_clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                                             const size_t *lengths, cl_int *code) {
    ENTER_CREATE(clCreateProgramWithSource);
    cl_int told = CL_SUCCESS;
    char *source = edit_source(count, texts, lengths);
    if (source == NULL)
        return give_code(code, CL_OUT_OF_HOST_MEMORY);
    void *made = real->clCreateProgramWithSource(test_real(context), 1, (const char *[]){source}, NULL, &told);
    free(source);
    return give_object(code, told, made, (test_wrapped *)(void *)context);
}

enum { HEADER_SIZE = 64 };

static void make_header(unsigned char header[HEADER_SIZE]) {
    memset(header, 0, HEADER_SIZE);
    snprintf((char *)header, HEADER_SIZE, "test driver %.40s", test_driver_settings.version);
}

static cl_program CL_API_CALL wrap_clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                             const cl_device_id *devices, const size_t *sizes,
                                                             const unsigned char **binaries, cl_int *states,
                                                             cl_int *code) {
    ENTER_CREATE(clCreateProgramWithBinary);
    unsigned char header[HEADER_SIZE];
    make_header(header);
    if (count != 1 || devices == NULL || sizes[0] <= HEADER_SIZE || memcmp(binaries[0], header, HEADER_SIZE) != 0) {
        give_code(states, CL_INVALID_BINARY);
        return give_code(code, CL_INVALID_BINARY);
    }
    cl_device_id real_device = device->real;
    size_t size = sizes[0] - HEADER_SIZE;
    const unsigned char *binary = binaries[0] + HEADER_SIZE;
    cl_int told = CL_SUCCESS;
    double begin = now_ms();
    void *made = real->clCreateProgramWithBinary(test_real(context), 1, &real_device, &size, &binary, states, &told);
    test_settings_log("load", now_ms() - begin, size);
    return give_object(code, told, made, (test_wrapped *)(void *)context);
}

/* From malloc, with the header. */
static unsigned char *take_binary(const test_wrapped *program, const char *what, size_t *size) {
    size_t real_size = 0;
    double begin = now_ms();
    if (real->clGetProgramInfo(program->real, CL_PROGRAM_BINARY_SIZES, sizeof real_size, &real_size, NULL) !=
            CL_SUCCESS ||
        real_size == 0)
        return NULL;
    unsigned char *taken = malloc(HEADER_SIZE + real_size), *at = taken + HEADER_SIZE;
    make_header(taken);
    *size = HEADER_SIZE + real_size;
    if (real->clGetProgramInfo(program->real, CL_PROGRAM_BINARIES, sizeof at, &at, NULL) != CL_SUCCESS) {
        free(taken);
        return NULL;
    }
    test_settings_log(what, now_ms() - begin, real_size);
    return taken;
}

static cl_int CL_API_CALL wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                                              const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                              void *data) {
    ENTER(clBuildProgram);
    (void)count, (void)devices, (void)notify, (void)data; /* nobody here builds behind the caller's back */
    if (test_driver_settings.fp64 == 0 && options != NULL && strstr(options, "double") != NULL)
        return CL_BUILD_PROGRAM_FAILURE;
    test_wrapped *this = (test_wrapped *)(void *)program;
    cl_device_id real_device = device->real;
    double begin = now_ms();
    cl_int code = real->clBuildProgram(this->real, 1, &real_device, options, NULL, NULL);
    test_settings_log("build", now_ms() - begin, 0);
    if (code == CL_SUCCESS && strcmp(test_driver_settings.binary, "early") == 0)
        this->early = take_binary(this, "early", &this->early_size);
    return code;
}

static unsigned char *copy_bytes(const void *bytes, size_t size) {
    unsigned char *copy = malloc(size);
    return copy != NULL ? memcpy(copy, bytes, size) : NULL;
}

/* From malloc; NULL: none. */
static unsigned char *choose_binary(const test_wrapped *program, size_t *size) {
    static const char garbage[HEADER_SIZE + 36] = "no binary of any driver";
    const char *which = test_driver_settings.binary;
    *size = 0;
    if (strcmp(which, "empty") == 0)
        return NULL;
    if (strcmp(which, "garbage") == 0)
        return copy_bytes(garbage, *size = sizeof garbage);
    if (strcmp(which, "early") == 0 && program->early != NULL)
        return copy_bytes(program->early, *size = program->early_size);
    return take_binary(program, "late", size);
}

static cl_int CL_API_CALL wrap_clGetProgramInfo(cl_program program, cl_program_info property, size_t room, void *value,
                                                size_t *size) {
    ENTER(clGetProgramInfo);
    const test_wrapped *this = (const void *)program;
    if (property != CL_PROGRAM_BINARY_SIZES && property != CL_PROGRAM_BINARIES)
        return real->clGetProgramInfo(this->real, property, room, value, size);
    size_t binary_size = 0;
    unsigned char *binary = choose_binary(this, &binary_size);
    cl_int code = CL_SUCCESS;
    if (property == CL_PROGRAM_BINARY_SIZES)
        code = give_bytes(&binary_size, sizeof binary_size, room, value, size);
    else if (value != NULL && binary != NULL)
        memcpy(*(unsigned char **)value, binary, binary_size);
    if (property == CL_PROGRAM_BINARIES && size != NULL)
        *size = sizeof(unsigned char *);
    free(binary);
    return code;
}

static cl_int CL_API_CALL wrap_clGetProgramBuildInfo(cl_program program, cl_device_id id,
                                                     cl_program_build_info property, size_t room, void *value,
                                                     size_t *size) {
    ENTER(clGetProgramBuildInfo);
    return real->clGetProgramBuildInfo(test_real(program), test_real(id), property, room, value, size);
}

static cl_kernel CL_API_CALL wrap_clCreateKernel(cl_program program, const char *name, cl_int *code) {
    ENTER_CREATE(clCreateKernel);
    cl_int told = CL_SUCCESS;
    void *made = real->clCreateKernel(test_real(program), name, &told);
    return give_object(code, told, made, ((test_wrapped *)(void *)program)->context);
}

static cl_int CL_API_CALL wrap_clSetKernelArg(cl_kernel kernel, cl_uint number, size_t size, const void *value) {
    ENTER(clSetKernelArg);
    void *handle = NULL;
    if (value != NULL && size == sizeof handle)
        memcpy(&handle, value, size);
    if (handle != NULL && test_is_buffer(handle)) {
        handle = test_real(handle);
        value = &handle;
    }
    return real->clSetKernelArg(test_real(kernel), number, size, value);
}

static cl_int CL_API_CALL wrap_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id id,
                                                        cl_kernel_work_group_info property, size_t room, void *value,
                                                        size_t *size) {
    ENTER(clGetKernelWorkGroupInfo);
    cl_int code = real->clGetKernelWorkGroupInfo(test_real(kernel), test_real(id), property, room, value, size);
    if (code == CL_SUCCESS && property == CL_KERNEL_WORK_GROUP_SIZE && value != NULL &&
        test_driver_settings.group >= 0 && *(size_t *)value > (size_t)test_driver_settings.group)
        *(size_t *)value = (size_t)test_driver_settings.group;
    return code;
}

/* ---- the driver as a whole ---- */

/* Says what a test or CLBlast has begun to use. */
static cl_int CL_API_CALL wrap_nothing(void) {
    fprintf(stderr, "test driver: an OpenCL function was called that it does not wrap\n");
    abort();
}

/* Slots that are not wrapped abort. Under cl_khr_icd 2.0 a tag in two of them tells the loader to dispatch itself. */
static void fill_dispatch(void) {
    cl_int(CL_API_CALL * refusal)(void) = wrap_nothing;
    for (size_t at = 0; at < sizeof test_dispatch; at += sizeof refusal)
        memcpy((char *)&test_dispatch + at, &refusal, sizeof refusal);
#define FILL(name) test_dispatch.name = wrap_##name;
    FUNCTIONS(FILL)
#undef FILL
    const intptr_t tag = sizeof tag == 4 ? 0x434c3331 : (intptr_t)0x4f50454e434c3331;
    if (test_driver_settings.icd == 2) {
        memcpy(&test_dispatch.clGetPlatformIDs, &tag, sizeof tag);
        memcpy(&test_dispatch.clUnloadCompiler, &tag, sizeof tag);
    }
}

typedef void *(CL_API_CALL *find_function)(const char *name);

static void *find_in(void *library, const char *name) {
    find_function find = NULL;
    void *symbol = dlsym(library, "clGetExtensionFunctionAddress");
    memcpy(&find, &symbol, sizeof symbol);
    return find != NULL ? find(name) : NULL;
}

/* The first device of the first platform. */
static bool open_real(const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? find_in(library, "clIcdGetPlatformIDsKHR") : NULL;
    clIcdGetPlatformIDsKHR_fn get_platforms = NULL;
    memcpy(&get_platforms, &symbol, sizeof symbol);
    cl_platform_id real_platform = NULL;
    cl_device_id real_device = NULL;
    if (get_platforms == NULL || get_platforms(1, &real_platform, NULL) != CL_SUCCESS || real_platform == NULL)
        return false;
    memcpy(&real, real_platform, sizeof real); /* how every driver's object begins */
    if (real->clGetDeviceIDs(real_platform, CL_DEVICE_TYPE_ALL, 1, &real_device, NULL) != CL_SUCCESS)
        return false;
    platform = test_wrap(real_platform, NULL, NULL);
    device = test_wrap(real_device, NULL, NULL);
    return true;
}

static void open_driver(void) {
    test_settings_load();
    fill_dispatch();
    if (!open_real(test_driver_settings.real))
        fprintf(stderr, "test driver: %s is no driver with a device\n", test_driver_settings.real);
}

/* ---- what a loader looks for ---- */

VISIBLE CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *ids, cl_uint *count) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_driver);
    return wrap_clGetPlatformIDs(room, ids, count);
}

static void *CL_API_CALL find_for_platform(cl_platform_id id, const char *name) {
    (void)id;
#define OFFSET(function) {#function, offsetof(cl_icd_dispatch, function)},
    static const struct {
        const char *name;
        size_t at;
    } slots[] = {FUNCTIONS(OFFSET)};
#undef OFFSET
    void *found = NULL;
    for (size_t i = 1; i < sizeof slots / sizeof *slots; i++) /* the first one's slot may hold a tag */
        if (strcmp(slots[i].name, name) == 0)
            memcpy(&found, (char *)&test_dispatch + slots[i].at, sizeof found);
    return found;
}

static cl_int CL_API_CALL set_loader_data(cl_platform_id id, void *data) {
    ((test_wrapped *)(void *)id)->loader_data = test_loader_data = device->loader_data = data;
    return CL_SUCCESS;
}

VISIBLE CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name) {
    void *found = NULL;
    test_settings_load();
    if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
        memcpy(&found, &(clIcdGetPlatformIDsKHR_fn){clIcdGetPlatformIDsKHR}, sizeof found);
    else if (strcmp(name, "clIcdGetFunctionAddressForPlatformKHR") == 0 && test_driver_settings.icd == 2)
        memcpy(&found, &(void *(CL_API_CALL *)(cl_platform_id, const char *)){find_for_platform}, sizeof found);
    else if (strcmp(name, "clIcdSetPlatformDispatchDataKHR") == 0 && test_driver_settings.icd == 2)
        memcpy(&found, &(cl_int(CL_API_CALL *)(cl_platform_id, void *)){set_loader_data}, sizeof found);
    else if (platform != NULL)
        found = find_for_platform(NULL, name);
    return found;
}

VISIBLE CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id id, cl_platform_info property, size_t room,
                                                          void *value, size_t *size) {
    return wrap_clGetPlatformInfo(id, property, room, value, size);
}
