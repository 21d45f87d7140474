/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: each product of one is what the plain function gives for it, nothing between them changes, and wrong
 * descriptions are refused by name. */
#include <stdlib.h>
#include <string.h>

#include "support/call.h"
#include "support/stored.h"
#include "support/suite.h"

enum { M = 5, N = 7, K = 3, COUNT = 6, ROOM = 400, UNTOUCHED = 99 };

/* Elements of A, B and C, of either type, in one buffer each. */
typedef struct bench {
    portmm_context *context;
    portmm_queue *queue;
    portmm_dtype dtype;
    portmm_buffer *a, *b, *c, *expected;
} bench;

static void put(const bench *this, void *array, int64_t at, double value) {
    if (this->dtype == PORTMM_F64)
        ((double *)array)[at] = value;
    else
        ((float *)array)[at] = (float)value;
}

static portmm_buffer *make_buffer(const bench *this, int kind) {
    double room[ROOM]; /* enough for either type */
    portmm_buffer *buffer;
    for (int i = 0; i < ROOM; i++)
        put(this, room, i, kind == 2 ? UNTOUCHED : (i * (7 + kind)) % 9 - 4);
    TEST_OK(portmm_buffer_create(this->context, ROOM * test_dtype_size(this->dtype), &buffer));
    TEST_OK(portmm_buffer_write(this->queue, buffer, 0, ROOM * test_dtype_size(this->dtype), room));
    return buffer;
}

static bench open_bench(int target) {
    bench made = {.context = test_get_context(target), .dtype = test_get_target(target)->dtype};
    TEST_OK(portmm_queue_create(made.context, &made.queue));
    made.a = make_buffer(&made, 0);
    made.b = make_buffer(&made, 1);
    made.c = make_buffer(&made, 2);
    made.expected = make_buffer(&made, 2);
    return made;
}

static void close_bench(bench *this) {
    portmm_buffer_destroy(this->a);
    portmm_buffer_destroy(this->b);
    portmm_buffer_destroy(this->c);
    portmm_buffer_destroy(this->expected);
    portmm_queue_destroy(this->queue);
}

static portmm_problem make_problem(const bench *this, int64_t count) {
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.dtype = this->dtype;
    problem.m = M;
    problem.n = N;
    problem.k = K;
    problem.batch_count = count;
    problem.a_offset = 1;
    problem.b_offset = 2;
    problem.c_offset = 3;
    return problem;
}

static portmm_status multiply(const bench *this, const portmm_problem *problem) {
    double one[1], zero[1]; /* of either type */
    put(this, one, 0, 1);
    put(this, zero, 0, 0);
    return portmm_gemm(this->queue, problem, one, this->a, this->b, zero, this->c, NULL, 0, NULL, NULL);
}

/* One product, by the plain function, where the batch has it. */
static void expect_product(const bench *this, int64_t a, int64_t b, int64_t c) {
    test_call call = {.dtype = this->dtype,
                      .form = test_get_form(0),
                      .m = M,
                      .n = N,
                      .k = K,
                      .alpha = 1,
                      .lda = K,
                      .ldb = N,
                      .ldc = N,
                      .a_offset = 1 + a,
                      .b_offset = 2 + b,
                      .c_offset = 3 + c};
    TEST_OK(test_call_buffers(this->queue, &call, this->a, this->b, this->expected, 0, NULL, NULL));
}

static void compare(const bench *this) {
    unsigned char got[ROOM * sizeof(double)], expected[ROOM * sizeof(double)];
    size_t size = ROOM * test_dtype_size(this->dtype);
    TEST_OK(portmm_buffer_read(this->queue, this->c, 0, size, got));
    TEST_OK(portmm_buffer_read(this->queue, this->expected, 0, size, expected));
    ck_assert_msg(memcmp(got, expected, size) == 0, "the batch gives other results than its products, or more");
}

