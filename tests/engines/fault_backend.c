/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

PMM_EXPORT fault_control fault;

struct pmm_backend_state {
    const pmm_host *host;
};
struct pmm_device {
    const pmm_host *host;
};
struct pmm_queue {
    const pmm_host *host;
};
struct pmm_buffer {
    unsigned char *bytes;
};
struct pmm_event {
    int unused;
};
struct pmm_engine_state {
    const pmm_host *host;
    int which;
};

static pmm_event done;

static void dawdle(int milliseconds) {
    nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L}, NULL);
}

static portmm_status open_backend(const pmm_host *host, pmm_backend_state **state) {
    *state = malloc(sizeof **state);
    (*state)->host = host;
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
    (void)state, (void)index;
    *info = (portmm_device_info){.struct_size = sizeof *info,
                                 .backend = "cuda",
                                 .name = "a device for tests",
                                 .vendor = "",
                                 .platform_name = "",
                                 .platform_version = "",
                                 .driver_version = "1",
                                 .type = PORTMM_DEVICE_GPU,
                                 .compute_units = 1,
                                 .has_f64 = 1,
                                 .engines = "tuned,starter",
                                 .unavailable_reason = ""};
}

static portmm_status open_device(pmm_backend_state *state, size_t index, pmm_device **device) {
    (void)index;
    dawdle(fault.device_open_ms);
    if (fault.device_fails)
        return state->host->fail(PORTMM_STATUS_UNAVAILABLE, "fault: the device does not open");
    *device = malloc(sizeof **device);
    (*device)->host = state->host;
    return PORTMM_STATUS_SUCCESS;
}

static void close_device(pmm_device *device) {
    free(device);
}

