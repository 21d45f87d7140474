/* SPDX-License-Identifier: Apache-2.0 */
/* Engine `starter`: kernels of our own, made to be ready soon. Which of the two forms fits is asked of the device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl_error.h"
#include "embedded/tiled_cl.h"
#include "embedded/wide_cl.h"
#include "engine.h"
#include "program.h"

enum { DTYPES = 2, ROWS = 8, PACK_ROWS = 64, TILE = 64, TILE_SIDE = 16 };

/* One for each driver context in this process; under host->lock. */
typedef struct shared_programs {
    cl_context context;
    pmm_program *programs[DTYPES]; /* NULL: not built yet */
    struct shared_programs *next;
} shared_programs;

static shared_programs *all_programs;

/* A product as the kernels see it: row-major, any strides. */
typedef struct product {
    const pmm_gemm *gemm;
    cl_long m, n, k;
    cl_mem a, b;
    cl_long a_offset, a_row, a_column, b_offset, b_row, b_column;
} product;

/* A column-major product is the row-major one of the transposes, C^T := op(B)^T * op(A)^T: the same strides, with A and
 * B in each other's place. */
static product make_product(const pmm_gemm *gemm) {
    bool rows = gemm->layout == PORTMM_ROW_MAJOR;
    bool a_transposed = gemm->transa != PORTMM_NO_TRANS, b_transposed = gemm->transb != PORTMM_NO_TRANS;
    product this = {.gemm = gemm,
                    .m = rows ? gemm->m : gemm->n,
                    .n = rows ? gemm->n : gemm->m,
                    .k = gemm->k,
                    .a = gemm->a->memory,
                    .b = gemm->b->memory,
                    .a_offset = gemm->a_offset,
                    .a_row = a_transposed ? 1 : gemm->lda,
                    .a_column = a_transposed ? gemm->lda : 1,
                    .b_offset = gemm->b_offset,
                    .b_row = b_transposed ? 1 : gemm->ldb,
                    .b_column = b_transposed ? gemm->ldb : 1};
    if (rows)
        return this;
    product swapped = this;
    swapped.a = this.b;
    swapped.a_offset = this.b_offset;
    swapped.a_row = this.b_row;
    swapped.a_column = this.b_column;
    swapped.b = this.a;
    swapped.b_offset = this.a_offset;
    swapped.b_row = this.a_row;
    swapped.b_column = this.a_column;
    return swapped;
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
           local >= 2 * 16 * (TILE + 4) * sizeof(double) &&
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
    for (int i = 0; i < DTYPES; i++)
        if (found->programs[i] != NULL)
            pmm_program_release(api, found->programs[i]);
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

static int get_width(portmm_dtype dtype) {
    return dtype == PORTMM_F64 ? 8 : 16;
}

static portmm_status build_program(const pmm_engine_state *engine, portmm_dtype dtype, pmm_program **program) {
    const pmm_host *host = engine->device->host;
    const pmm_cl_api *api = engine->device->api;
    const char *source = engine->tiled ? tiled_cl : wide_cl;
    char options[64];
    snprintf(options, sizeof options, "-DREAL=%s -DW=%d", dtype == PORTMM_F64 ? "double" : "float", get_width(dtype));
    pmm_program *made = pmm_program_create(engine->device->context, source, strlen(source));
    if (made == NULL)
        return host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for a program");
    cl_int code = pmm_program_build(host, api, made, engine->device->found->id, options);
    if (code != CL_SUCCESS) {
        pmm_program_release(api, made);
        return pmm_cl_fail(host, "clBuildProgram of the starter", code);
    }
    *program = made;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status get_program(const pmm_engine_state *engine, portmm_dtype dtype, pmm_program **program) {
    shared_programs *shared = get_shared(engine->device);
    if (shared == NULL)
        return engine->device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "opencl: no memory for a program");
    pmm_program **slot = &shared->programs[dtype == PORTMM_F64];
    portmm_status status = *slot == NULL ? build_program(engine, dtype, slot) : PORTMM_STATUS_SUCCESS;
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

static void pass_real(call *this, portmm_dtype dtype, double value) {
    const float narrow = (float)value;
    if (dtype == PORTMM_F64)
        pass(this, &value, sizeof value);
    else
        pass(this, &narrow, sizeof narrow);
}

static cl_int end_call(call *this, const pmm_queue *queue, const size_t global[2], const size_t local[2],
                       cl_event *event) {
    if (this->code == CL_SUCCESS)
        this->code =
            this->api->clEnqueueNDRangeKernel(queue->queue, this->kernel, 2, NULL, global, local, 0, NULL, event);
    if (this->kernel != NULL)
        this->api->clReleaseKernel(this->kernel);
    return this->code;
}

static size_t divide_up(cl_long value, cl_long by) {
    return (size_t)((value + by - 1) / by);
}

static const size_t one_by_one[2] = {1, 1};

static cl_int launch_wide(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_program *program,
                          const product *this, cl_event *event) {
    const pmm_cl_api *api = engine->device->api;
    const pmm_gemm *gemm = this->gemm;
    int width = get_width(gemm->dtype);
    size_t panels = divide_up(this->n, width), element = gemm->dtype == PORTMM_F64 ? sizeof(double) : sizeof(float);
    cl_int code = CL_SUCCESS;
    cl_mem packed = api->clCreateBuffer(engine->device->context, CL_MEM_READ_WRITE,
                                        panels * (size_t)width * (size_t)this->k * element, NULL, &code);
    if (code != CL_SUCCESS)
        return code;
    call pack = begin_call(engine, program, "pack");
    pass_longs(&pack, (cl_long[]){this->n, this->k}, 2);
    pass(&pack, &this->b, sizeof this->b);
    pass_longs(&pack, (cl_long[]){this->b_offset, this->b_row, this->b_column}, 3);
    pass(&pack, &packed, sizeof packed);
    code = end_call(&pack, queue, (size_t[]){divide_up(this->k, PACK_ROWS), panels}, one_by_one, NULL);
    if (code == CL_SUCCESS) {
        call run = begin_call(engine, program, "gemm");
        pass_longs(&run, (cl_long[]){this->m, this->n, this->k}, 3);
        pass_real(&run, gemm->dtype, gemm->alpha);
        pass(&run, &this->a, sizeof this->a);
        pass_longs(&run, (cl_long[]){this->a_offset, this->a_row, this->a_column}, 3);
        pass(&run, &packed, sizeof packed);
        pass_real(&run, gemm->dtype, gemm->beta);
        pass(&run, &gemm->c->memory, sizeof gemm->c->memory);
        pass_longs(&run, (cl_long[]){gemm->c_offset, gemm->ldc}, 2);
        code = end_call(&run, queue, (size_t[]){divide_up(this->m, ROWS), panels}, one_by_one, event);
    }
    api->clReleaseMemObject(packed); /* the driver keeps it until the kernels are done */
    return code;
}

static cl_int launch_tiled(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_program *program,
                           const product *this, cl_event *event) {
    const pmm_gemm *gemm = this->gemm;
    call run = begin_call(engine, program, "gemm");
    pass_longs(&run, (cl_long[]){this->m, this->n, this->k}, 3);
    pass_real(&run, gemm->dtype, gemm->alpha);
    pass(&run, &this->a, sizeof this->a);
    pass_longs(&run, (cl_long[]){this->a_offset, this->a_row, this->a_column}, 3);
    pass(&run, &this->b, sizeof this->b);
    pass_longs(&run, (cl_long[]){this->b_offset, this->b_row, this->b_column}, 3);
    pass_real(&run, gemm->dtype, gemm->beta);
    pass(&run, &gemm->c->memory, sizeof gemm->c->memory);
    pass_longs(&run, (cl_long[]){gemm->c_offset, gemm->ldc}, 2);
    const size_t local[2] = {TILE_SIDE, TILE_SIDE};
    const size_t global[2] = {divide_up(this->n, TILE) * TILE_SIDE, divide_up(this->m, TILE) * TILE_SIDE};
    return end_call(&run, queue, global, local, event);
}

static bool note_launches(const pmm_engine_state *engine, pmm_program *program) {
    static const size_t side[2] = {TILE_SIDE, TILE_SIDE};
    bool is_new = pmm_program_note_launch(program, "gemm", 2, engine->tiled ? side : one_by_one);
    return (!engine->tiled && pmm_program_note_launch(program, "pack", 2, one_by_one)) || is_new;
}

static portmm_status enqueue_gemm(const pmm_engine_state *engine, const pmm_queue *queue, const pmm_gemm *gemm,
                                  cl_event *event, bool *new_launches) {
    pmm_program *program = NULL;
    product form = make_product(gemm);
    portmm_status status = get_program(engine, gemm->dtype, &program);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    cl_int code = engine->tiled ? launch_tiled(engine, queue, program, &form, event)
                                : launch_wide(engine, queue, program, &form, event);
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
    .dtypes = PORTMM_DTYPE_BIT(PORTMM_F32) | PORTMM_DTYPE_BIT(PORTMM_F64),
    .max_size = INT32_MAX,
    .max_index = INT64_MAX / 16, /* its kernels index with 64 bits */
    .open = open_engine,
    .close = pmm_cl_engine_close,
    .gemm = run_gemm,
    .capture_wanted = pmm_cl_engine_wanted,
    .capture = pmm_cl_engine_capture,
};
