/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL layer (named in OPENCL_LAYERS) that counts the references a program holds to OpenCL's objects. */
#define CL_TARGET_OPENCL_VERSION 300
#include <stdatomic.h>

#include "count_objects.h"

#include <CL/cl_layer.h>

static const cl_icd_dispatch *target;
static cl_icd_dispatch ours;
static atomic_long counts[TEST_OBJECT_KINDS];

__attribute__((visibility("default"))) long test_count_objects(int kind) {
    return atomic_load(&counts[kind]);
}

static void count(int kind, int made) {
    if (made)
        atomic_fetch_add(&counts[kind], 1);
}

/* ---- creation ---- */

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count_of_devices,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                             void *user_data, cl_int *code) {
    cl_context made = target->clCreateContext(properties, count_of_devices, devices, notify, user_data, code);
    count(TEST_CONTEXTS, made != NULL);
    return made;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties, cl_int *code) {
    cl_command_queue made = target->clCreateCommandQueue(context, device, properties, code);
    count(TEST_QUEUES, made != NULL);
    return made;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *memory,
                                        cl_int *code) {
    cl_mem made = target->clCreateBuffer(context, flags, size, memory, code);
    count(TEST_BUFFERS, made != NULL);
    return made;
}

static cl_program CL_API_CALL create_from_source(cl_context context, cl_uint parts, const char **texts,
                                                 const size_t *lengths, cl_int *code) {
    cl_program made = target->clCreateProgramWithSource(context, parts, texts, lengths, code);
    count(TEST_PROGRAMS, made != NULL);
    return made;
}

static cl_program CL_API_CALL create_from_binary(cl_context context, cl_uint devices, const cl_device_id *list,
                                                 const size_t *sizes, const unsigned char **binaries, cl_int *states,
                                                 cl_int *code) {
    cl_program made = target->clCreateProgramWithBinary(context, devices, list, sizes, binaries, states, code);
    count(TEST_PROGRAMS, made != NULL);
    return made;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *code) {
    cl_kernel made = target->clCreateKernel(program, name, code);
    count(TEST_KERNELS, made != NULL);
    return made;
}

/* ---- commands, which make events ---- */

static cl_int count_event(cl_int code, const cl_event *event) {
    count(TEST_EVENTS, code == CL_SUCCESS && event != NULL);
    return code;
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t *offset, const size_t *global, const size_t *local, cl_uint waits,
                                         const cl_event *list, cl_event *event) {
    return count_event(
        target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, list, event), event);
}

static cl_int CL_API_CALL enqueue_barrier(cl_command_queue queue, cl_uint waits, const cl_event *list,
                                          cl_event *event) {
    return count_event(target->clEnqueueBarrierWithWaitList(queue, waits, list, event), event);
}

static cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_uint waits, const cl_event *list, cl_event *event) {
    return count_event(target->clEnqueueMarkerWithWaitList(queue, waits, list, event), event);
}

static cl_int CL_API_CALL enqueue_read(cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset,
                                       size_t size, void *to, cl_uint waits, const cl_event *list, cl_event *event) {
    return count_event(target->clEnqueueReadBuffer(queue, buffer, blocks, offset, size, to, waits, list, event), event);
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset,
                                        size_t size, const void *from, cl_uint waits, const cl_event *list,
                                        cl_event *event) {
    return count_event(target->clEnqueueWriteBuffer(queue, buffer, blocks, offset, size, from, waits, list, event),
                       event);
}

static cl_int CL_API_CALL enqueue_read_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocks, const size_t *origin,
                                            const size_t *host_origin, const size_t *region, size_t pitch, size_t slice,
                                            size_t host_pitch, size_t host_slice, void *to, cl_uint waits,
                                            const cl_event *list, cl_event *event) {
    return count_event(target->clEnqueueReadBufferRect(queue, buffer, blocks, origin, host_origin, region, pitch, slice,
                                                       host_pitch, host_slice, to, waits, list, event),
                       event);
}

static cl_int CL_API_CALL enqueue_write_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                             const size_t *origin, const size_t *host_origin, const size_t *region,
                                             size_t pitch, size_t slice, size_t host_pitch, size_t host_slice,
                                             const void *from, cl_uint waits, const cl_event *list, cl_event *event) {
    return count_event(target->clEnqueueWriteBufferRect(queue, buffer, blocks, origin, host_origin, region, pitch,
                                                        slice, host_pitch, host_slice, from, waits, list, event),
                       event);
}

