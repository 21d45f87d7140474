/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the products of a program go that is linked with libportmm_blas. Behind it is a library whose speed the test
 * sets, or the real one; the device is the fault backend of tests/engines. Each test is a process of its own.
 */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../engines/fault.h"
#include "next_library.h"

enum { N = 100, LD = N + 3, TRIALS = 4 };

void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const float *alpha,
            const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
            const int *ldc);
void cblas_sgemm(int layout, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc);
void cblas_dgemm(int layout, int transa, int transb, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc);
double cblas_ddot(int n, const double *x, int incx, const double *y, int incy);

static fault_control *fault;
static next_control *next;
static char reported[8]; /* to xerbla_ */
static int reported_info;

/* In place of BLAS's. */
PMM_EXPORT void xerbla_(const char *name, const int *info, size_t length);
void xerbla_(const char *name, const int *info, size_t length) {
    snprintf(reported, sizeof reported, "%.*s", (int)(length < 6 ? length : 6), name);
    reported_info = *info;
}

static void *find(const char *file, const char *name) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    return dlsym(library, name);
}

/* The next library is the test's, unless `real`. */
static void set_up(const char *route, bool real) {
    setenv("PORTMM_MODULE_PATH", TEST_MODULES ":" TEST_BUILT_MODULES, 1);
    setenv("PORTMM_BACKEND", "cuda", 1);
    setenv("PORTMM_BLAS_ROUTE", route, 1);
    setenv("PORTMM_BLAS_OPEN_AFTER_MS", "0", 1);
    if (!real)
        setenv("PORTMM_BLAS_LIBRARY", TEST_NEXT, 1);
    fault = find(TEST_MODULES "/portmm-cuda.so", "fault");
    next = find(TEST_NEXT, "next_library");
}

static int count_device(void) {
    return fault->products[FAULT_TUNED] + fault->products[FAULT_STARTER];
}

/* C := 2 A B^T + beta C on whole numbers; wrong results end the test, and so does a write to the padding. */
static void multiply_and_check(float beta) {
    static _Thread_local float a[N * LD], b[N * LD], before[N * LD];
    float *c = malloc(sizeof before);
    for (int i = 0; i < N * LD; i++) {
        a[i] = (float)(i % 5) - 2;
        b[i] = (float)(i % 7) - 3;
        before[i] = c[i] = (float)(i % 3);
    }
    const int n = N, ld = LD;
    const float alpha = 2;
    sgemm_("N", "T", &n, &n, &n, &alpha, a, &ld, b, &ld, &beta, c, &ld);
    for (int column = 0; column < N; column++)
        for (int row = 0; row < LD; row++) {
            int at = column * LD + row;
            float sum = 0;
            for (int p = 0; p < N; p++)
                sum += a[p * LD + (row < N ? row : 0)] * b[p * LD + column];
            float expected = row < N ? alpha * sum + beta * before[at] : before[at];
            ck_assert_msg(c[at] == expected, "c(%d,%d) = %g, expected %g", row, column, (double)c[at],
                          (double)expected);
        }
    free(c);
}

START_TEST(blas_leaves_a_next_library_that_is_slower) {
    set_up("auto", false);
    next->gemm_ms = 20;
    for (int i = 0; i < 3 * TRIALS + 5; i++)
        multiply_and_check(0);
    ck_assert_int_eq(next->products, TRIALS);
    ck_assert_int_ge(count_device(), TRIALS);
}
END_TEST

START_TEST(blas_leaves_a_device_that_is_slower) {
    set_up("auto", false);
    fault->engines[FAULT_STARTER].gemm_ms = fault->engines[FAULT_TUNED].gemm_ms = 200;
    for (int i = 0; i < 10; i++)
        multiply_and_check(1);
    ck_assert_int_eq(count_device(), 2); /* the first is not counted, the second is hopeless */
}
END_TEST

START_TEST(blas_keeps_small_products_from_the_device) {
    set_up("auto", false);
    setenv("PORTMM_BLAS_MIN_SIZE", "101", 1);
    for (int i = 0; i < 10; i++)
        multiply_and_check(1);
    ck_assert_int_eq(count_device(), 0);
    ck_assert_int_eq(next->products, 10);
}
END_TEST

START_TEST(blas_opens_nothing_before_it_pays) {
    set_up("auto", false);
    setenv("PORTMM_BLAS_OPEN_AFTER_MS", "1000000", 1);
    next->gemm_ms = 10;
    for (int i = 0; i < 10; i++)
        multiply_and_check(1);
    ck_assert_int_eq(next->products, 10);
}
END_TEST

START_TEST(blas_obeys_a_route) {
    set_up("device", false);
    multiply_and_check(3);
    ck_assert_int_eq(count_device(), 1);
    ck_assert_int_eq(next->products, 0);
}
END_TEST

START_TEST(blas_survives_a_device_that_fails) {
    set_up("device", false);
    fault->read_fails = true;
    for (int i = 0; i < 5; i++)
        multiply_and_check(i % 2 == 0 ? 1.0F : 0.0F); /* the device had overwritten half of C */
    ck_assert_int_eq(next->products, 5);
    ck_assert_int_eq(count_device(), 3); /* then it is given up */
}
END_TEST

