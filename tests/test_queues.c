/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, buffers and events: order, waiting, lifetimes, transfers of parts. */
#include <stdlib.h>
#include <string.h>

#include "support/product.h"
#include "support/suite.h"

/* Square matrices of small integers on a queue: every chain of products of them stays exact. */
#define SIZE 96
#define LARGE 320 /* long enough that a product is not done when the next call is made */

typedef struct bench {
    portmm_context *context;
    portmm_dtype dtype;
    int64_t size;
    portmm_queue *queue, *other_queue;
} bench;

static bench open_bench(int target, int64_t size) {
    bench made = {.context = test_get_context(target), .dtype = test_get_target(target)->dtype, .size = size};
    TEST_OK(portmm_queue_create(made.context, &made.queue));
    TEST_OK(portmm_queue_create(made.context, &made.other_queue));
    return made;
}

static void close_bench(bench *this) {
    portmm_queue_destroy(this->queue);
    portmm_queue_destroy(this->other_queue);
}

/* A matrix with one entry in each row and column, so that products of many stay small: row r has `value` in column
 * (r + shift) % size. The product of two such is another: values multiply, shifts add. */
typedef struct shifted {
    double value;
    int64_t shift;
} shifted;

static size_t get_bytes(const bench *this) {
    return (size_t)(this->size * this->size) * test_dtype_size(this->dtype);
}

static void set_element(const bench *this, void *matrix, int64_t at, double value) {
    if (this->dtype == PORTMM_F64)
        ((double *)matrix)[at] = value;
    else
        ((float *)matrix)[at] = (float)value;
}

static double get_element(const bench *this, const void *matrix, int64_t at) {
    return this->dtype == PORTMM_F64 ? ((const double *)matrix)[at] : ((const float *)matrix)[at];
}

static void *make_matrix(const bench *this, shifted wanted) {
    void *matrix = malloc(get_bytes(this));
    ck_assert_ptr_nonnull(matrix);
    for (int64_t row = 0; row < this->size; row++)
        for (int64_t column = 0; column < this->size; column++)
            set_element(this, matrix, row * this->size + column,
                        column == (row + wanted.shift) % this->size ? wanted.value : 0);
    return matrix;
}

static void write_matrix(const bench *this, portmm_buffer *buffer, shifted wanted) {
    void *matrix = make_matrix(this, wanted);
    TEST_OK(portmm_buffer_write(this->queue, buffer, 0, get_bytes(this), matrix));
    free(matrix);
}

static portmm_buffer *make_buffer(const bench *this, shifted wanted) {
    portmm_buffer *buffer;
    TEST_OK(portmm_buffer_create(this->context, get_bytes(this), &buffer));
    write_matrix(this, buffer, wanted);
    return buffer;
}

static void check_matrix(const bench *this, portmm_queue *queue, const portmm_buffer *buffer, shifted expected) {
    void *matrix = malloc(get_bytes(this));
    ck_assert_ptr_nonnull(matrix);
    TEST_OK(portmm_buffer_read(queue, buffer, 0, get_bytes(this), matrix));
    for (int64_t at = 0; at < this->size * this->size; at++) {
        int64_t row = at / this->size, column = at % this->size;
        double right = column == (row + expected.shift) % this->size ? expected.value : 0;
        if (get_element(this, matrix, at) != right) /* Check writes a file for each assertion */
            ck_abort_msg("element [%d][%d] is %g instead of %g", (int)row, (int)column, get_element(this, matrix, at),
                         right);
    }
    free(matrix);
}

static void multiply(const bench *this, portmm_queue *queue, const portmm_buffer *a, const portmm_buffer *b,
                     double beta, portmm_buffer *c, size_t wait_count, portmm_event *const *waits,
                     portmm_event **event) {
    test_call call = {.dtype = this->dtype,
                      .form = test_get_form(0),
                      .m = this->size,
                      .n = this->size,
                      .k = this->size,
                      .alpha = 1,
                      .beta = beta,
                      .lda = this->size,
                      .ldb = this->size,
                      .ldc = this->size};
    TEST_OK(test_call_buffers(queue, &call, a, b, c, wait_count, waits, event));
}

/* ---- order ---- */