static portmm_status create_queue(pmm_device *device, pmm_queue **queue) {
    *queue = malloc(sizeof **queue);
    (*queue)->host = device->host;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status finish_queue(pmm_queue *queue) {
    (void)queue;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status put_barrier(pmm_queue *queue, size_t count, pmm_event *const *list, pmm_event **event) {
    (void)queue, (void)count, (void)list;
    if (event != NULL)
        *event = &done;
    return PORTMM_STATUS_SUCCESS;
}

static void destroy_queue(pmm_queue *queue) {
    free(queue);
}

static portmm_status create_buffer(pmm_device *device, size_t size, pmm_buffer **buffer) {
    (void)device;
    *buffer = malloc(sizeof **buffer);
    (*buffer)->bytes = calloc(1, size);
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status wrap_buffer(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer) {
    (void)device, (void)memory, (void)size, (void)buffer;
    return PORTMM_STATUS_UNSUPPORTED;
}

static void destroy_buffer(pmm_buffer *buffer) {
    free(buffer->bytes);
    free(buffer);
}

static portmm_status write_buffer(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy, const void *from) {
    (void)queue;
    for (size_t row = 0; row < copy->height; row++)
        memcpy(buffer->bytes + copy->offset + row * copy->pitch, (const char *)from + row * copy->host_pitch,
               copy->width);
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status read_buffer(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy, void *to) {
    for (size_t row = 0; row < copy->height; row++)
        memcpy((char *)to + row * copy->host_pitch, buffer->bytes + copy->offset + row * copy->pitch, copy->width);
    if (fault.read_fails) {
        for (size_t row = 0; row < (copy->height + 1) / 2; row++)
            memset((char *)to + row * copy->host_pitch, 0xff, copy->width);
        return queue->host->fail(PORTMM_STATUS_DEVICE_ERROR, "fault: the copy failed");
    }
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status wait_event(pmm_event *event) {
    (void)event;
    return PORTMM_STATUS_SUCCESS;
}

static void destroy_event(pmm_event *event) {
    (void)event;
}

static portmm_status open_engine(const pmm_device *device, int which, pmm_engine_state **engine) {
    dawdle(fault.engines[which].open_ms);
    if (fault.engines[which].open_fails)
        return device->host->fail(PORTMM_STATUS_UNAVAILABLE, "fault: the engine does not open");
    *engine = malloc(sizeof **engine);
    **engine = (pmm_engine_state){device->host, which};
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status open_tuned(pmm_device *device, pmm_engine_state **engine) {
    return open_engine(device, FAULT_TUNED, engine);
}

static portmm_status open_starter(pmm_device *device, pmm_engine_state **engine) {
    return open_engine(device, FAULT_STARTER, engine);
}

static void close_engine(pmm_engine_state *engine) {
    free(engine);
}

static int64_t locate(portmm_layout layout, portmm_transpose transpose, int64_t leading, int64_t row, int64_t column) {
    return (layout == PORTMM_ROW_MAJOR) == (transpose == PORTMM_NO_TRANS) ? row * leading + column
                                                                          : column * leading + row;
}

/* The "program" of a product is its sizes. False: the cache gave something else. */
static bool use_cache(const pmm_host *host, const pmm_gemm *gemm) {
    const int64_t program[] = {gemm->m, gemm->n, gemm->k};
    const pmm_key_field field = {"sizes", program, sizeof program};
    const pmm_cache_key key = {"program for tests", &field, 1};
    void *data = NULL;
    size_t size = 0;
    if (!host->cache_get(host, &key, &data, &size)) {
        host->span_begin(host, PORTMM_PHASE_BUILD, "a program for tests");
        host->span_end(host);
        host->cache_put(host, &key, program, sizeof program);
        return true;
    }
    bool same = size == sizeof program && memcmp(data, program, size) == 0;
    free(data);
    return same;
}

/* f32 only; the tests use nothing else. */
static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    (void)queue, (void)wait_count, (void)wait_list;
    if (fault.engines[engine->which].refuses)
        return engine->host->fail(PORTMM_STATUS_UNSUPPORTED, "fault: the engine refuses");
    if (fault.caches && !use_cache(engine->host, gemm))
        return engine->host->fail(PORTMM_STATUS_DEVICE_ERROR, "fault: the cache gave another program");
    const float *a = (const float *)(void *)gemm->a->bytes + gemm->a_offset;
    const float *b = (const float *)(void *)gemm->b->bytes + gemm->b_offset;
    float *c = (float *)(void *)gemm->c->bytes + gemm->c_offset;
    for (int64_t i = 0; i < gemm->m; i++)
        for (int64_t j = 0; j < gemm->n; j++) {
            float sum = 0;
            for (int64_t p = 0; p < gemm->k; p++)
                sum += a[locate(gemm->layout, gemm->transa, gemm->lda, i, p)] *
                       b[locate(gemm->layout, gemm->transb, gemm->ldb, p, j)];
            float *at = &c[locate(gemm->layout, PORTMM_NO_TRANS, gemm->ldc, i, j)];
            *at = (float)gemm->alpha * sum + (gemm->beta != 0 ? (float)gemm->beta * *at : 0);
        }
    if (fault.engines[engine->which].wrong)
        c[locate(gemm->layout, PORTMM_NO_TRANS, gemm->ldc, gemm->m - 1, gemm->n - 1)] += 1;
    dawdle(fault.engines[engine->which].gemm_ms);
    fault.products[engine->which]++;
    if (event != NULL)
        *event = &done;
    return PORTMM_STATUS_SUCCESS;
}

static bool never_wants(pmm_engine_state *engine) {
    (void)engine;
    return false;
}

static void capture_nothing(pmm_engine_state *engine) {
    (void)engine;
}

#define ENGINE(opener, label)                                                                                          \
    {                                                                                                                  \
        .name = (label), .dtypes = PORTMM_DTYPE_BIT(PORTMM_F32), .max_size = INT32_MAX, .max_index = INT32_MAX,        \
        .open = (opener), .close = close_engine, .gemm = run_gemm, .capture_wanted = never_wants,                      \
        .capture = capture_nothing                                                                                     \
    }
static const pmm_engine tuned = ENGINE(open_tuned, "tuned"), starter = ENGINE(open_starter, "starter");
static const pmm_engine *const engines[] = {&tuned, &starter, NULL};

static const pmm_backend backend = {
    .abi = PMM_BACKEND_ABI,
    .struct_size = sizeof(pmm_backend),
    .name = "cuda",
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
};

const pmm_backend *pmm_backend_entry(void) {
    return &backend;
}
