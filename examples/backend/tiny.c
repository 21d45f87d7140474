/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A complete backend, as small as one can be: the start of your own. docs/backend.md goes through it.
 *
 * Its device is this process. Commands run in the call that enqueues them, so that there is nothing to wait for. Its
 * one engine makes products of f32 and f64. Built as portmm-tiny.so, in a directory that is searched for modules, it
 * serves whoever asks for backend "tiny".
 */
#include <stdlib.h>

#include <portmm/backend.h>

/* The core only carries pointers to these: what is in them is the backend's own business. */
struct pmm_backend_state {
    const pmm_host *host;
    pmm_machine machine;
};

struct pmm_device {
    const pmm_host *host;
};

struct pmm_queue {
    const pmm_host *host;
};

struct pmm_buffer {
    unsigned char *memory;
};

struct pmm_event {
    char unused; /* every command is complete when its call returns */
};

struct pmm_engine_state {
    const pmm_host *host;
};

static pmm_event complete;

/* ---- engine ---- */

static size_t get_element_size(portmm_dtype dtype) {
    return dtype == PORTMM_F64 ? sizeof(double) : sizeof(float);
}

static double load(const unsigned char *matrix, portmm_dtype dtype, int64_t index) {
    float single;
    double result;
    if (dtype == PORTMM_F64) {
        memcpy(&result, matrix + (size_t)index * sizeof result, sizeof result);
        return result;
    }
    memcpy(&single, matrix + (size_t)index * sizeof single, sizeof single);
    return single;
}

static void store(unsigned char *matrix, portmm_dtype dtype, int64_t index, double value) {
    float single = (float)value;
    if (dtype == PORTMM_F64)
        memcpy(matrix + (size_t)index * sizeof value, &value, sizeof value);
    else
        memcpy(matrix + (size_t)index * sizeof single, &single, sizeof single);
}

/* Where element (row, column) of op(X) lies in X; CONJ_TRANS is TRANS for real types. */
static int64_t find_element(const pmm_gemm *gemm, portmm_transpose op, int64_t ld, int64_t row, int64_t column) {
    bool by_rows = (gemm->layout == PORTMM_ROW_MAJOR) == (op == PORTMM_NO_TRANS);
    return by_rows ? row * ld + column : column * ld + row;
}

/* sums := row `row` of op(A) * op(B), with op(B) packed by rows. */
static void multiply_row(const pmm_gemm *gemm, int64_t row, const double *b, double *sums) {
    const unsigned char *a = gemm->a->memory + (size_t)gemm->a_offset * get_element_size(gemm->dtype);
    for (int64_t j = 0; j < gemm->n; j++)
        sums[j] = 0;
    for (int64_t p = 0; p < gemm->k; p++) {
        double factor = load(a, gemm->dtype, find_element(gemm, gemm->transa, gemm->lda, row, p));
        for (int64_t j = 0; j < gemm->n; j++)
            sums[j] += factor * b[p * gemm->n + j];
    }
}

/* C may hold anything, NaN too, where beta is 0: it is not read then. */
static void store_row(const pmm_gemm *gemm, int64_t row, const double *sums) {
    unsigned char *c = gemm->c->memory + (size_t)gemm->c_offset * get_element_size(gemm->dtype);
    for (int64_t j = 0; j < gemm->n; j++) {
        int64_t index = find_element(gemm, PORTMM_NO_TRANS, gemm->ldc, row, j);
        double value = gemm->alpha * sums[j];
        if (pmm_gemm_reads_c(gemm))
            value += gemm->beta * load(c, gemm->dtype, index);
        store(c, gemm->dtype, index, value);
    }
}

static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    (void)queue, (void)wait_count, (void)wait_list; /* all earlier commands are complete */
    const size_t most = PTRDIFF_MAX / sizeof(double);
    size_t n = (size_t)gemm->n, k = (size_t)gemm->k;
    double *packed = k < most / n ? malloc((k + 1) * n * sizeof *packed) : NULL; /* op(B), and a row of sums */
    if (packed == NULL)
        return engine->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "tiny: no memory to pack B (%zu x %zu)", k, n);
    double *sums = packed + k * n;
    const unsigned char *b = gemm->b->memory + (size_t)gemm->b_offset * get_element_size(gemm->dtype);
    for (int64_t p = 0; p < gemm->k; p++)
        for (int64_t j = 0; j < gemm->n; j++)
            packed[p * gemm->n + j] = load(b, gemm->dtype, find_element(gemm, gemm->transb, gemm->ldb, p, j));
    for (int64_t row = 0; row < gemm->m; row++) {
        multiply_row(gemm, row, packed, sums);
        store_row(gemm, row, sums);
    }
    free(packed);
    if (event != NULL)
        *event = &complete;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status open_engine(pmm_device *device, pmm_engine_state **engine) {
    pmm_engine_state *made = malloc(sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "tiny: no memory for an engine");
    made->host = device->host;
    *engine = made;
    return PORTMM_STATUS_SUCCESS;
}

