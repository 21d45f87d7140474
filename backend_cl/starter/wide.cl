/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The starter for CPU-like devices: C := alpha * A * B + beta * C, row-major, on wide vectors and without local memory.
 * W is the elements of a vector. A may have any strides; B is first packed into panels, so that the inner loop reads
 * memory in order and needs no edge. element.cl comes before.
 */
typedef CAT(REAL, W) wide;

/* One work-item for 64 rows of each panel: W columns of B, zeros beyond its edge; of complex ones the W real parts, then
 * the others. */
kernel void pack(long n, long k, global const stored *b, long offset, long row, long column, long stride, int conjugate,
                 BATCH, global REAL *panels) {
    long begin = get_global_id(0) * 64, panel = get_global_id(1), width = min(n - panel * W, (long)W);
    global REAL *to = panels + ((get_global_id(2) * get_global_size(1) + panel) * k + begin) * (W * PARTS);
    b += offset + find(places, count, OF_B, first + get_global_id(2), stride) + begin * row + panel * W * column;
    for (long p = begin; p < min(begin + 64, k); p++, b += row, to += W * PARTS)
        for (long j = 0; j < W; j++) {
            number x = 0;
            if (j < width)
                x = GET(b, j * column);
#if PARTS == 1
            to[j] = x;
#else
            to[j] = x.x;
            to[W + j] = conjugate ? -x.y : x.y;
#endif
        }
}

/* One work-item for each 8 rows and W columns of C. Rows beyond the edge repeat the last one and are not stored. */
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

kernel void gemm(long m, long n, long k, number alpha, global const stored *a, long a_offset, long a_row, long a_column,
                 long a_stride, int a_conjugate, global const REAL *panels, long panels_stride, number beta,
                 global stored *c, long c_offset, long c_row, long c_stride, BATCH BIAS) {
    long i = get_global_id(0) * 8, j = get_global_id(1) * W, product = first + get_global_id(2);
    panels += get_global_id(2) * panels_stride + j * k * PARTS;
    a += a_offset + find(places, count, OF_A, product, a_stride);
    c += c_offset + find(places, count, OF_C, product, c_stride) + i * c_row + j;
    MOVE_BIAS(product);
#if PARTS == 1
#define START(r)                                                                                                       \
    global const stored *a##r = a + min(i + r, m - 1) * a_row;                                                         \
    wide sum##r = 0;
#define STEP(r) sum##r += GET(a##r, p * a_column) * b;
#else
    const REAL sign = a_conjugate ? -1 : 1;
#define START(r)                                                                                                       \
    global const stored *a##r = a + min(i + r, m - 1) * a_row;                                                         \
    wide sum##r = 0, im##r = 0;
#define STEP(r)                                                                                                        \
    {                                                                                                                  \
        REAL x = a##r[p * a_column].x, y = sign * a##r[p * a_column].y;                                                \
        sum##r += x * b - y * b_im;                                                                                    \
        im##r += x * b_im + y * b;                                                                                     \
    }
#endif
    EACH_ROW(START)
    for (long p = 0; p < k; p++) {
        wide b = CAT(vload, W)(p * PARTS, panels);
#if PARTS == 2
        wide b_im = CAT(vload, W)(p * PARTS + 1, panels);
#endif
        EACH_ROW(STEP)
    }
    REAL part[W * PARTS];
#if PARTS == 1
#define SPILL(r)                                                                                                       \
    CAT(vstore, W)(sum##r, 0, part);
#define TAKE(e) part[e]
#else
#define SPILL(r)                                                                                                       \
    CAT(vstore, W)(sum##r, 0, part);                                                                                   \
    CAT(vstore, W)(im##r, 1, part);
#define TAKE(e) (number)(part[e], part[W + e])
#endif
#if defined(IS_WHOLE) && PARTS == 1 && !defined(EPILOGUE)
#define STORE_WHOLE(r)                                                                                                 \
    if (n - j >= W) {                                                                                                  \
        sum##r *= alpha;                                                                                               \
        if (beta != 0)                                                                                                 \
            sum##r += beta * CAT(vload, W)(0, c + r * c_row);                                                          \
        CAT(vstore, W)(sum##r, 0, c + r * c_row);                                                                      \
    } else
#else
#define STORE_WHOLE(r)
#endif
#define FINISH(r)                                                                                                      \
    if (i + r < m) {                                                                                                   \
        STORE_WHOLE(r) {                                                                                               \
            SPILL(r)                                                                                                   \
            for (long e = 0; e < min(n - j, (long)W); e++) {                                                           \
                number sum = times(alpha, TAKE(e));                                                                    \
                if (!IS_ZERO(beta))                                                                                    \
                    sum += times(beta, GET(c, r * c_row + e));                                                         \
                PUT(c, r * c_row + e, FINISH_SUM(sum, i + r, j + e));                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }
    EACH_ROW(FINISH)
}
