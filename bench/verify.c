/* SPDX-License-Identifier: Apache-2.0 */
#include "verify.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A block of A, a panel of B and a block of the reference in double take 1.25 MB together: they stay in a level-2
 * cache. The reference must not cost more than the run it checks. */
enum { ROWS = 64, COLUMNS = 512, DEPTH = 256, SUBSET_ROWS = 64 };
static const double FULL_LIMIT = 0x1p30;

typedef struct reference {
    const bench_problem *problem;
    const void *a, *b, *c;
    int64_t rows;                                    /* rows that are compared */
    int64_t *row_list;                               /* which; NULL: all */
    double *a_block;                                 /* ROWS x DEPTH */
    double *b_panel;                                 /* DEPTH x COLUMNS */
    double *c_block;                                 /* ROWS x COLUMNS */
    double row_square[ROWS], column_square[COLUMNS]; /* of the rows of A and columns of B behind c_block */
    double error_square, a_square, b_square;
    bool element_wrong;
} reference;

static double read_element(bench_dtype dtype, const void *matrix, size_t index) {
    return dtype == BENCH_F32 ? (double)((const float *)matrix)[index] : ((const double *)matrix)[index];
}

static int64_t row_at(const reference *ref, int64_t position) {
    return ref->row_list != NULL ? ref->row_list[position] : position;
}

/* One row out of each of 64 equal strata, so that no part of C goes unseen. */
static int64_t *choose_rows(int64_t m) {
    int64_t *rows = bench_resize(NULL, SUBSET_ROWS, sizeof *rows);
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
    for (int64_t i = 0; i < SUBSET_ROWS; i++) {
        int64_t begin = i * m / SUBSET_ROWS, end = (i + 1) * m / SUBSET_ROWS;
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        rows[i] = begin + (int64_t)((state >> 33) % (uint64_t)(end - begin));
    }
    return rows;
}

static void load_a_block(reference *ref, int64_t i0, int64_t rows, int64_t l0, int64_t depth) {
    const bench_problem *p = ref->problem;
    int64_t lda = bench_lda(p);
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = row_at(ref, i0 + i);
        for (int64_t l = 0; l < depth; l++) {
            int64_t index = p->transa ? (l0 + l) * lda + row : row * lda + l0 + l;
            ref->a_block[i * DEPTH + l] = read_element(p->dtype, ref->a, (size_t)index);
        }
    }
    /* multiply_block works on four rows at a time. */
    for (int64_t i = rows; i % 4 != 0; i++) {
        memset(&ref->a_block[i * DEPTH], 0, DEPTH * sizeof(double));
    }
}

static void load_b_panel(reference *ref, int64_t l0, int64_t depth, int64_t j0, int64_t columns) {
    const bench_problem *p = ref->problem;
    int64_t ldb = bench_ldb(p);
    for (int64_t l = 0; l < depth; l++) {
        for (int64_t j = 0; j < columns; j++) {
            int64_t index = p->transb ? (j0 + j) * ldb + l0 + l : (l0 + l) * ldb + j0 + j;
            ref->b_panel[l * COLUMNS + j] = read_element(p->dtype, ref->b, (size_t)index);
        }
    }
}

static void multiply_block(reference *ref, int64_t rows, int64_t depth, int64_t columns) {
    for (int64_t i = 0; i < rows; i += 4) {
        const double *restrict a = &ref->a_block[i * DEPTH];
        double *restrict c0 = &ref->c_block[i * COLUMNS];
        double *restrict c1 = c0 + COLUMNS, *restrict c2 = c1 + COLUMNS, *restrict c3 = c2 + COLUMNS;
        /* Two steps in depth at once: half as many loads and stores of C, which bound this loop. */
        for (int64_t l = 0; l < depth; l += 2) {
            const double *restrict b = &ref->b_panel[l * COLUMNS];
            bool pair = l + 1 < depth;
            const double *restrict b_next = pair ? b + COLUMNS : b;
            double x0 = a[l], x1 = a[DEPTH + l], x2 = a[2 * DEPTH + l], x3 = a[3 * DEPTH + l];
            double y0 = pair ? a[l + 1] : 0, y1 = pair ? a[DEPTH + l + 1] : 0;
            double y2 = pair ? a[2 * DEPTH + l + 1] : 0, y3 = pair ? a[3 * DEPTH + l + 1] : 0;
            for (int64_t j = 0; j < columns; j++) {
                c0[j] += x0 * b[j] + y0 * b_next[j];
                c1[j] += x1 * b[j] + y1 * b_next[j];
                c2[j] += x2 * b[j] + y2 * b_next[j];
                c3[j] += x3 * b[j] + y3 * b_next[j];
            }
        }
    }
}