START_TEST(products_of_a_queue_run_in_order) {
    bench this = open_bench(_i, SIZE);
    portmm_buffer *a = make_buffer(&this, (shifted){2, 3}), *x = make_buffer(&this, (shifted){1, 0});
    portmm_buffer *y = make_buffer(&this, (shifted){0, 0});
    for (int i = 0; i < 8; i++) { /* each reads what the one before wrote, and overwrites what it read */
        multiply(&this, this.queue, a, x, 0, y, 0, NULL, NULL);
        portmm_buffer *swap = x;
        x = y;
        y = swap;
    }
    check_matrix(&this, this.queue, x, (shifted){256, 24});
    multiply(&this, this.queue, a, x, 0, y, 0, NULL, NULL);
    multiply(&this, this.queue, a, x, 1, y, 0, NULL, NULL); /* beta reads the C of the product before */
    check_matrix(&this, this.queue, y, (shifted){1024, 27});
    portmm_buffer_destroy(a);
    portmm_buffer_destroy(x);
    portmm_buffer_destroy(y);
    close_bench(&this);
}
END_TEST

START_TEST(transfers_and_products_of_a_queue_run_in_order) {
    bench this = open_bench(_i, LARGE);
    portmm_buffer *a = make_buffer(&this, (shifted){2, 1}), *b = make_buffer(&this, (shifted){3, 1});
    portmm_buffer *c = make_buffer(&this, (shifted){0, 0}), *d = make_buffer(&this, (shifted){0, 0});
    for (int i = 0; i < 4; i++) {
        write_matrix(&this, a, (shifted){2, 1});
        multiply(&this, this.queue, a, b, 0, c, 0, NULL, NULL);
        write_matrix(&this, a, (shifted){5, 2}); /* after the product that still reads the old one */
        multiply(&this, this.queue, a, b, 0, d, 0, NULL, NULL);
        check_matrix(&this, this.queue, c, (shifted){6, 2});
        check_matrix(&this, this.queue, d, (shifted){15, 3});
    }
    portmm_buffer_destroy(a);
    portmm_buffer_destroy(b);
    portmm_buffer_destroy(c);
    portmm_buffer_destroy(d);
    close_bench(&this);
}
END_TEST

/* ---- events ---- */

START_TEST(an_event_tells_when_its_product_is_complete) {
    bench this = open_bench(_i, LARGE);
    portmm_buffer *a = make_buffer(&this, (shifted){2, 1}), *b = make_buffer(&this, (shifted){3, 1});
    portmm_buffer *c = make_buffer(&this, (shifted){0, 0});
    portmm_event *event = NULL;
    multiply(&this, this.queue, a, b, 0, c, 0, NULL, &event);
    ck_assert_ptr_nonnull(event);
    TEST_OK(portmm_event_wait(event));
    TEST_OK(portmm_event_wait(event));                         /* as often as one likes */
    check_matrix(&this, this.other_queue, c, (shifted){6, 2}); /* a queue that does not know the product */
    portmm_event_destroy(event);
    portmm_buffer_destroy(a);
    portmm_buffer_destroy(b);
    portmm_buffer_destroy(c);
    close_bench(&this);
}
END_TEST

START_TEST(a_product_waits_for_events_of_another_queue) {
    bench this = open_bench(_i, LARGE);
    portmm_buffer *a = make_buffer(&this, (shifted){2, 1}), *b = make_buffer(&this, (shifted){3, 1});
    portmm_buffer *c = make_buffer(&this, (shifted){0, 0}), *d = make_buffer(&this, (shifted){0, 0});
    portmm_buffer *e = make_buffer(&this, (shifted){0, 0});
    for (int i = 0; i < 4; i++) {
        portmm_event *events[3] = {NULL};
        multiply(&this, this.queue, a, b, 0, c, 0, NULL, &events[0]);
        multiply(&this, this.queue, b, b, 0, d, 0, NULL, &events[1]);
        multiply(&this, this.other_queue, c, d, 0, e, 2, events, &events[2]); /* 2 * 3 * 3 * 3 */
        multiply(&this, this.queue, b, b, 0, c, 1, &events[2], NULL);         /* not before e has read c */
        check_matrix(&this, this.other_queue, e, (shifted){54, 4});
        check_matrix(&this, this.queue, c, (shifted){9, 2});
        for (int j = 0; j < 3; j++)
            portmm_event_destroy(events[j]);
    }
    portmm_buffer *all[] = {a, b, c, d, e};
    for (int i = 0; i < 5; i++)
        portmm_buffer_destroy(all[i]);
    close_bench(&this);
}
END_TEST

