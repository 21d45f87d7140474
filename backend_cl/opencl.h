/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL backend's own structures. */
#ifndef PMM_OPENCL_H
#define PMM_OPENCL_H

#include "quirks.h"

/* One device as found. Strings are from malloc. */
typedef struct pmm_cl_found {
    cl_platform_id platform;
    cl_device_id id;
    pmm_cl_match match;
    unsigned quirks;
    portmm_device_info info;
} pmm_cl_found;

struct pmm_backend_state {
    const pmm_host *host;
    pmm_cl_api api;
    pmm_cl_found *devices;
    size_t count;
};

/* A driver context, shared by all our contexts on one device in this process: a second one costs nothing and finds the
 * programs compiled. */
typedef struct pmm_cl_shared pmm_cl_shared;

struct pmm_device {
    const pmm_host *host;
    const pmm_cl_api *api;
    const pmm_cl_found *found;
    cl_context context;
    pmm_cl_shared *shared;
};

struct pmm_queue {
    const pmm_device *device;
    cl_command_queue queue;
    bool timed;
};

struct pmm_buffer {
    const pmm_device *device;
    cl_mem memory;
    cl_mem_flags flags; /* of a borrowed one; else 0 */
};

struct pmm_event {
    const pmm_device *device;
    cl_event event;
    bool timed;
};

/* device.c */
/* Texts from malloc; a property that cannot be read is empty. NULL: no memory. */
char *pmm_cl_platform_text(const pmm_cl_api *api, cl_platform_id platform, cl_platform_info property);
char *pmm_cl_device_text(const pmm_cl_api *api, cl_device_id device, cl_device_info property);
portmm_status pmm_cl_find_devices(pmm_backend_state *state);
void pmm_cl_free_devices(pmm_backend_state *state);
portmm_status pmm_cl_device_open(pmm_backend_state *state, size_t index, pmm_device **device);
portmm_status pmm_cl_device_borrow(pmm_backend_state *state, size_t index, void *native, pmm_device **device);
void pmm_cl_device_close(pmm_device *device);

/* borrow.c */
portmm_status pmm_cl_queue_borrow(pmm_device *device, void *native, pmm_queue **queue);
portmm_status pmm_cl_buffer_borrow(pmm_device *device, void *native, size_t *size, pmm_buffer **buffer);
portmm_status pmm_cl_event_native(pmm_event *event, void **native);

/* transfer.c */
portmm_status pmm_cl_buffer_write_start(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy, const void *source,
                                        size_t wait_count, pmm_event *const *wait_list, pmm_event **event);
portmm_status pmm_cl_buffer_read_start(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy,
                                       void *destination, size_t wait_count, pmm_event *const *wait_list,
                                       pmm_event **event);
portmm_status pmm_cl_buffer_share(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer);
portmm_status pmm_cl_buffer_map(pmm_queue *queue, pmm_buffer *buffer, size_t size, void **memory);
portmm_status pmm_cl_buffer_unmap(pmm_queue *queue, pmm_buffer *buffer, void *memory);

/* properties.c */
void pmm_cl_describe(const pmm_backend_state *state, int32_t index, pmm_properties *properties);

/* memory.c */
portmm_status pmm_cl_queue_create(pmm_device *device, pmm_queue **queue);
portmm_status pmm_cl_queue_create_timed(pmm_device *device, pmm_queue **queue);
portmm_status pmm_cl_queue_finish(pmm_queue *queue);
portmm_status pmm_cl_queue_barrier(pmm_queue *queue, size_t wait_count, pmm_event *const *wait_list, pmm_event **event);
void pmm_cl_queue_destroy(pmm_queue *queue);
portmm_status pmm_cl_buffer_create(pmm_device *device, size_t size, pmm_buffer **buffer);
portmm_status pmm_cl_buffer_wrap(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer);
void pmm_cl_buffer_destroy(pmm_buffer *buffer);
portmm_status pmm_cl_buffer_write(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy, const void *source);
portmm_status pmm_cl_buffer_read(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy, void *destination);
portmm_status pmm_cl_event_wait(pmm_event *event);
portmm_status pmm_cl_event_times(pmm_event *event, uint64_t *begin_ns, uint64_t *end_ns);
void pmm_cl_event_destroy(pmm_event *event);

/* starter/starter.c */
extern const pmm_engine pmm_cl_starter;
/* Drops the programs of a driver context. To be called with the lock held. */
void pmm_cl_starter_forget(const pmm_cl_api *api, cl_context context);

/* clblast_engine.c */
/* Not f16: CLBlast sums it in f16. */
#define PMM_CL_CLBLAST_DTYPES                                                                                          \
    (PORTMM_DTYPE_BIT(PORTMM_F32) | PORTMM_DTYPE_BIT(PORTMM_F64) | PORTMM_DTYPE_BIT(PORTMM_C32) |                      \
     PORTMM_DTYPE_BIT(PORTMM_C64))
extern const pmm_engine pmm_cl_clblast;
/* Drops all programs that CLBlast keeps in memory, if it is loaded. To be called with the lock held. */
void pmm_cl_clblast_forget(const pmm_host *host);

#endif
