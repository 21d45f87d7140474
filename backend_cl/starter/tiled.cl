/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The starter for GPU-like devices: C := alpha * A * B + beta * C, row-major, A and B with any strides. A work-group of
 * 16 x 16 makes a tile of 64 x 64 from slices in local memory; a work-item holds 4 x 4 sums. element.cl comes before.
 */
#define TILE 64
#define SLICE (16 / PARTS)

/* One slice of a matrix into local memory, zeros beyond its edges. Neighbouring work-items read neighbours in memory,
 * whichever of the two strides is 1. */
void load(local number *slice, global const stored *from, long rows, long steps, long row, long step, int conjugate,
          int t) {
    for (int e = t; e < TILE * SLICE; e += 256) {
        int i = step == 1 ? e / SLICE : e % TILE, p = step == 1 ? e % SLICE : e / TILE;
        number x = 0;
        if (i < rows && p < steps)
            x = GET(from, i * row + p * step);
        slice[p * (TILE + 4) + i] = TURN(x, conjugate);
    }
}

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
gemm(long m, long n, long k, number alpha, global const stored *a, long a_offset, long a_row, long a_column,
     long a_stride, int a_conjugate, global const stored *b, long b_offset, long b_row, long b_column, long b_stride,
     int b_conjugate, number beta, global stored *c, long c_offset, long c_row, long c_stride, BATCH BIAS) {
    local number a_slice[SLICE * (TILE + 4)], b_slice[SLICE * (TILE + 4)];
    int x = get_local_id(0), y = get_local_id(1), t = y * 16 + x;
    long i = get_group_id(1) * TILE, j = get_group_id(0) * TILE, product = first + get_group_id(2);
    a += a_offset + find(places, count, OF_A, product, a_stride) + i * a_row;
    b += b_offset + find(places, count, OF_B, product, b_stride) + j * b_column;
    c_offset += find(places, count, OF_C, product, c_stride);
    MOVE_BIAS(product);
#if PARTS == 1
    CAT(REAL, 4) sums[4] = {0, 0, 0, 0};
#else
    number sums[4][4] = {{0}};
    for (int r = 0; r < 4; r++)
        for (int e = 0; e < 4; e++)
            sums[r][e] = 0;
#endif
    for (long p = 0; p < k; p += SLICE) {
        load(a_slice, a + p * a_column, m - i, k - p, a_row, a_column, a_conjugate, t);
        load(b_slice, b + p * b_row, n - j, k - p, b_column, b_row, b_conjugate, t);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = 0; s < SLICE; s++) {
            local const number *as = a_slice + s * (TILE + 4) + 4 * y, *bs = b_slice + s * (TILE + 4) + 4 * x;
#if PARTS == 1
            CAT(REAL, 4) left = vload4(0, as), right = vload4(0, bs);
            sums[0] += left.x * right;
            sums[1] += left.y * right;
            sums[2] += left.z * right;
            sums[3] += left.w * right;
#else
            for (int r = 0; r < 4; r++)
                for (int e = 0; e < 4; e++)
                    sums[r][e] += times(as[r], bs[e]);
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int r = 0; r < 4; r++) {
        number row[4];
#if PARTS == 1
        vstore4(sums[r], 0, row);
#else
        for (int e = 0; e < 4; e++)
            row[e] = sums[r][e];
#endif
        for (int e = 0; e < 4; e++) {
            long ci = i + 4 * y + r, cj = j + 4 * x + e;
            if (ci < m && cj < n) {
                long at = c_offset + ci * c_row + cj;
                number sum = times(alpha, row[e]);
                if (!IS_ZERO(beta))
                    sum += times(beta, GET(c, at));
                PUT(c, at, FINISH_SUM(sum, ci, cj));
            }
        }
    }
}