/* A product that has nothing to compute still takes its place among the events. */
START_TEST(empty_products_pass_events_on) {
    bench this = open_bench(_i, LARGE);
    portmm_buffer *a = make_buffer(&this, (shifted){2, 1}), *b = make_buffer(&this, (shifted){3, 1});
    portmm_buffer *c = make_buffer(&this, (shifted){0, 0});
    const test_call nothing[] = {
        {.m = 0, .n = LARGE, .k = LARGE, .alpha = 1, .beta = 1},
        {.m = LARGE, .n = 0, .k = LARGE, .alpha = 1, .beta = 1},
        {.m = LARGE, .n = LARGE, .k = 0, .alpha = 1, .beta = 1},
        {.m = LARGE, .n = LARGE, .k = LARGE, .alpha = 0, .beta = 1},
    };
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        test_call call = nothing[i];
        call.dtype = this.dtype;
        call.form = test_get_form(0);
        call.lda = call.ldb = call.ldc = LARGE;
        portmm_event *real = NULL, *empty = NULL;
        write_matrix(&this, c, (shifted){0, 0});
        multiply(&this, this.queue, a, b, 0, c, 0, NULL, &real);
        TEST_OK(test_call_buffers(this.other_queue, &call, a, b, c, 1, &real, &empty));
        ck_assert_ptr_nonnull(empty);
        TEST_OK(portmm_event_wait(empty)); /* so the real one is complete, too */
        check_matrix(&this, this.other_queue, c, (shifted){6, 2});
        portmm_event_destroy(real);
        portmm_event_destroy(empty);
    }
    portmm_buffer_destroy(a);
    portmm_buffer_destroy(b);
    portmm_buffer_destroy(c);
    close_bench(&this);
}
END_TEST

/* beta * C alone is a command like any other, also while earlier ones of other sizes are under way. */
START_TEST(scalings_take_their_turn) {
    bench this = open_bench(_i, LARGE);
    portmm_buffer *a = make_buffer(&this, (shifted){2, 1}), *b = make_buffer(&this, (shifted){3, 1});
    portmm_buffer *c = make_buffer(&this, (shifted){0, 0});
    test_call scaling = {
        .dtype = this.dtype, .form = test_get_form(0), .n = LARGE, .alpha = 1, .lda = 1, .ldb = LARGE, .ldc = LARGE};
    multiply(&this, this.queue, a, b, 0, c, 0, NULL, NULL);
    for (int64_t rows = LARGE / 4; rows <= LARGE; rows += LARGE / 4) { /* each needs more than the one before */
        scaling.m = rows;
        scaling.beta = 2;
        TEST_OK(test_call_buffers(this.queue, &scaling, a, b, c, 0, NULL, NULL));
        scaling.beta = 0.5;
        TEST_OK(test_call_buffers(this.queue, &scaling, a, b, c, 0, NULL, NULL));
    }
    scaling.beta = -1;
    portmm_event *event = NULL;
    TEST_OK(test_call_buffers(this.queue, &scaling, a, b, c, 0, NULL, &event));
    TEST_OK(portmm_event_wait(event));
    check_matrix(&this, this.other_queue, c, (shifted){-6, 2});
    portmm_event_destroy(event);
    portmm_buffer_destroy(a);
    portmm_buffer_destroy(b);
    portmm_buffer_destroy(c);
    close_bench(&this);
}
END_TEST

/* ---- lifetimes ---- */

