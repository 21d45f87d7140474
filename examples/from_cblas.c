/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of docs/from-cblas.md: each step from CBLAS to libportmm, with the CBLAS call it takes the place of. Both
 * are run, and have to give the same.
 *
 *     from_cblas [BACKEND]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#include <portmm/portmm.h>

enum { M = 37, N = 29, K = 43, COUNT = 8, PAD = 3 };

static int failures;

/* One place for what to do about an error. */
static void check(portmm_status status) {
    if (status == PORTMM_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", portmm_status_name(status), portmm_last_error());
    exit(status == PORTMM_STATUS_UNAVAILABLE ? 77 : 1); /* 77: a test run counts it as skipped */
}

/* Whole numbers: exact, whatever the order of summation. */
static void fill(double *matrix, int count, int step) {
    for (int i = 0; i < count; i++)
        matrix[i] = i * step % 9 - 4;
}

static void expect_same(const char *what, const void *before, const void *after, size_t size) {
    int same = memcmp(before, after, size) == 0;
    printf("%-24s %s\n", what, same ? "the same" : "DIFFERENT");
    failures += !same;
}

static void replace_a_call(portmm_context *context, const double *a, const double *b) {
    static double before[M * N], c[M * N];
    int m = M, n = N, k = K;
    fill(before, M * N, 1);
    memcpy(c, before, sizeof c);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 2.0, a, k, b, k, 1.0, before, n);
    check(portmm_dgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_TRANS, m, n, k, 2.0, a, k, b, k, 1.0, c,
                            n));
    expect_same("a call", before, c, sizeof c);
}

/* A column-major matrix inside a larger one: as Fortran has it. */
static void replace_a_part(portmm_context *context, const double *a, const double *b) {
    static double before[(M + PAD) * N], c[(M + PAD) * N];
    int m = M, n = N, k = K, lda = M, ldb = K, ldc = M + PAD;
    fill(before, (M + PAD) * N, 5);
    memcpy(c, before, sizeof c);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, a, lda, b, ldb, -1.0, before + PAD, ldc);
    check(portmm_dgemm_host(context, PORTMM_COL_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, m, n, k, 1.0, a, lda, b, ldb,
                            -1.0, c + PAD, ldc));
    expect_same("a part, column-major", before, c, sizeof c);
}

static void cast_enums(portmm_context *context, CBLAS_TRANSPOSE trans, const double *a, const double *b) {
    static double before[M * N], c[M * N];
    int m = M, n = N, k = K, lda = trans == CblasNoTrans ? K : M;
    cblas_dgemm(CblasRowMajor, trans, CblasNoTrans, m, n, k, 1.0, a, lda, b, n, 0.0, before, n);
    check(portmm_dgemm_host(context, (portmm_layout)CblasRowMajor, (portmm_transpose)trans, PORTMM_NO_TRANS, m, n, k,
                            1.0, a, lda, b, n, 0.0, c, n));
    expect_same("enums that were cast", before, c, sizeof c);
}

static void replace_complex(portmm_context *context, const double *a, const double *b) {
    static double before[2 * 4 * 4], c[2 * 4 * 4];
    const double alpha[2] = {1, -2}, beta[2] = {0, 0};
    cblas_zgemm(CblasRowMajor, CblasConjTrans, CblasNoTrans, 4, 4, 4, alpha, a, 4, b, 4, beta, before, 4);
    check(portmm_zgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_CONJ_TRANS, PORTMM_NO_TRANS, 4, 4, 4, alpha, a, 4, b, 4,
                            beta, c, 4));
    expect_same("complex", before, c, sizeof c);
}

/* cblas_dgemm would print a line and end the program. */
static void see_an_error(portmm_context *context, const double *a, const double *b) {
    double c[M * N];
    portmm_status status = portmm_dgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, M, N, K, 1.0,
                                             a, K - 1, b, N, 0.0, c, N);
    if (status == PORTMM_STATUS_INVALID_ARGUMENT)
        puts(portmm_last_error()); /* portmm_dgemm_host: lda = 42 must be at least 43 */
    failures += status != PORTMM_STATUS_INVALID_ARGUMENT || strstr(portmm_last_error(), "lda = 42") == NULL;
}

