/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The starter for CPU-like devices: C := alpha * A * B + beta * C, row-major, on wide vectors and without local memory.
 * REAL is the element type, W the elements of a vector. A may have any strides; B is first packed into panels, so that
 * the inner loop reads memory in order and needs no edge.
 */
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
typedef CAT(REAL, W) wide;

/* One work-item for 64 rows of each panel: W columns of B, zeros beyond its edge. */
kernel void pack(long n, long k, global const REAL *b, long offset, long row, long column, global REAL *panels) {
    long first = get_global_id(0) * 64, panel = get_global_id(1), width = min(n - panel * W, (long)W);
    global REAL *to = panels + (panel * k + first) * W;
    b += offset + first * row + panel * W * column;
    for (long p = first; p < min(first + 64, k); p++, b += row, to += W)
        for (long j = 0; j < W; j++)
            to[j] = j < width ? b[j * column] : 0;
}

/* One work-item for each 8 rows and W columns of C. Rows beyond the edge repeat the last one and are not stored. */
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

kernel void gemm(long m, long n, long k, REAL alpha, global const REAL *a, long a_offset, long a_row, long a_column,
                 global const REAL *panels, REAL beta, global REAL *c, long c_offset, long c_row) {
    long i = get_global_id(0) * 8, j = get_global_id(1) * W;
    panels += j * k;
    a += a_offset;
    c += c_offset + i * c_row + j;
#define START(r)                                                                                                       \
    global const REAL *a##r = a + min(i + r, m - 1) * a_row;                                                           \
    wide sum##r = 0;
    EACH_ROW(START)
    for (long p = 0; p < k; p++) {
        wide b = CAT(vload, W)(p, panels);
#define STEP(r) sum##r += a##r[p * a_column] * b;
        EACH_ROW(STEP)
    }
    REAL part[W];
#define FINISH(r)                                                                                                      \
    if (i + r < m) {                                                                                                   \
        sum##r *= alpha;                                                                                               \
        if (n - j >= W) {                                                                                              \
            if (beta != 0)                                                                                             \
                sum##r += beta * CAT(vload, W)(0, c + r * c_row);                                                      \
            CAT(vstore, W)(sum##r, 0, c + r * c_row);                                                                  \
        } else {                                                                                                       \
            CAT(vstore, W)(sum##r, 0, part);                                                                           \
            for (long e = 0; e < n - j; e++)                                                                           \
                c[r * c_row + e] = beta != 0 ? part[e] + beta * c[r * c_row + e] : part[e];                            \
        }                                                                                                              \
    }
    EACH_ROW(FINISH)
}
