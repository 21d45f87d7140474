/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA backend's own structures, and how a call gets at the driver. */
#ifndef PMM_CUDA_STATE_H
#define PMM_CUDA_STATE_H

#include <stdatomic.h>

#include "cuda_api.h"

/* One device as found. */
typedef struct pmm_cuda_found {
    CUdevice id;
    int capability; /* 90: compute capability 9.0 */
    char name[128];
    portmm_device_info info;
} pmm_cuda_found;

struct pmm_backend_state {
    const pmm_host *host;
    pmm_cuda_api api;
    char driver_version[96];
    int cuda_version; /* 13000: the driver serves programs of CUDA 13.0 */
    pmm_cuda_found *devices;
    size_t count;
};

/* A device and a reference to its primary context, which is the one that the application's other CUDA libraries use,
 * too. */
struct pmm_device {
    const pmm_host *host;
    const pmm_cuda_api *api;
    const pmm_backend_state *state;
    const pmm_cuda_found *found;
    CUcontext context;
    bool context_is_borrowed;
    CUevent epoch;   /* what the times of events are counted from; NULL: no queue is timed yet */
    atomic_int lost; /* the CUresult that told so; 0: it is not */
};

struct pmm_queue {
    pmm_device *device;
    CUstream stream;
    bool stream_is_borrowed;
    bool timed;
    struct pmm_cublas_handle *handle; /* of engine cublas, while this queue uses it; NULL: none yet */
};

struct pmm_buffer {
    pmm_device *device;
    CUdeviceptr address;
    bool memory_is_borrowed;
};

struct pmm_event {
    pmm_device *device;
    CUevent event;
    CUevent begin; /* NULL: it is not timed */
};

/* ---- calls; cuda_call.c ---- */

/* Makes the device's context the thread's current one; the caller's comes back with pmm_cuda_leave. DEVICE_LOST: was
 * told before, and the driver is not asked again. */
portmm_status pmm_cuda_enter(pmm_device *device);
void pmm_cuda_leave(const pmm_device *device);

/* The status of a driver's code, with its text; SUCCESS for CUDA_SUCCESS. `call` is static text. */
portmm_status pmm_cuda_check(pmm_device *device, const char *call, CUresult code);
/* The same where earlier commands may be what has failed: they did change something, so that it is never
 * OUT_OF_MEMORY. */
portmm_status pmm_cuda_check_late(pmm_device *device, const char *call, CUresult code);
/* The same before there is a device. */
portmm_status pmm_cuda_fail(const pmm_host *host, const pmm_cuda_api *api, const char *call, CUresult code);

/* ---- devices; device.c ---- */

portmm_status pmm_cuda_find_devices(pmm_backend_state *state);
portmm_status pmm_cuda_device_open(pmm_backend_state *state, size_t index, pmm_device **device);
void pmm_cuda_device_close(pmm_device *device);
void pmm_cuda_describe(const pmm_backend_state *state, int32_t index, pmm_properties *properties);

/* ---- queues, buffers, events; memory.c ---- */

portmm_status pmm_cuda_queue_create(pmm_device *device, pmm_queue **queue);
portmm_status pmm_cuda_queue_create_timed(pmm_device *device, pmm_queue **queue);
portmm_status pmm_cuda_queue_finish(pmm_queue *queue);
portmm_status pmm_cuda_queue_barrier(pmm_queue *queue, size_t wait_count, pmm_event *const *wait_list,
                                     pmm_event **event);
void pmm_cuda_queue_destroy(pmm_queue *queue);
portmm_status pmm_cuda_buffer_create(pmm_device *device, size_t size, pmm_buffer **buffer);
portmm_status pmm_cuda_buffer_wrap(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer);
void pmm_cuda_buffer_destroy(pmm_buffer *buffer);
portmm_status pmm_cuda_buffer_write(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy, const void *source);
portmm_status pmm_cuda_buffer_read(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy, void *destination);
portmm_status pmm_cuda_event_wait(pmm_event *event);
portmm_status pmm_cuda_event_times(pmm_event *event, uint64_t *begin_ns, uint64_t *end_ns);
void pmm_cuda_event_destroy(pmm_event *event);

/* Optional slots of backend.h. */
portmm_status pmm_cuda_buffer_write_start(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy,
                                          const void *source, size_t wait_count, pmm_event *const *wait_list,
                                          pmm_event **event);
portmm_status pmm_cuda_buffer_read_start(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy,
                                         void *destination, size_t wait_count, pmm_event *const *wait_list,
                                         pmm_event **event);

/* A command of a queue: what it does between the wait list and the event; with the context current. */
typedef portmm_status pmm_cuda_command(pmm_queue *queue, void *what);
portmm_status pmm_cuda_enqueue(pmm_queue *queue, size_t wait_count, pmm_event *const *wait_list, pmm_event **event,
                               pmm_cuda_command *command, void *what);

/* ---- objects of the application's own; borrow.c ---- */

portmm_status pmm_cuda_device_borrow(pmm_backend_state *state, size_t index, void *native, pmm_device **device);
portmm_status pmm_cuda_queue_borrow(pmm_device *device, void *native, pmm_queue **queue);
portmm_status pmm_cuda_buffer_borrow(pmm_device *device, void *native, size_t *size, pmm_buffer **buffer);
portmm_status pmm_cuda_event_native(pmm_event *event, void **native);

/* ---- engines ---- */

/* Where the matrices of a product of a batch begin, in elements. */
typedef struct pmm_cuda_place {
    int64_t a, b, c;
} pmm_cuda_place;
pmm_cuda_place pmm_cuda_place_in_batch(const pmm_gemm *gemm, int64_t number);
/* A batch whose products are not at strides. */
bool pmm_cuda_has_lists(const pmm_gemm *gemm);

extern const pmm_engine pmm_cuda_starter;
extern const pmm_engine pmm_cuda_cublas;
/* The queue is about to go; its work is complete. */
void pmm_cuda_cublas_leave_queue(pmm_queue *queue);

/* pmm_engine.gemm by way of `launch`. */
typedef portmm_status pmm_cuda_launch(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm);
portmm_status pmm_cuda_engine_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                                   pmm_event *const *wait_list, pmm_event **event, pmm_cuda_launch *launch);

/* Both engines compile nothing behind the caller's back. */
bool pmm_cuda_never_wants_capture(pmm_engine_state *engine);
void pmm_cuda_capture_nothing(pmm_engine_state *engine);

#endif