START_TEST(a_strided_batch_is_its_products) {
    static const int64_t strides[][3] = {{M * K, K * N, M * N}, {17, 23, 41}, {0, 23, 40}, {17, 0, 35}, {0, 0, 36}};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        bench this = open_bench(_i);
        portmm_problem problem = make_problem(&this, COUNT);
        problem.a_stride = strides[i][0];
        problem.b_stride = strides[i][1];
        problem.c_stride = strides[i][2];
        TEST_OK(multiply(&this, &problem));
        for (int64_t j = 0; j < COUNT; j++)
            expect_product(&this, j * strides[i][0], j * strides[i][1], j * strides[i][2]);
        compare(&this);
        close_bench(&this);
    }
}
END_TEST

START_TEST(a_listed_batch_is_its_products) {
    static const int64_t a[COUNT] = {40, 0, 15, 15, 90, 200}, b[COUNT] = {0, 63, 21, 0, 300, 7},
                         c[COUNT] = {300, 0, 105, 35, 260, 141};
    for (int64_t count = 1; count <= COUNT; count++) {
        bench this = open_bench(_i);
        portmm_problem problem = make_problem(&this, count);
        problem.a_offsets = a;
        problem.b_offsets = b;
        problem.c_offsets = c;
        TEST_OK(multiply(&this, &problem));
        for (int64_t j = 0; j < count; j++)
            expect_product(&this, a[j], b[j], c[j]);
        compare(&this);
        close_bench(&this);
    }
}
END_TEST

START_TEST(an_empty_batch_changes_nothing) {
    bench this = open_bench(_i);
    portmm_problem problem = make_problem(&this, 0);
    TEST_OK(multiply(&this, &problem));
    compare(&this);
    close_bench(&this);
}
END_TEST

START_TEST(results_of_a_batch_may_interleave_but_not_overlap) {
    bench this = open_bench(_i);
    portmm_problem problem = make_problem(&this, 3);
    problem.ldc = 3 * N; /* the rows of the three results take turns */
    problem.c_stride = N;
    TEST_OK(multiply(&this, &problem));
    problem.c_stride = N - 1;
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "c_stride = 6");
    problem.c_stride = 0;
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "c_stride = 0");
    problem.ldc = 0;
    problem.c_offsets = (const int64_t[]){70, 0, 34};
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "c_offsets has 0 and 34");
    close_bench(&this);
}
END_TEST

START_TEST(wrong_batches_are_named) {
    bench this = open_bench(_i);
    portmm_problem problem = make_problem(&this, -1);
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "batch_count = -1");
    problem = make_problem(&this, 2);
    problem.c_stride = M * N;
    problem.a_stride = -1;
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "a_stride = -1");
    problem.a_stride = 0;
    problem.b_offsets = (const int64_t[]){0, -5};
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "b_offsets[1] = -5");
    problem.b_offsets = NULL;
    problem.b_stride = ROOM;
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "matrices b");
    problem.b_stride = INT64_MAX;
    problem.batch_count = 3;
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "matrices b");
    problem = make_problem(&this, 1);
    problem.dtype = (portmm_dtype)77;
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "dtype = 77");
    problem = make_problem(&this, 1);
    problem.activation = (portmm_activation)9;
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "activation = 9");
    problem.activation = PORTMM_ACTIVATION_NONE;
    problem.bias_kind = PORTMM_BIAS_PER_ROW;
    TEST_FAILS(multiply(&this, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "bias is NULL");
    compare(&this);
    close_bench(&this);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("batches");
    TCase *cases = tcase_create("batches");
    int targets = test_target_count();
    tcase_add_loop_test(cases, a_strided_batch_is_its_products, 0, targets);
    tcase_add_loop_test(cases, a_listed_batch_is_its_products, 0, targets);
    tcase_add_loop_test(cases, an_empty_batch_changes_nothing, 0, targets);
    tcase_add_loop_test(cases, results_of_a_batch_may_interleave_but_not_overlap, 0, targets);
    tcase_add_loop_test(cases, wrong_batches_are_named, 0, targets);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
