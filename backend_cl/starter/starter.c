/* SPDX-License-Identifier: Apache-2.0 */
/* Engine `starter`: kernels of our own, made to be ready soon. Which of the two forms fits is asked of the device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl_error.h"
#include "embedded/element_cl.h"
#include "embedded/tiled_cl.h"
#include "embedded/wide_cl.h"
#include "engine.h"
#include "program.h"

enum { DTYPES = PORTMM_BF16 + 1, ROWS = 8, PACK_ROWS = 64, TILE = 64, TILE_SIDE = 16 };

/* What the kernels know a type by. The last two are read as f32. */
static const struct {
    const char *options;
    size_t part; /* bytes of a real number of a sum */
    int parts;   /* of them in an element */
    int width;   /* elements of a vector */
} types[DTYPES] = {
    [PORTMM_F32] = {"-DREAL=float -DPARTS=1", 4, 1, 16},
    [PORTMM_F64] = {"-DREAL=double -DPARTS=1", 8, 1, 8},
    [PORTMM_C32] = {"-DREAL=float -DPARTS=2", 4, 2, 8},
    [PORTMM_C64] = {"-DREAL=double -DPARTS=2", 8, 2, 4},
    [PORTMM_F16] = {"-DREAL=float -DPARTS=1 -DHALF", 4, 1, 16},
    [PORTMM_BF16] = {"-DREAL=float -DPARTS=1 -DBFLOAT", 4, 1, 16},
};

/* One for each driver context in this process; under host->lock. */
typedef struct shared_programs {
    cl_context context;
    pmm_program *programs[DTYPES][2]; /* without and with an epilogue; NULL: not built yet */
    struct shared_programs *next;
} shared_programs;

static shared_programs *all_programs;

/* A matrix as the kernels see it. */
typedef struct side {
    cl_mem memory;
    cl_long offset, row, column, stride;
    cl_int conjugate;
} side;

/* A product as the kernels see it: row-major, any strides. `first` to `first + taken` of a batch. */
typedef struct product {
    const pmm_gemm *gemm;
    cl_long m, n, k;
    side a, b;
    cl_long first, taken;
    cl_mem places; /* NULL: strides; else a list for each of A, B and C, as long as the batch */
} product;

static side make_side(const pmm_gemm *gemm, bool is_a) {
    portmm_transpose transpose = is_a ? gemm->transa : gemm->transb;
    bool transposed = transpose != PORTMM_NO_TRANS;
    cl_long leading = is_a ? gemm->lda : gemm->ldb;
    return (side){.memory = is_a ? gemm->a->memory : gemm->b->memory,
                  .offset = is_a ? gemm->a_offset : gemm->b_offset,
                  .row = transposed ? 1 : leading,
                  .column = transposed ? leading : 1,
                  .stride = is_a ? gemm->a_stride : gemm->b_stride,
                  .conjugate = transpose == PORTMM_CONJ_TRANS};
}

/* A column-major product is the row-major one of the transposes, C^T := op(B)^T * op(A)^T: the same strides, with A and
 * B in each other's place. */
static product make_product(const pmm_gemm *gemm) {
    bool rows = gemm->layout == PORTMM_ROW_MAJOR;
    return (product){.gemm = gemm,
                     .m = rows ? gemm->m : gemm->n,
                     .n = rows ? gemm->n : gemm->m,
                     .k = gemm->k,
                     .a = make_side(gemm, rows),
                     .b = make_side(gemm, !rows)};
}

/* ---- open ---- */

/* Tiles need real local memory, and enough of it and of work-items, for the largest type. */
static bool prefers_tiles(const pmm_device *device) {
    cl_device_local_mem_type type = CL_GLOBAL;
    cl_ulong local = 0;
    size_t group = 0;
    const pmm_cl_api *api = device->api;
    cl_device_id id = device->found->id;
    return device->found->info.type != PORTMM_DEVICE_CPU &&
           api->clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_TYPE, sizeof type, &type, NULL) == CL_SUCCESS &&
           type == CL_LOCAL &&
           api->clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL) == CL_SUCCESS &&
           local >= 2 * 16 * (TILE + 4) * sizeof(double) /* slices of c64 are half as thick */ &&
           api->clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL) == CL_SUCCESS &&
           group >= (size_t)TILE_SIDE * TILE_SIDE;
}

static portmm_status open_engine(pmm_device *device, pmm_engine_state **engine) {
    portmm_status status = pmm_cl_engine_open(device, engine);
    if (status == PORTMM_STATUS_SUCCESS)
        (*engine)->tiled = prefers_tiles(device);
    return status;
}