static void close_engine(pmm_engine_state *engine) {
    free(engine);
}

/* Nothing is compiled, so there is nothing for the on-disk cache. */
static bool never_wants_capture(pmm_engine_state *engine) {
    (void)engine;
    return false;
}

static void capture_nothing(pmm_engine_state *engine) {
    (void)engine;
}

static const pmm_engine plain = {
    .name = "plain",
    .dtypes = PORTMM_DTYPE_BIT(PORTMM_F32) | PORTMM_DTYPE_BIT(PORTMM_F64),
    .features = PMM_ENGINE_QUIET, /* batches are the core's loop; there are no epilogues */
    .max_size = INT32_MAX,
    .max_index = INT64_MAX / 16, /* so that neither an index nor its bytes overflow */
    .open = open_engine,
    .close = close_engine,
    .gemm = run_gemm,
    .capture_wanted = never_wants_capture,
    .capture = capture_nothing,
};

/* ---- backend and device ---- */

static portmm_status open_backend(const pmm_host *host, pmm_backend_state **state) {
    if (host->struct_size < sizeof(pmm_host)) /* a library that is older than the headers used here */
        return host->fail(PORTMM_STATUS_UNAVAILABLE, "tiny: built for a later libportmm; build it with its headers");
    pmm_backend_state *made = malloc(sizeof *made);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "tiny: no memory");
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
    *info = (portmm_device_info){.struct_size = sizeof *info,
                                 .backend = "tiny",
                                 .index = (int32_t)index,
                                 .name = "this process",
                                 .vendor = "",
                                 .platform_name = "",
                                 .platform_version = "",
                                 .driver_version = "",
                                 .type = PORTMM_DEVICE_CPU,
                                 .compute_units = 1,
                                 .memory_size = state->machine.memory_size,
                                 .has_f64 = 1,
                                 .engines = "plain",
                                 .unavailable_reason = ""};
}

static portmm_status open_device(pmm_backend_state *state, size_t index, pmm_device **device) {
    (void)index;
    pmm_device *made = malloc(sizeof *made);
    if (made == NULL)
        return state->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "tiny: no memory for a device");
    made->host = state->host;
    *device = made;
    return PORTMM_STATUS_SUCCESS;
}

static void close_device(pmm_device *device) {
    free(device);
}

/* ---- queues and events ---- */

static portmm_status create_queue(pmm_device *device, pmm_queue **queue) {
    pmm_queue *made = malloc(sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "tiny: no memory for a queue");
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
        *event = &complete;
    return PORTMM_STATUS_SUCCESS;
}

static void destroy_queue(pmm_queue *queue) {
    free(queue);
}

static portmm_status wait_event(pmm_event *event) {
    (void)event;
    return PORTMM_STATUS_SUCCESS;
}

static void destroy_event(pmm_event *event) {
    (void)event;
}

/* ---- buffers ---- */

static portmm_status create_buffer(pmm_device *device, size_t size, pmm_buffer **buffer) {
    pmm_buffer *made = malloc(sizeof *made);
    unsigned char *memory = malloc(size);
    if (made == NULL || memory == NULL) {
        free(memory);
        free(made);
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "tiny: no memory for a buffer of %zu bytes", size);
    }
    made->memory = memory;
    *buffer = made;
    return PORTMM_STATUS_SUCCESS;
}

/* As for a device with memory of its own: the core then copies. */
static portmm_status refuse_to_wrap(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer) {
    (void)device, (void)memory, (void)size, (void)buffer;
    return PORTMM_STATUS_UNSUPPORTED;
}

static void destroy_buffer(pmm_buffer *buffer) {
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

/* ---- what the core asks for ---- */

static const pmm_engine *const engines[] = {&plain, NULL}; /* best first */

static const pmm_backend backend = {
    .abi = PMM_BACKEND_ABI,
    .struct_size = sizeof(pmm_backend),
    .name = "tiny",
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
    .buffer_wrap = refuse_to_wrap,
    .buffer_destroy = destroy_buffer,
    .buffer_write = write_buffer,
    .buffer_read = read_buffer,
    .event_wait = wait_event,
    .event_destroy = destroy_event,
    .engines = engines,
    .is_immediate = true,
};

const pmm_backend *pmm_backend_entry(void) {
    return &backend;
}