/* ---- references ---- */

#define COUNT_REFERENCES(name, type, kind)                                                                             \
    static cl_int CL_API_CALL retain_##name(type object) {                                                             \
        cl_int code = target->clRetain##name(object);                                                                  \
        count(kind, code == CL_SUCCESS);                                                                               \
        return code;                                                                                                   \
    }                                                                                                                  \
    static cl_int CL_API_CALL release_##name(type object) {                                                            \
        atomic_fetch_sub(&counts[kind], 1); /* also where it fails: nobody asks twice */                               \
        return target->clRelease##name(object);                                                                        \
    }
COUNT_REFERENCES(Context, cl_context, TEST_CONTEXTS)
COUNT_REFERENCES(CommandQueue, cl_command_queue, TEST_QUEUES)
COUNT_REFERENCES(MemObject, cl_mem, TEST_BUFFERS)
COUNT_REFERENCES(Program, cl_program, TEST_PROGRAMS)
COUNT_REFERENCES(Kernel, cl_kernel, TEST_KERNELS)
COUNT_REFERENCES(Event, cl_event, TEST_EVENTS)

/* ---- the layer ---- */

CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entries, const cl_icd_dispatch *dispatch,
                                                          cl_uint *our_entries, const cl_icd_dispatch **our_dispatch,
                                                          const cl_properties *properties);

CL_API_ENTRY __attribute__((visibility("default"))) cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size,
                                                                                      void *value,
                                                                                      size_t *size_needed) {
    if (name != CL_LAYER_API_VERSION || (value != NULL && size < sizeof(cl_layer_api_version)))
        return CL_INVALID_VALUE;
    if (value != NULL)
        *(cl_layer_api_version *)value = CL_LAYER_API_VERSION_100;
    if (size_needed != NULL)
        *size_needed = sizeof(cl_layer_api_version);
    return CL_SUCCESS;
}

CL_API_ENTRY __attribute__((visibility("default"))) cl_int CL_API_CALL clInitLayer(
    cl_uint entries, const cl_icd_dispatch *dispatch, cl_uint *our_entries, const cl_icd_dispatch **our_dispatch) {
    if (entries < sizeof ours / sizeof(void *) || our_entries == NULL || our_dispatch == NULL)
        return CL_INVALID_VALUE;
    target = dispatch;
    ours = *dispatch;
    ours.clCreateContext = create_context;
    ours.clCreateCommandQueue = create_queue;
    ours.clCreateBuffer = create_buffer;
    ours.clCreateProgramWithSource = create_from_source;
    ours.clCreateProgramWithBinary = create_from_binary;
    ours.clCreateKernel = create_kernel;
    ours.clEnqueueNDRangeKernel = enqueue_kernel;
    ours.clEnqueueBarrierWithWaitList = enqueue_barrier;
    ours.clEnqueueMarkerWithWaitList = enqueue_marker;
    ours.clEnqueueReadBuffer = enqueue_read;
    ours.clEnqueueWriteBuffer = enqueue_write;
    ours.clEnqueueReadBufferRect = enqueue_read_rect;
    ours.clEnqueueWriteBufferRect = enqueue_write_rect;
#define SET_REFERENCES(name)                                                                                           \
    ours.clRetain##name = retain_##name;                                                                               \
    ours.clRelease##name = release_##name;
    SET_REFERENCES(Context)
    SET_REFERENCES(CommandQueue)
    SET_REFERENCES(MemObject)
    SET_REFERENCES(Program)
    SET_REFERENCES(Kernel)
    SET_REFERENCES(Event)
    *our_entries = sizeof ours / sizeof(void *);
    *our_dispatch = &ours;
    return CL_SUCCESS;
}

/* The name that loaders since 2026 look for. */
CL_API_ENTRY __attribute__((visibility("default"))) cl_int CL_API_CALL
clInitLayerWithProperties(cl_uint entries, const cl_icd_dispatch *dispatch, cl_uint *our_entries,
                          const cl_icd_dispatch **our_dispatch, const cl_properties *properties) {
    (void)properties;
    return clInitLayer(entries, dispatch, our_entries, our_dispatch);
}