START_TEST(buffers_events_and_queues_may_go_in_any_order) {
    bench this = open_bench(_i, LARGE);
    portmm_buffer *a = make_buffer(&this, (shifted){2, 1}), *b = make_buffer(&this, (shifted){3, 1});
    portmm_buffer *c = make_buffer(&this, (shifted){0, 0});
    portmm_event *first = NULL, *second = NULL;
    TEST_OK(portmm_queue_finish(this.other_queue)); /* an empty one */
    multiply(&this, this.queue, a, b, 0, c, 0, NULL, &first);
    multiply(&this, this.queue, a, b, 1, c, 0, NULL, &second);
    portmm_event_destroy(first); /* does not wait */
    portmm_buffer_destroy(a);    /* the products still read them */
    portmm_buffer_destroy(b);
    portmm_queue_destroy(this.queue); /* waits for them */
    this.queue = NULL;
    TEST_OK(portmm_event_wait(second)); /* an event outlives its queue */
    check_matrix(&this, this.other_queue, c, (shifted){12, 2});
    portmm_event_destroy(second);
    portmm_buffer_destroy(c);
    close_bench(&this);
}
END_TEST

START_TEST(destroying_a_queue_waits_for_its_commands) {
    bench this = open_bench(_i, LARGE);
    portmm_buffer *a = make_buffer(&this, (shifted){2, 1}), *b = make_buffer(&this, (shifted){3, 1});
    portmm_buffer *c = make_buffer(&this, (shifted){0, 0});
    multiply(&this, this.queue, a, b, 0, c, 0, NULL, NULL);
    portmm_queue_destroy(this.queue);
    this.queue = NULL;
    check_matrix(&this, this.other_queue, c, (shifted){6, 2});
    portmm_buffer_destroy(a);
    portmm_buffer_destroy(b);
    portmm_buffer_destroy(c);
    close_bench(&this);
}
END_TEST

/* ---- transfers ---- */

#define BYTES 1000

/* Offsets and sizes are in bytes and need no alignment. */
START_TEST(parts_of_a_buffer_are_written_and_read) {
    static const struct {
        size_t offset, size;
    } parts[] = {{0, BYTES}, {0, 1}, {BYTES - 1, 1}, {1, 3}, {17, 255}, {BYTES - 77, 77}, {500, 0}, {BYTES, 0}};
    bench this = open_bench(_i, SIZE);
    unsigned char expected[BYTES], got[BYTES + 2];
    portmm_buffer *buffer;
    TEST_OK(portmm_buffer_create(this.context, BYTES, &buffer));
    memset(expected, 0, sizeof expected);
    TEST_OK(portmm_buffer_write(this.queue, buffer, 0, BYTES, expected));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (size_t at = 0; at < parts[i].size; at++)
            expected[parts[i].offset + at] = (unsigned char)(7 * at + 31 * i + 1);
        TEST_OK(portmm_buffer_write(this.queue, buffer, parts[i].offset, parts[i].size, expected + parts[i].offset));
        memset(got, 0xee, sizeof got);
        TEST_OK(portmm_buffer_read(this.queue, buffer, parts[i].offset, parts[i].size, got + 1));
        ck_assert_mem_eq(got + 1, expected + parts[i].offset, parts[i].size);
        ck_assert_msg(got[0] == 0xee && got[parts[i].size + 1] == 0xee, "part %zu: bytes beside it were written", i);
        TEST_OK(portmm_buffer_read(this.queue, buffer, 0, BYTES, got));
        ck_assert_mem_eq(got, expected, BYTES);
    }
    portmm_buffer_destroy(buffer);
    close_bench(&this);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("queues");
    TCase *cases = tcase_create("queues");
    int targets = test_target_count();
    tcase_add_loop_test(cases, products_of_a_queue_run_in_order, 0, targets);
    tcase_add_loop_test(cases, transfers_and_products_of_a_queue_run_in_order, 0, targets);
    tcase_add_loop_test(cases, an_event_tells_when_its_product_is_complete, 0, targets);
    tcase_add_loop_test(cases, a_product_waits_for_events_of_another_queue, 0, targets);
    tcase_add_loop_test(cases, empty_products_pass_events_on, 0, targets);
    tcase_add_loop_test(cases, scalings_take_their_turn, 0, targets);
    tcase_add_loop_test(cases, buffers_events_and_queues_may_go_in_any_order, 0, targets);
    tcase_add_loop_test(cases, destroying_a_queue_waits_for_its_commands, 0, targets);
    tcase_add_loop_test(cases, parts_of_a_buffer_are_written_and_read, 0, targets);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
