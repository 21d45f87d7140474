/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The starter for GPU-like devices: C := alpha * A * B + beta * C, row-major, A and B with any strides. A work-group of
 * 16 x 16 makes a tile of 64 x 64 from slices in local memory; a work-item holds 4 x 4 sums. REAL is the element type.
 */
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
typedef CAT(REAL, 4) quad;

#define TILE 64
#define SLICE 16

/* One slice of a matrix into local memory, zeros beyond its edges. Neighbouring work-items read neighbours in memory,
 * whichever of the two strides is 1. */
void load(local REAL *slice, global const REAL *from, long rows, long steps, long row, long step, int t) {
    for (int e = t; e < TILE * SLICE; e += 256) {
        int i = step == 1 ? e / SLICE : e % TILE, p = step == 1 ? e % SLICE : e / TILE;
        slice[p * (TILE + 4) + i] = i < rows && p < steps ? from[i * row + p * step] : 0;
    }
}

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void gemm(long m, long n, long k, REAL alpha,
                                                                  global const REAL *a, long a_offset, long a_row,
                                                                  long a_column, global const REAL *b, long b_offset,
                                                                  long b_row, long b_column, REAL beta, global REAL *c,
                                                                  long c_offset, long c_row) {
    local REAL a_slice[SLICE * (TILE + 4)], b_slice[SLICE * (TILE + 4)];
    int x = get_local_id(0), y = get_local_id(1), t = y * 16 + x;
    long i = get_group_id(1) * TILE, j = get_group_id(0) * TILE;
    quad sums[4] = {0, 0, 0, 0};
    a += a_offset + i * a_row;
    b += b_offset + j * b_column;
    for (long p = 0; p < k; p += SLICE) {
        load(a_slice, a + p * a_column, m - i, k - p, a_row, a_column, t);
        load(b_slice, b + p * b_row, n - j, k - p, b_column, b_row, t);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = 0; s < SLICE; s++) {
            quad as = vload4(0, a_slice + s * (TILE + 4) + 4 * y), bs = vload4(0, b_slice + s * (TILE + 4) + 4 * x);
            sums[0] += as.x * bs;
            sums[1] += as.y * bs;
            sums[2] += as.z * bs;
            sums[3] += as.w * bs;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int r = 0; r < 4; r++) {
        REAL row[4];
        vstore4(alpha * sums[r], 0, row);
        for (int e = 0; e < 4; e++) {
            long ci = i + 4 * y + r, cj = j + 4 * x + e;
            if (ci < m && cj < n) {
                global REAL *at = c + c_offset + ci * c_row + cj;
                *at = beta != 0 ? row[e] + beta * *at : row[e];
            }
        }
    }
}
