// SPDX-License-Identifier: Apache-2.0
// What gemm.cu does, with the threads of a block one after the other between two barriers.
#include "cuda/kernels.h"

#include "starter/tile.hpp"

#include <cstring>
#include <vector>

template <typename tile> static void run_block(const pmm_cuda_product &product, unsigned block, unsigned in_batch) {
    typename tile::slices shared;
    std::vector<tile> threads;
    threads.reserve(tile::threads);
    for (int t = 0; t < tile::threads; t++)
        threads.emplace_back(product, block, in_batch, t);
    for (tile &each : threads)
        each.fetch();
    for (int turn = 0;; turn ^= 1) {
        for (const tile &each : threads)
            each.store(shared, turn);
        const bool more = threads[0].has_more();
        for (tile &each : threads) {
            if (more)
                each.fetch();
            each.multiply(shared, turn);
        }
        if (!more)
            break;
    }
    for (const tile &each : threads)
        each.finish();
}

template <typename tile>
static int run(const pmm_cuda_product &product, unsigned blocks, unsigned batch, unsigned threads) {
    if (threads != (unsigned)tile::threads)
        return 0;
    for (unsigned z = 0; z < batch; z++)
        for (unsigned x = 0; x < blocks; x++)
            run_block<tile>(product, x, z);
    return 1;
}

int test_cuda_run_kernel(const char *name, int is_f64, const pmm_cuda_product *product, unsigned blocks, unsigned batch,
                         unsigned threads) {
#define TRY(rows, columns, depth, thread_rows, thread_columns, speed)                                                  \
    if (std::strcmp(name, "gemm_" #rows "x" #columns) == 0)                                                            \
        return is_f64 != 0 ? run<pmm_tile<double, rows, columns, depth, thread_rows, thread_columns>>(                 \
                                 *product, blocks, batch, threads)                                                     \
                           : run<pmm_tile<float, rows, columns, depth, thread_rows, thread_columns>>(*product, blocks, \
                                                                                                     batch, threads);
    PMM_CUDA_TILES(TRY)
#undef TRY
    return 0;
}
