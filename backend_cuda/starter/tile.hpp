/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread's part of a tile of C := alpha * A * B + beta * C. Plain C++, so that the tests can run it on the host,
 * thread by thread. What happens between two barriers is one member function:
 *
 *     fetch            the next slice of A and B, from memory into registers
 *     store            from there into the slices that all threads of the block share
 *     -- barrier --
 *     multiply         the thread's sums, out of the shared slices
 *     ...              from `fetch` on until has_more() is false; two slices take turns, so that one barrier is enough
 *     finish           the sums into C
 */
#ifndef PMM_CUDA_TILE_HPP
#define PMM_CUDA_TILE_HPP

#include "kernels.h"

#ifdef __CUDACC__
#define PMM_INLINE __device__ __forceinline__
#define PMM_UNROLL _Pragma("unroll")
#else
#define PMM_INLINE inline
#define PMM_UNROLL
#endif

/* What is moved in one instruction: up to 16 bytes. */
template <typename real, int count> struct alignas(count * sizeof(real)) pmm_pack { real values[count]; };

/* One operand as a block sees it: `side` rows of A, or columns of B, along its outer direction; the inner one is k.
 * The elements of a slice are dealt out so that neighbouring threads read neighbours in memory, whichever of the two
 * directions lies dense. */
template <typename real, int side, int depth, int threads> class pmm_operand {
    static const int count = side * depth / threads;
    static_assert(side * depth % threads == 0 && threads % depth == 0 && threads % side == 0, "elements are left over");

    const real *from; /* this thread's first element of the next slice */
    int64_t outer_step, inner_step;
    int64_t outer_left; /* from the tile's edge to the matrix's */
    int thread;
    bool inner_is_dense;
    real next[count];

    template <bool inner_dense> PMM_INLINE int outer(int element) const {
        return inner_dense ? thread / depth + element * (threads / depth) : thread % side;
    }
    template <bool inner_dense> PMM_INLINE int inner(int element) const {
        return inner_dense ? thread % depth : thread / side + element * (threads / side);
    }

    template <bool inner_dense, bool checked> PMM_INLINE void fetch(int64_t inner_left) {
        const int64_t step = inner_dense ? threads / depth * outer_step : threads / side * inner_step;
        const real *at = from;
        PMM_UNROLL
        for (int e = 0; e < count; e++, at += step)
            next[e] = !checked || (outer<inner_dense>(e) < outer_left && inner<inner_dense>(e) < inner_left) ? *at : 0;
    }

    template <bool inner_dense> PMM_INLINE void store(real *slice, int pitch) const {
        PMM_UNROLL
        for (int e = 0; e < count; e++)
            slice[inner<inner_dense>(e) * pitch + outer<inner_dense>(e)] = next[e];
    }

  public:
    PMM_INLINE void init(const real *matrix, int64_t outer_first, int64_t outer_size, int64_t outer_stride,
                         int64_t inner_stride, int thread_number) {
        thread = thread_number;
        inner_is_dense = inner_stride == 1;
        outer_step = outer_stride;
        inner_step = inner_stride;
        outer_left = outer_size - outer_first;
        const int64_t o = inner_is_dense ? outer<true>(0) : outer<false>(0);
        const int64_t i = inner_is_dense ? inner<true>(0) : inner<false>(0);
        from = matrix + (outer_first + o) * outer_step + i * inner_step;
    }

    /* Zeros beyond the matrix. */
    PMM_INLINE void fetch(int64_t inner_left) {
        const bool is_whole = outer_left >= side && inner_left >= depth;
        if (inner_is_dense)
            is_whole ? fetch<true, false>(inner_left) : fetch<true, true>(inner_left);
        else
            is_whole ? fetch<false, false>(inner_left) : fetch<false, true>(inner_left);
        from += depth * inner_step;
    }

    PMM_INLINE void store(real *slice, int pitch) const {
        inner_is_dense ? store<true>(slice, pitch) : store<false>(slice, pitch);
    }
};

