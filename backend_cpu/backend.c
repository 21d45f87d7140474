/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#include <stdlib.h>
#include <string.h>

pmm_event pmm_cpu_complete;

static portmm_status open_backend(const pmm_host *host, pmm_backend_state **state) {
    pmm_backend_state *made = calloc(1, sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cpu: no memory");
    made->host = host;
    host->machine(host, &made->machine);
    *state = made;
    return PORTMM_STATUS_SUCCESS;
}

static void close_backend(pmm_backend_state *state) {
    free(state);
}

static size_t count_devices(const pmm_backend_state *state) {
    (void)state;
    return 1;
}

static void tell_device(const pmm_backend_state *state, size_t index, portmm_device_info *info) {
    (void)index;
    *info = (portmm_device_info){.struct_size = sizeof *info,
                                 .backend = "cpu",
                                 .index = 0,
                                 .name = state->machine.cpu_name[0] != '\0' ? state->machine.cpu_name : "this CPU",
                                 .vendor = "",
                                 .platform_name = "",
                                 .platform_version = "",
                                 .driver_version = "",
                                 .type = PORTMM_DEVICE_CPU,
                                 .compute_units = state->machine.cores,
                                 .memory_size = state->machine.memory_size,
                                 .max_allocation = 0,
                                 .has_f64 = 1,
                                 .has_f16 = 0,
                                 .engines = pmm_cpu_openblas.name,
                                 .unavailable_reason = ""};
}

static void describe(const pmm_backend_state *state, int32_t index, pmm_properties *properties) {
    if (index < 0)
        pmm_cpu_describe_openblas(state->host, properties);
}

static portmm_status open_device(pmm_backend_state *state, size_t index, pmm_device **device) {
    (void)index;
    pmm_device *made = malloc(sizeof *made);
    if (made == NULL)
        return state->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cpu: no memory");
    made->host = state->host;
    *device = made;
    return PORTMM_STATUS_SUCCESS;
}

static void close_device(pmm_device *device) {
    free(device);
}

static portmm_status create_queue(pmm_device *device, pmm_queue **queue) {
    pmm_queue *made = malloc(sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cpu: no memory for a queue");
    made->host = device->host;
    *queue = made;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status finish_queue(pmm_queue *queue) {
    (void)queue;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status put_barrier(pmm_queue *queue, size_t wait_count, pmm_event *const *wait_list, pmm_event **event) {
    (void)queue, (void)wait_count, (void)wait_list;
    if (event != NULL)
        *event = &pmm_cpu_complete;
    return PORTMM_STATUS_SUCCESS;
}

static void destroy_queue(pmm_queue *queue) {
    free(queue);
}

static portmm_status make_buffer(pmm_device *device, void *memory, bool owned, pmm_buffer **buffer) {
    pmm_buffer *made = memory != NULL ? malloc(sizeof *made) : NULL;
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cpu: no memory for a buffer");
    *made = (pmm_buffer){.memory = memory, .owned = owned};
    *buffer = made;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status create_buffer(pmm_device *device, size_t size, pmm_buffer **buffer) {
    const size_t alignment = 64; /* a cache line, and the widest vector */
    void *memory = size <= PTRDIFF_MAX - alignment
                       ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                       : NULL;
    portmm_status status = make_buffer(device, memory, true, buffer);
    if (status != PORTMM_STATUS_SUCCESS)
        free(memory);
    return status;
}

static portmm_status wrap_buffer(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer) {
    (void)size;
    return make_buffer(device, memory, false, buffer);
}

static void destroy_buffer(pmm_buffer *buffer) {
    if (buffer->owned)
        free(buffer->memory);
    free(buffer);
}

static portmm_status write_buffer(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy, const void *source) {
    (void)queue;
    for (size_t row = 0; row < copy->height; row++)
        memcpy(buffer->memory + copy->offset + row * copy->pitch,
               (const unsigned char *)source + row * copy->host_pitch, copy->width);
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status read_buffer(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy, void *destination) {
    (void)queue;
    for (size_t row = 0; row < copy->height; row++)
        memcpy((unsigned char *)destination + row * copy->host_pitch, buffer->memory + copy->offset + row * copy->pitch,
               copy->width);
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status map_buffer(pmm_queue *queue, pmm_buffer *buffer, size_t size, void **memory) {
    (void)queue, (void)size;
    *memory = buffer->memory;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status unmap_buffer(pmm_queue *queue, pmm_buffer *buffer, void *memory) {
    (void)queue, (void)buffer, (void)memory;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status wait_event(pmm_event *event) {
    (void)event;
    return PORTMM_STATUS_SUCCESS;
}

static void destroy_event(pmm_event *event) {
    (void)event;
}

static const pmm_engine *const engines[] = {&pmm_cpu_openblas, NULL};

static const pmm_backend backend = {
    .abi = PMM_BACKEND_ABI,
    .struct_size = sizeof(pmm_backend),
    .name = "cpu",
    .open = open_backend,
    .close = close_backend,
    .device_count = count_devices,
    .device_info = tell_device,
    .device_open = open_device,
    .device_close = close_device,
    .queue_create = create_queue,
    .queue_finish = finish_queue,
    .queue_barrier = put_barrier,
    .queue_destroy = destroy_queue,
    .buffer_create = create_buffer,
    .buffer_wrap = wrap_buffer,
    .buffer_destroy = destroy_buffer,
    .buffer_write = write_buffer,
    .buffer_read = read_buffer,
    .event_wait = wait_event,
    .event_destroy = destroy_event,
    .engines = engines,
    .describe = describe,
    .buffer_map = map_buffer,
    .buffer_unmap = unmap_buffer,
    .is_immediate = true,
    .survives_fork = true,
};

const pmm_backend *pmm_backend_entry(void) {
    return &backend;
}