START_TEST(blas_survives_a_device_that_refuses) {
    set_up("auto", false);
    next->gemm_ms = 20;
    fault->engines[FAULT_STARTER].refuses = fault->engines[FAULT_TUNED].refuses = true;
    for (int i = 0; i < 3 * TRIALS; i++)
        multiply_and_check(1);
    ck_assert_int_eq(count_device(), 0);
}
END_TEST

START_TEST(blas_survives_a_device_that_does_not_open) {
    set_up(_i == 0 ? "device" : "auto", false);
    fault->device_fails = true;
    for (int i = 0; i < 6; i++)
        multiply_and_check(1);
    ck_assert_int_eq(count_device(), 0);
    ck_assert_int_ge(next->products, _i == 0 ? 6 : TRIALS); /* of auto, the cpu backend may serve the rest */
}
END_TEST

/* cblas_sgemm of the next library calls sgemm_, which is ours: it must not be chosen for again. */
START_TEST(blas_is_not_called_by_what_it_calls) {
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    float c[4] = {0};
    set_up("auto", false);
    setenv("PORTMM_BLAS_MIN_SIZE", "0", 1);
    cblas_sgemm(PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
    const float expected[4] = {19, 22, 43, 50};
    ck_assert_mem_eq(c, expected, sizeof c);
    ck_assert_int_eq(next->products, 1);
    ck_assert_int_eq(count_device(), 0);
}
END_TEST

/* Linked with ours and with BLAS: what is not GEMM comes from the real library. */
START_TEST(blas_passes_the_rest_through) {
    const double x[4] = {1, 2, 3, 4}, y[4] = {4, 3, 2, 1};
    double c[4];
    set_up("cpu", true);
    ck_assert_double_eq(cblas_ddot(4, x, 1, y, 1), 20);
    cblas_dgemm(PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_TRANS, 2, 2, 2, 1, x, 2, y, 2, 0, c, 2);
    const double expected[4] = {10, 4, 24, 10};
    ck_assert_mem_eq(c, expected, sizeof c);
}
END_TEST

START_TEST(blas_reports_wrong_arguments_as_its_own) {
    static const struct {
        const char *transa, *transb;
        int m, n, k, lda, ldb, ldc, info;
    } wrong[] = {{"X", "N", 2, 2, 2, 2, 2, 2, 1},  {"N", "/", 2, 2, 2, 2, 2, 2, 2},  {"N", "N", -1, 2, 2, 2, 2, 2, 3},
                 {"N", "N", 2, -1, 2, 2, 2, 2, 4}, {"N", "N", 2, 2, -1, 2, 2, 2, 5}, {"N", "N", 2, 2, 2, 1, 2, 2, 8},
                 {"T", "N", 2, 2, 3, 2, 3, 2, 8},  {"N", "N", 2, 2, 3, 2, 2, 2, 10}, {"N", "C", 2, 3, 2, 2, 2, 2, 10},
                 {"N", "N", 2, 2, 2, 2, 2, 1, 13}};
    const float alpha = 1, a[9] = {0};
    float c[9] = {7};
    set_up("device", true);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        reported_info = 0;
        sgemm_(wrong[i].transa, wrong[i].transb, &wrong[i].m, &wrong[i].n, &wrong[i].k, &alpha, a, &wrong[i].lda, a,
               &wrong[i].ldb, &alpha, c, &wrong[i].ldc);
        ck_assert_int_eq(reported_info, wrong[i].info);
        ck_assert_str_eq(reported, "SGEMM ");
        ck_assert(c[0] == 7);
    }
    ck_assert_int_eq(count_device(), 0);
}
END_TEST

START_TEST(blas_uses_the_next_library_after_a_fork) {
    set_up("device", false);
    multiply_and_check(1);
    pid_t child = fork();
    if (child == 0) {
        multiply_and_check(1);
        _exit(next->products == 1 && count_device() == 1 ? 0 : 1);
    }
    int how;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert_int_eq(how, 0);
    multiply_and_check(1);
    ck_assert_int_eq(count_device(), 2);
}
END_TEST

static void *multiply_often(void *argument) {
    (void)argument;
    for (int i = 0; i < 20; i++)
        multiply_and_check(1);
    return NULL;
}

START_TEST(blas_serves_many_threads) {
    pthread_t threads[4];
    set_up(_i == 0 ? "device" : "auto", false);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, multiply_often, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_le(next->products + count_device(), 80);
    ck_assert_int_gt(count_device(), _i == 0 ? 79 : 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("blas");
    TCase *tests = tcase_create("blas");
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, blas_leaves_a_next_library_that_is_slower);
    tcase_add_test(tests, blas_leaves_a_device_that_is_slower);
    tcase_add_test(tests, blas_keeps_small_products_from_the_device);
    tcase_add_test(tests, blas_opens_nothing_before_it_pays);
    tcase_add_test(tests, blas_obeys_a_route);
    tcase_add_test(tests, blas_survives_a_device_that_fails);
    tcase_add_test(tests, blas_survives_a_device_that_refuses);
    tcase_add_loop_test(tests, blas_survives_a_device_that_does_not_open, 0, 2);
    tcase_add_test(tests, blas_is_not_called_by_what_it_calls);
    tcase_add_test(tests, blas_passes_the_rest_through);
    tcase_add_test(tests, blas_reports_wrong_arguments_as_its_own);
    tcase_add_test(tests, blas_uses_the_next_library_after_a_fork);
    tcase_add_loop_test(tests, blas_serves_many_threads, 0, 2);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_FORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
