/* SPDX-License-Identifier: Apache-2.0 */
/* Engine `starter`: kernels of our own, made to be ready soon. */
#include <stdlib.h>

#include "cuda_state.h"
#include "kernels.h"
#include "module.h"

typedef struct tile {
    const char *kernel;
    int64_t rows, columns;
    unsigned threads;
    int64_t speed;
} tile;

static const tile tiles[] = {
#define TILE(rows, columns, depth, thread_rows, thread_columns, speed)                                                 \
    {"gemm_" #rows "x" #columns, rows, columns, (rows) / (thread_rows) * ((columns) / (thread_columns)), speed},
    PMM_CUDA_TILES(TILE)
#undef TILE
};
enum { TILES = sizeof tiles / sizeof *tiles, TYPES = 2, MAX_BATCH = 65535 };

/* The kernels of an element type; under host->lock. */
typedef struct kernels {
    CUmodule module; /* NULL: not loaded yet */
    CUfunction functions[TILES];
} kernels;

struct pmm_engine_state {
    pmm_device *device;
    kernels types[TYPES];
};

static portmm_status open_engine(pmm_device *device, pmm_engine_state **engine) {
    pmm_engine_state *made = calloc(1, sizeof *made);
    if (made == NULL)
        return device->host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cuda: no memory for an engine");
    made->device = device;
    *engine = made;
    return PORTMM_STATUS_SUCCESS;
}

static void close_engine(pmm_engine_state *engine) {
    if (pmm_cuda_enter(engine->device) == PORTMM_STATUS_SUCCESS) {
        for (int i = 0; i < TYPES; i++)
            if (engine->types[i].module != NULL)
                engine->device->api->cuModuleUnload(engine->types[i].module);
        pmm_cuda_leave(engine->device);
    }
    free(engine);
}

static portmm_status load_kernels(pmm_device *device, portmm_dtype dtype, kernels *loaded) {
    const pmm_host *host = device->host;
    kernels made = {0};
    portmm_status status = pmm_cuda_module_load(device, dtype, &made.module);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    host->span_begin(host, PORTMM_PHASE_KERNEL_CREATE, "cuModuleGetFunction");
    for (int i = 0; i < TILES && status == PORTMM_STATUS_SUCCESS; i++)
        status = pmm_cuda_check(device, "cuModuleGetFunction",
                                device->api->cuModuleGetFunction(&made.functions[i], made.module, tiles[i].kernel));
    host->span_end(host);
    if (status == PORTMM_STATUS_SUCCESS)
        *loaded = made;
    else
        device->api->cuModuleUnload(made.module);
    return status;
}

static portmm_status get_kernels(pmm_engine_state *engine, portmm_dtype dtype, const kernels **found) {
    const pmm_host *host = engine->device->host;
    kernels *wanted = &engine->types[dtype == PORTMM_F64];
    portmm_status status = PORTMM_STATUS_SUCCESS;
    host->lock(host);
    if (wanted->module == NULL)
        status = load_kernels(engine->device, dtype, wanted);
    host->unlock(host);
    if (status == PORTMM_STATUS_SUCCESS)
        *found = wanted;
    return status;
}

/* ---- launches ---- */

static size_t get_size(portmm_dtype dtype) {
    return dtype == PORTMM_F64 ? sizeof(double) : sizeof(float);
}

/* Product `number` of a batch, and with strides those that follow. A column-major product is the row-major one of the
 * transposes, C^T := op(B)^T * op(A)^T: the same strides, with A and B in each other's place. */
static pmm_cuda_product make_product(const pmm_gemm *gemm, int64_t number) {
    const uint64_t size = get_size(gemm->dtype);
    const pmm_cuda_place at = pmm_cuda_place_in_batch(gemm, number);
    bool a_transposed = gemm->transa != PORTMM_NO_TRANS, b_transposed = gemm->transb != PORTMM_NO_TRANS;
    pmm_cuda_product this = {.a = gemm->a->address + (uint64_t)at.a * size,
                             .b = gemm->b->address + (uint64_t)at.b * size,
                             .c = gemm->c->address + (uint64_t)at.c * size,
                             .m = gemm->m,
                             .n = gemm->n,
                             .k = gemm->k,
                             .a_row = a_transposed ? 1 : gemm->lda,
                             .a_column = a_transposed ? gemm->lda : 1,
                             .b_row = b_transposed ? 1 : gemm->ldb,
                             .b_column = b_transposed ? gemm->ldb : 1,
                             .c_row = gemm->ldc,
                             .a_next = gemm->a_stride,
                             .b_next = gemm->b_stride,
                             .c_next = gemm->c_stride,
                             .alpha = gemm->alpha,
                             .beta = gemm->beta};
    if (gemm->layout == PORTMM_ROW_MAJOR)
        return this;
    pmm_cuda_product swapped = this;
    swapped.a = this.b;
    swapped.a_row = this.b_row;
    swapped.a_column = this.b_column;
    swapped.a_next = this.b_next;
    swapped.b = this.a;
    swapped.b_row = this.a_row;
    swapped.b_column = this.a_column;
    swapped.b_next = this.a_next;
    swapped.m = this.n;
    swapped.n = this.m;
    return swapped;
}

static int64_t count_blocks(const tile *this, const pmm_cuda_product *product) {
    return (product->m + this->rows - 1) / this->rows * ((product->n + this->columns - 1) / this->columns);
}

/* The multiprocessors work in rounds; the tile with which they take the least time. */
static int choose_tile(const pmm_device *device, const pmm_cuda_product *product, int64_t batch) {
    int64_t processors = device->found->info.compute_units > 0 ? device->found->info.compute_units : 1;
    double best_cost = 0;
    int best = 0;
    for (int i = 0; i < TILES; i++) {
        double blocks = (double)count_blocks(&tiles[i], product) * (double)batch;
        double whole = (double)(int64_t)(blocks / (double)processors);
        double rounds = whole * (double)processors < blocks ? whole + 1 : whole;
        double cost = rounds * (double)(tiles[i].rows * tiles[i].columns) / (double)tiles[i].speed;
        if (i == 0 || cost < best_cost) {
            best_cost = cost;
            best = i;
        }
    }
    return best;
}

static portmm_status launch(pmm_queue *queue, const kernels *loaded, pmm_cuda_product *product, int64_t batch) {
    pmm_device *device = queue->device;
    int chosen = choose_tile(device, product, batch);
    int64_t blocks = count_blocks(&tiles[chosen], product);
    if (blocks > INT32_MAX)
        return device->host->fail(PORTMM_STATUS_UNSUPPORTED, "cuda: the starter cannot make a product of %lld tiles",
                                  (long long)blocks);
    void *arguments[] = {product};
    return pmm_cuda_check(device, "cuLaunchKernel of the starter",
                          device->api->cuLaunchKernel(loaded->functions[chosen], (unsigned)blocks, 1, (unsigned)batch,
                                                      tiles[chosen].threads, 1, 1, 0, queue->stream, arguments, NULL));
}

static portmm_status launch_products(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm) {
    const kernels *loaded;
    portmm_status status = get_kernels(engine, gemm->dtype, &loaded);
    bool has_lists = pmm_cuda_has_lists(gemm);
    for (int64_t first = 0; first < gemm->batch_count && status == PORTMM_STATUS_SUCCESS;) {
        int64_t left = gemm->batch_count - first, count = has_lists ? 1 : left < MAX_BATCH ? left : MAX_BATCH;
        pmm_cuda_product product = make_product(gemm, first);
        status = launch(queue, loaded, &product, count);
        first += count;
    }
    return status;
}

static portmm_status run_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                              pmm_event *const *wait_list, pmm_event **event) {
    return pmm_cuda_engine_gemm(engine, queue, gemm, wait_count, wait_list, event, launch_products);
}

const pmm_engine pmm_cuda_starter = {
    .name = "starter",
    .dtypes = PORTMM_DTYPE_BIT(PORTMM_F32) | PORTMM_DTYPE_BIT(PORTMM_F64),
    .features = PMM_ENGINE_BATCHES | PMM_ENGINE_QUIET,
    .max_size = INT32_MAX,
    .max_index = INT64_MAX / 16, /* its kernels index with 64 bits */
    .open = open_engine,
    .close = close_engine,
    .gemm = run_gemm,
    .capture_wanted = pmm_cuda_never_wants_capture,
    .capture = pmm_cuda_capture_nothing,
};