static void add_squares(reference *ref, int64_t rows, int64_t depth, int64_t columns) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t l = 0; l < depth; l++) {
            ref->row_square[i] += ref->a_block[i * DEPTH + l] * ref->a_block[i * DEPTH + l];
        }
    }
    for (int64_t l = 0; l < depth; l++) {
        for (int64_t j = 0; j < columns; j++) {
            ref->column_square[j] += ref->b_panel[l * COLUMNS + j] * ref->b_panel[l * COLUMNS + j];
        }
    }
}

static void compare_block(reference *ref, int64_t i0, int64_t rows, int64_t j0, int64_t columns) {
    const bench_problem *p = ref->problem;
    double factor = ((double)p->k + 2) * bench_unit_roundoff(p->dtype);
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = row_at(ref, i0 + i);
        for (int64_t j = 0; j < columns; j++) {
            double value = read_element(p->dtype, ref->c, (size_t)(row * p->n + j0 + j));
            double error = value - ref->c_block[i * COLUMNS + j];
            ref->error_square += error * error;
            /* One wrong element drowns in the norm of a large C. Written so that a NaN is wrong. */
            if (!(fabs(error) <= factor * sqrt(ref->row_square[i] * ref->column_square[j]))) {
                ref->element_wrong = true;
            }
        }
    }
}

static double add_up(const double *values, int64_t count) {
    double total = 0;
    for (int64_t i = 0; i < count; i++) {
        total += values[i];
    }
    return total;
}

static int64_t bound_block(int64_t total, int64_t begin, int64_t size) {
    return total - begin < size ? total - begin : size;
}

static void check_block(reference *ref, int64_t i0, int64_t j0) {
    int64_t rows = bound_block(ref->rows, i0, ROWS), columns = bound_block(ref->problem->n, j0, COLUMNS);
    memset(ref->c_block, 0, (size_t)ROWS * COLUMNS * sizeof(double));
    memset(ref->row_square, 0, sizeof ref->row_square);
    memset(ref->column_square, 0, sizeof ref->column_square);
    for (int64_t l0 = 0; l0 < ref->problem->k; l0 += DEPTH) {
        int64_t depth = bound_block(ref->problem->k, l0, DEPTH);
        load_a_block(ref, i0, rows, l0, depth);
        load_b_panel(ref, l0, depth, j0, columns);
        multiply_block(ref, rows, depth, columns);
        add_squares(ref, rows, depth, columns);
    }
    /* Every element of A and B counts once in its norm. */
    ref->a_square += j0 == 0 ? add_up(ref->row_square, rows) : 0;
    ref->b_square += i0 == 0 ? add_up(ref->column_square, columns) : 0;
    compare_block(ref, i0, rows, j0, columns);
}

static bench_verdict judge(const reference *ref) {
    double scale = sqrt((double)ref->problem->k + 2) * sqrt(ref->a_square) * sqrt(ref->b_square);
    double error = sqrt(ref->error_square);
    bench_verdict verdict = {.rows = ref->rows};
    verdict.relative_error = error == 0 ? 0 : error / scale;
    verdict.correct = verdict.relative_error < bench_unit_roundoff(ref->problem->dtype) && !ref->element_wrong;
    return verdict;
}

bench_verdict bench_verify(const bench_problem *problem, const void *a, const void *b, const void *c) {
    bool all = bench_flop_count(problem) / 2 <= FULL_LIMIT || problem->m <= SUBSET_ROWS;
    reference ref = {.problem = problem, .a = a, .b = b, .c = c, .rows = all ? problem->m : SUBSET_ROWS};
    ref.row_list = all ? NULL : choose_rows(problem->m);
    ref.a_block = bench_resize(NULL, (size_t)ROWS * DEPTH, sizeof(double));
    ref.b_panel = bench_resize(NULL, (size_t)DEPTH * COLUMNS, sizeof(double));
    ref.c_block = bench_resize(NULL, (size_t)ROWS * COLUMNS, sizeof(double));
    for (int64_t i0 = 0; i0 < ref.rows; i0 += ROWS) {
        for (int64_t j0 = 0; j0 < problem->n; j0 += COLUMNS) {
            check_block(&ref, i0, j0);
        }
    }
    free(ref.row_list);
    free(ref.a_block);
    free(ref.b_panel);
    free(ref.c_block);
    return judge(&ref);
}
