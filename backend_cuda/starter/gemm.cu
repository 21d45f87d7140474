/* SPDX-License-Identifier: Apache-2.0 */
/* The starter's kernels for one element type, PMM_REAL. */
#include "tile.hpp"

template <typename tile> __device__ __forceinline__ void multiply(const pmm_cuda_product &product) {
    __shared__ typename tile::slices shared;
    tile mine(product, blockIdx.x, blockIdx.z, threadIdx.x);
    mine.fetch();
    for (int turn = 0;; turn ^= 1) {
        mine.store(shared, turn);
        __syncthreads();
        const bool more = mine.has_more();
        if (more)
            mine.fetch();
        mine.multiply(shared, turn);
        if (!more)
            break;
    }
    mine.finish();
}

#define DEFINE_KERNEL(rows, columns, depth, thread_rows, thread_columns, speed)                                        \
    extern "C" __global__ void __launch_bounds__(rows / thread_rows * columns / thread_columns)                        \
        gemm_##rows##x##columns(const pmm_cuda_product product) {                                                      \
        multiply<pmm_tile<PMM_REAL, rows, columns, depth, thread_rows, thread_columns>>(product);                      \
    }
PMM_CUDA_TILES(DEFINE_KERNEL)