void pmm_cl_starter_forget(const pmm_cl_api *api, cl_context context) {
    shared_programs **link = &all_programs;
    while (*link != NULL && (*link)->context != context)
        link = &(*link)->next;
    shared_programs *found = *link;
    if (found == NULL)
        return;
    *link = found->next;
    for (int i = 0; i < 2 * DTYPES; i++)
        if (found->programs[i / 2][i % 2] != NULL)
            pmm_program_release(api, found->programs[i / 2][i % 2]);
    free(found);
}

/* ---- programs ---- */

static shared_programs *get_shared(const pmm_device *device) {
    for (shared_programs *each = all_programs; each != NULL; each = each->next)
        if (each->context == device->context)
            return each;
    shared_programs *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->context = device->context;
    made->next = all_programs;
    all_programs = made;
    return made;
}

static bool has_epilogue(const pmm_gemm *gemm) {
    return gemm->epilogue.bias_kind != PORTMM_BIAS_NONE || gemm->epilogue.activation != PORTMM_ACTIVATION_NONE;
}

static portmm_status build_program(const pmm_engine_state *engine, const pmm_gemm *gemm, pmm_program **program) {
    const pmm_host *host = engine->device->host;
    const pmm_cl_api *api = engine->device->api;
    char source[sizeof element_cl + (sizeof tiled_cl > sizeof wide_cl ? sizeof tiled_cl : sizeof wide_cl)];
    int length = snprintf(source, sizeof source, "%s%s", element_cl, engine->tiled ? tiled_cl : wide_cl);
    char options[96];
    snprintf(options, sizeof options, "%s -DW=%d%s", types[gemm->dtype].options, types[gemm->dtype].width,
             has_epilogue(gemm) ? " -DEPILOGUE" : "");
    pmm_program *made = pmm_program_create(engine->device->context, source, (size_t)length);
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for a program");
    cl_int code = pmm_program_build(host, api, made, engine->device->found->id, options);
    if (code != CL_SUCCESS) {
        portmm_status status = pmm_cl_fail(host, "clBuildProgram of the starter", code);
        if (made->failure[0] != '\0')
            status = host->fail(status, "opencl: the device's compiler refuses the starter: %s", made->failure);
        pmm_program_release(api, made);
        return status;
    }
    *program = made;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status get_program(const pmm_engine_state *engine, const pmm_gemm *gemm, pmm_program **program) {
    shared_programs *shared = get_shared(engine->device);
    if (shared == NULL)
        return engine->device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for a program");
    pmm_program **slot = &shared->programs[gemm->dtype][has_epilogue(gemm)];
    portmm_status status = *slot == NULL ? build_program(engine, gemm, slot) : PORTMM_STATUS_SUCCESS;
    *program = *slot;
    return status;
}

/* ---- launches ---- */

/* A kernel under way: its arguments in order, the first trouble kept. */
typedef struct call {
    const pmm_cl_api *api;
    cl_kernel kernel;
    cl_uint next;
    cl_int code;
} call;

static call begin_call(const pmm_engine_state *engine, const pmm_program *program, const char *name) {
    const pmm_host *host = engine->device->host;
    call this = {.api = engine->device->api};
    host->span_begin(host, PORTMM_PHASE_KERNEL_CREATE, name);
    this.kernel = this.api->clCreateKernel(program->real, name, &this.code);
    host->span_end(host);
    return this;
}

static void pass(call *this, const void *value, size_t size) {
    if (this->code == CL_SUCCESS)
        this->code = this->api->clSetKernelArg(this->kernel, this->next++, size, value);
}

static void pass_longs(call *this, const cl_long *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        pass(this, &values[i], sizeof values[i]);
}

static void pass_memory(call *this, cl_mem memory) {
    pass(this, memory != NULL ? &memory : NULL, sizeof memory);
}

static void pass_number(call *this, portmm_dtype dtype, double re, double im) {
    const double wide[2] = {re, im};
    const float narrow[2] = {(float)re, (float)im};
    size_t size = (size_t)types[dtype].parts * types[dtype].part;
    pass(this, types[dtype].part == sizeof(double) ? (const void *)wide : narrow, size);
}

static void pass_side(call *this, const side *matrix) {
    pass_memory(this, matrix->memory);
    pass_longs(this, (cl_long[]){matrix->offset, matrix->row, matrix->column, matrix->stride}, 4);
    pass(this, &matrix->conjugate, sizeof matrix->conjugate);
}

static void pass_batch(call *this, const product *form) {
    pass_longs(this, (cl_long[]){form->first, form->gemm->batch_count}, 2);
    pass_memory(this, form->places);
}

/* All from beta on. */
static void pass_result(call *this, const product *form) {
    const pmm_gemm *gemm = form->gemm;
    const pmm_epilogue *epilogue = &gemm->epilogue;
    pass_number(this, gemm->dtype, gemm->beta, gemm->beta_im);
    pass_memory(this, gemm->c->memory);
    pass_longs(this, (cl_long[]){gemm->c_offset, gemm->ldc, gemm->c_stride}, 3);
    pass_batch(this, form);
    if (!has_epilogue(gemm))
        return;
    bool by_rows = (epilogue->bias_kind == PORTMM_BIAS_PER_ROW) == (gemm->layout == PORTMM_ROW_MAJOR);
    const cl_int activation = (cl_int)epilogue->activation;
    pass_memory(this, epilogue->bias_kind != PORTMM_BIAS_NONE ? epilogue->bias->memory : NULL);
    pass_longs(this, (cl_long[]){epilogue->bias_offset, epilogue->bias_stride, by_rows, !by_rows}, 4);
    pass(this, &activation, sizeof activation);
}

static cl_int end_call(call *this, const pmm_queue *queue, const size_t global[3], const size_t local[3],
                       cl_event *event) {
    if (this->code == CL_SUCCESS)
        this->code =
            this->api->clEnqueueNDRangeKernel(queue->queue, this->kernel, 3, NULL, global, local, 0, NULL, event);
    if (this->kernel != NULL)
        this->api->clReleaseKernel(this->kernel);
    return this->code;
}

static size_t divide_up(cl_long value, cl_long by) {
    return (size_t)((value + by - 1) / by);
}

static const size_t one_by_one[3] = {1, 1, 1}, tile[3] = {TILE_SIDE, TILE_SIDE, 1};

/* The panels of B, of each product or of the one that all share. */
static size_t count_panels(const product *this, bool is_shared) {
    return divide_up(this->n, types[this->gemm->dtype].width) * (is_shared ? 1 : (size_t)this->taken);
}

static bool shares_b(const product *this) {
    return this->b.stride == 0 && this->places == NULL;
}

static size_t get_panel_size(const product *this) { /* real numbers */
    return (size_t)(types[this->gemm->dtype].width * types[this->gemm->dtype].parts) * (size_t)this->k;
}

static cl_int launch_wide(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_program *program,
                          const product *this, cl_event *event) {
    const pmm_cl_api *api = engine->device->api;
    const pmm_gemm *gemm = this->gemm;
    size_t panels = divide_up(this->n, types[gemm->dtype].width), panel = get_panel_size(this);
    bool shared = shares_b(this);
    cl_int code = CL_SUCCESS;
    cl_mem packed = api->clCreateBuffer(engine->device->context, CL_MEM_READ_WRITE,
                                        count_panels(this, shared) * panel * types[gemm->dtype].part, NULL, &code);
    if (code != CL_SUCCESS)
        return code;
    call pack = begin_call(engine, program, "pack");
    pass_longs(&pack, (cl_long[]){this->n, this->k}, 2);
    pass_side(&pack, &this->b);
    pass_batch(&pack, this);
    pass_memory(&pack, packed);
    code = end_call(&pack, queue, (size_t[]){divide_up(this->k, PACK_ROWS), panels, shared ? 1 : (size_t)this->taken},
                    one_by_one, NULL);
    if (code == CL_SUCCESS) {
        call run = begin_call(engine, program, "gemm");
        pass_longs(&run, (cl_long[]){this->m, this->n, this->k}, 3);
        pass_number(&run, gemm->dtype, gemm->alpha, gemm->alpha_im);
        pass_side(&run, &this->a);
        pass_memory(&run, packed);
        pass_longs(&run, (cl_long[]){shared ? 0 : (cl_long)(panels * panel)}, 1);
        pass_result(&run, this);
        code =
            end_call(&run, queue, (size_t[]){divide_up(this->m, ROWS), panels, (size_t)this->taken}, one_by_one, event);
    }
    api->clReleaseMemObject(packed); /* the driver keeps it until the kernels are done */
    return code;
}

static cl_int launch_tiled(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_program *program,
                           const product *this, cl_event *event) {
    call run = begin_call(engine, program, "gemm");
    pass_longs(&run, (cl_long[]){this->m, this->n, this->k}, 3);
    pass_number(&run, this->gemm->dtype, this->gemm->alpha, this->gemm->alpha_im);
    pass_side(&run, &this->a);
    pass_side(&run, &this->b);
    pass_result(&run, this);
    const size_t global[3] = {divide_up(this->n, TILE) * TILE_SIDE, divide_up(this->m, TILE) * TILE_SIDE,
                              (size_t)this->taken};
    return end_call(&run, queue, global, tile, event);
}

static bool note_launches(const pmm_engine_state *engine, pmm_program *program) {
    bool is_new = pmm_program_note_launch(program, "gemm", 3, engine->tiled ? tile : one_by_one);
    return (!engine->tiled && pmm_program_note_launch(program, "pack", 3, one_by_one)) || is_new;
}

/* The lists of a batch in one buffer, a list for each of A, B and C as the kernels see them. */
static cl_int make_places(const pmm_engine_state *engine, product *this) {
    const pmm_gemm *gemm = this->gemm;
    bool rows = gemm->layout == PORTMM_ROW_MAJOR;
    const int64_t *lists[3] = {rows ? gemm->a_offsets : gemm->b_offsets, rows ? gemm->b_offsets : gemm->a_offsets,
                               gemm->c_offsets};
    const cl_long strides[3] = {this->a.stride, this->b.stride, gemm->c_stride};
    size_t count = (size_t)gemm->batch_count;
    if (count == 1 || (lists[0] == NULL && lists[1] == NULL && lists[2] == NULL))
        return CL_SUCCESS;
    cl_long *all = malloc(3 * count * sizeof *all);
    if (all == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < 3 * count; i++)
        all[i] = lists[i / count] != NULL ? lists[i / count][i % count] : (cl_long)(i % count) * strides[i / count];
    cl_int code = CL_SUCCESS;
    this->places = engine->device->api->clCreateBuffer(engine->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                                       3 * count * sizeof *all, all, &code);
    free(all);
    return code;
}

/* So many products at once that the device takes the grid (65535 on NVIDIA's), and packed panels stay small. */
static cl_long count_at_once(const pmm_engine_state *engine, const product *this) {
    const cl_long grid = 32768, room = 64 << 20;
    product one = *this;
    one.taken = 1;
    cl_long bytes = (cl_long)(count_panels(&one, true) * get_panel_size(&one) * types[this->gemm->dtype].part);
    cl_long fitting = engine->tiled || shares_b(this) ? grid : room / bytes;
    return fitting < 1 ? 1 : fitting < grid ? fitting : grid;
}

static cl_int launch_all(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_program *program,
                         product *this, cl_event *event) {
    cl_long count = this->gemm->batch_count, at_once = count_at_once(engine, this);
    cl_int code = CL_SUCCESS;
    for (this->first = 0; this->first < count && code == CL_SUCCESS; this->first += this->taken) {
        this->taken = count - this->first < at_once ? count - this->first : at_once;
        cl_event *last = this->first + this->taken == count ? event : NULL;
        code = engine->tiled ? launch_tiled(engine, queue, program, this, last)
                             : launch_wide(engine, queue, program, this, last);
    }
    return code;
}

static portmm_status enqueue_gemm(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_gemm *gemm,
                                  cl_event *event, bool *new_launches) {
    const pmm_cl_api *api = engine->device->api;
    pmm_program *program = NULL;
    product form = make_product(gemm);
    portmm_status status = get_program(engine, gemm, &program);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    cl_int code = make_places(engine, &form);
    if (code == CL_SUCCESS)
        code = launch_all(engine, queue, program, &form, event);
    if (form.places != NULL)
        api->clReleaseMemObject(form.places); /* the driver keeps it until the kernels are done */
    if (code != CL_SUCCESS)
        return pmm_cl_fail(engine->device->host, "the starter's kernels", code);
    *new_launches = note_launches(engine, program);
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    return pmm_cl_engine_gemm(engine, queue, gemm, wait_count, wait_list, event, enqueue_gemm);
}

const pmm_engine pmm_cl_starter = {
    .name = "starter",
    .dtypes = PORTMM_DTYPE_BIT(PORTMM_F32) | PORTMM_DTYPE_BIT(PORTMM_F64) | PORTMM_DTYPE_BIT(PORTMM_C32) |
              PORTMM_DTYPE_BIT(PORTMM_C64) | PORTMM_DTYPE_BIT(PORTMM_F16) | PORTMM_DTYPE_BIT(PORTMM_BF16),
    .features = PMM_ENGINE_BATCHES | PMM_ENGINE_EPILOGUES,
    .max_size = INT32_MAX,
    .max_index = INT64_MAX / 16, /* its kernels index with 64 bits */
    .open = open_engine,
    .close = pmm_cl_engine_close,
    .gemm = run_gemm,
    .capture_wanted = pmm_cl_engine_wanted,
    .capture = pmm_cl_engine_capture,
};