template <typename type, int tile_m, int tile_n, int depth, int thread_m, int thread_n> class pmm_tile {
  public:
    typedef type real;
    static const int threads_n = tile_n / thread_n, threads = tile_m / thread_m * threads_n;

  private:
    static const int width = 16 / sizeof(real); /* of a pack */
    static const int pitch_m = tile_m + width, pitch_n = tile_n + width;
    static_assert(thread_m % width == 0 && thread_n % width == 0, "a thread's part is made of packs");
    typedef pmm_pack<real, width> pack;

  public:
    /* Shared by the threads of a block: two of each, in turns. */
    struct slices {
        alignas(16) real a[2][depth * pitch_m];
        alignas(16) real b[2][depth * pitch_n];
    };

    PMM_INLINE pmm_tile(const pmm_cuda_product &given, int64_t block, int64_t in_batch, int thread)
        : product(given), left(given.k) {
        product.a += in_batch * product.a_next * sizeof(real);
        product.b += in_batch * product.b_next * sizeof(real);
        product.c += in_batch * product.c_next * sizeof(real);
        place(block);
        a.init(reinterpret_cast<const real *>(product.a), first_m, product.m, product.a_row, product.a_column, thread);
        b.init(reinterpret_cast<const real *>(product.b), first_n, product.n, product.b_column, product.b_row, thread);
        in_m = thread / threads_n * width;
        in_n = thread % threads_n * width;
        PMM_UNROLL
        for (int i = 0; i < thread_m; i++) {
            PMM_UNROLL
            for (int j = 0; j < thread_n; j++)
                sums[i][j] = 0;
        }
    }

    PMM_INLINE bool has_more() const {
        return left > 0;
    }

    PMM_INLINE void fetch() {
        a.fetch(left);
        b.fetch(left);
        left -= depth;
    }

    PMM_INLINE void store(slices &shared, int turn) const {
        a.store(shared.a[turn], pitch_m);
        b.store(shared.b[turn], pitch_n);
    }

    PMM_INLINE void multiply(const slices &shared, int turn) {
        PMM_UNROLL
        for (int p = 0; p < depth; p++) {
            real as[thread_m], bs[thread_n];
            load<thread_m, tile_m>(as, shared.a[turn] + p * pitch_m + in_m);
            load<thread_n, tile_n>(bs, shared.b[turn] + p * pitch_n + in_n);
            PMM_UNROLL
            for (int i = 0; i < thread_m; i++) {
                PMM_UNROLL
                for (int j = 0; j < thread_n; j++)
                    sums[i][j] += as[i] * bs[j];
            }
        }
    }

    PMM_INLINE void finish() const {
        const bool packed = (product.c % sizeof(pack) == 0) && product.c_row % width == 0;
        PMM_UNROLL
        for (int i = 0; i < thread_m; i++) {
            const int64_t row = first_m + in_m + spread<thread_m, tile_m>(i);
            if (row >= product.m)
                continue;
            PMM_UNROLL
            for (int j = 0; j < thread_n; j += width)
                finish_pack(row, first_n + in_n + spread<thread_n, tile_n>(j), &sums[i][j], packed);
        }
    }

  private:
    pmm_cuda_product product;
    int64_t left; /* of k, for the next fetch */
    int64_t first_m, first_n;
    int in_m, in_n; /* of the thread's first pack in the tile */
    pmm_operand<real, tile_m, depth, threads> a;
    pmm_operand<real, tile_n, depth, threads> b;
    real sums[thread_m][thread_n];

    /* Blocks go through bands of tiles, column by column, so that those that run together share rows of A and columns
     * of B in the cache. */
    PMM_INLINE void place(int64_t block) {
        const int64_t band_height = 8;
        const int64_t tiles_m = (product.m + tile_m - 1) / tile_m, tiles_n = (product.n + tile_n - 1) / tile_n;
        const int64_t band = block / (band_height * tiles_n), in_band = block % (band_height * tiles_n);
        const int64_t below = tiles_m - band * band_height, height = below < band_height ? below : band_height;
        first_m = (band * band_height + in_band % height) * tile_m;
        first_n = in_band / height * tile_n;
    }

    /* Where the element of a thread lies, from its first one: its packs are spread evenly over the side, so that
     * neighbouring threads have neighbouring packs. */
    template <int mine, int side> static PMM_INLINE int spread(int element) {
        return element / width * (side / (mine / width)) + element % width;
    }

    template <int mine, int side> static PMM_INLINE void load(real (&to)[mine], const real *from) {
        PMM_UNROLL
        for (int e = 0; e < mine; e += width) {
            const pack values = *reinterpret_cast<const pack *>(from + spread<mine, side>(e));
            PMM_UNROLL
            for (int v = 0; v < width; v++)
                to[e + v] = values.values[v];
        }
    }

    PMM_INLINE void finish_pack(int64_t row, int64_t column, const real *sum, bool packed) const {
        const real alpha = (real)product.alpha, beta = (real)product.beta;
        real *c = reinterpret_cast<real *>(product.c) + row * product.c_row + column;
        if (packed && column + width <= product.n) {
            pack values;
            if (beta != 0)
                values = *reinterpret_cast<const pack *>(c);
            PMM_UNROLL
            for (int v = 0; v < width; v++)
                values.values[v] = beta != 0 ? alpha * sum[v] + beta * values.values[v] : alpha * sum[v];
            *reinterpret_cast<pack *>(c) = values;
            return;
        }
        PMM_UNROLL
        for (int v = 0; v < width; v++)
            if (column + v < product.n)
                c[v] = beta != 0 ? alpha * sum[v] + beta * c[v] : alpha * sum[v];
    }
};

#endif