static void *grow(double *matrix, int count) {
    double *copies = malloc(COUNT * sizeof *copies * (size_t)count);
    if (copies == NULL)
        exit(1);
    for (int i = 0; i < COUNT * count; i++)
        copies[i] = matrix[i % count] + i / count;
    return copies;
}

/* C := the sum of A * B over several B: A goes to the device once, C comes back once. */
static void keep_data_there(portmm_context *context, const double *a, double *b) {
    static double before[M * N], c[M * N];
    double *all_b = grow(b, K * N);
    for (int i = 0; i < COUNT; i++)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1.0, a, K, all_b + i * K * N, N, i > 0, before,
                    N);
    portmm_queue *queue;
    portmm_buffer *on_device_a, *on_device_b, *on_device_c;
    check(portmm_queue_create(context, &queue));
    check(portmm_buffer_create(context, sizeof *a * M * K, &on_device_a));
    check(portmm_buffer_create(context, sizeof *b * K * N, &on_device_b));
    check(portmm_buffer_create(context, sizeof *c * M * N, &on_device_c));
    check(portmm_buffer_write(queue, on_device_a, 0, sizeof *a * M * K, a));
    for (int i = 0; i < COUNT; i++) {
        check(portmm_buffer_write(queue, on_device_b, 0, sizeof *b * K * N, all_b + i * K * N));
        check(portmm_dgemm(queue, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, M, N, K, 1.0, on_device_a, 0, K,
                           on_device_b, 0, N, i > 0, on_device_c, 0, N, 0, NULL, NULL));
    }
    check(portmm_buffer_read(queue, on_device_c, 0, sizeof *c * M * N, c)); /* waits for the products */
    portmm_buffer_destroy(on_device_a);
    portmm_buffer_destroy(on_device_b);
    portmm_buffer_destroy(on_device_c);
    portmm_queue_destroy(queue);
    free(all_b);
    expect_same("data on the device", before, c, sizeof c);
}

static void replace_a_loop(portmm_context *context, const double *a, double *b) {
    static double before[COUNT * M * N], c[COUNT * M * N];
    double *all_b = grow(b, K * N);
    for (int i = 0; i < COUNT; i++)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1.0, a, K, all_b + i * K * N, N, 0.0,
                    before + i * M * N, N);
    const double one = 1, zero = 0;
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.dtype = PORTMM_F64;
    problem.m = M, problem.n = N, problem.k = K;
    problem.batch_count = COUNT;
    problem.a_stride = 0; /* all share A */
    problem.b_stride = K * N;
    problem.c_stride = M * N;
    check(portmm_gemm_host(context, &problem, &one, a, all_b, &zero, c, NULL));
    free(all_b);
    expect_same("a loop", before, c, sizeof c);
}

/* At the start of the program, or in a thread: later products find everything ready. */
static void get_ready(portmm_context *context) {
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.dtype = PORTMM_F64;
    problem.m = M, problem.n = N, problem.k = K;
    check(portmm_prewarm(context, &problem));
}

int main(int argc, char **argv) {
    static double a[M * K], b[K * N];
    fill(a, M * K, 7);
    fill(b, K * N, 4);

    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = argc > 1 ? argv[1] : NULL; /* NULL: PORTMM_BACKEND, else auto */
    options.needs_dtypes = PORTMM_DTYPE_BIT(PORTMM_F64) | PORTMM_DTYPE_BIT(PORTMM_C64);
    portmm_context *context;
    check(portmm_context_create(&options, &context));

    get_ready(context);
    replace_a_call(context, a, b);
    replace_a_part(context, a, b);
    cast_enums(context, CblasNoTrans, a, b);
    cast_enums(context, CblasTrans, a, b);
    replace_complex(context, a, b);
    see_an_error(context, a, b);
    keep_data_there(context, a, b);
    replace_a_loop(context, a, b);
    portmm_context_destroy(context);
    return failures > 0;
}
