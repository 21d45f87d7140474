/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers that do not wait, barriers, shared and mapped memory, and times of events. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/square.h"
#include "support/suite.h"

enum { BUFFERS = 3, COARSE_NS = 2000 }; /* CUDA tells times to half a microsecond */

typedef struct objects {
    portmm_queue *queues[2];
    portmm_buffer *a, *b, *c;
} objects;

static objects make_objects(portmm_context *context) {
    objects made;
    for (int i = 0; i < 2; i++)
        TEST_OK(portmm_queue_create(context, &made.queues[i]));
    TEST_OK(portmm_buffer_create(context, TEST_SQUARE_BYTES, &made.a));
    TEST_OK(portmm_buffer_create(context, TEST_SQUARE_BYTES, &made.b));
    TEST_OK(portmm_buffer_create(context, TEST_SQUARE_BYTES, &made.c));
    return made;
}

static void destroy_objects(const objects *made) {
    portmm_buffer_destroy(made->a);
    portmm_buffer_destroy(made->b);
    portmm_buffer_destroy(made->c);
    for (int i = 0; i < 2; i++)
        portmm_queue_destroy(made->queues[i]);
}

START_TEST(transfers_that_do_not_wait_keep_their_order) {
    portmm_context *context = test_get_context(_i);
    objects on = make_objects(context);
    portmm_queue *copies = on.queues[0], *products = on.queues[1];
    portmm_event *events[5];
    float got[TEST_SQUARE_ELEMENTS];
    for (int turn = 0; turn < 20; turn++) {
        memset(got, 0xee, sizeof got);
        TEST_OK(portmm_buffer_write_start(copies, on.a, 0, TEST_SQUARE_BYTES, test_square_a, 0, NULL, &events[0]));
        TEST_OK(portmm_buffer_write_start(copies, on.b, 0, TEST_SQUARE_BYTES, test_square_b, 1, events, &events[1]));
        TEST_OK(test_square_multiply(products, on.a, on.b, 0, on.c, 2, events, &events[2]));
        TEST_OK(portmm_queue_barrier(copies, 1, &events[2], &events[3]));
        TEST_OK(portmm_buffer_read_start(copies, on.c, 0, TEST_SQUARE_BYTES, got, 0, NULL, &events[4]));
        TEST_OK(portmm_event_wait(events[4]));
        ck_assert_mem_eq(got, test_square_product, TEST_SQUARE_BYTES);
        for (int i = 0; i < 5; i++)
            portmm_event_destroy(events[i]);
    }
    destroy_objects(&on);
}
END_TEST

/* Parts of a buffer, of no bytes too, side by side and from a place that is no multiple of anything. */
START_TEST(parts_are_transferred) {
    portmm_context *context = test_get_context(_i);
    objects on = make_objects(context);
    portmm_event *events[4];
    const unsigned char *bytes = (const unsigned char *)test_square_a;
    unsigned char got[TEST_SQUARE_BYTES];
    const size_t cut = 4097, rest = TEST_SQUARE_BYTES - cut;
    memset(got, 0xee, sizeof got);
    TEST_OK(portmm_buffer_write_start(on.queues[0], on.a, cut, rest, bytes + cut, 0, NULL, &events[0]));
    TEST_OK(portmm_buffer_write_start(on.queues[1], on.a, 0, cut, bytes, 1, events, &events[1]));
    TEST_OK(portmm_buffer_write_start(on.queues[0], on.a, TEST_SQUARE_BYTES, 0, NULL, 0, NULL, &events[2]));
    TEST_OK(portmm_buffer_read_start(on.queues[0], on.a, 0, TEST_SQUARE_BYTES, got, 3, events, &events[3]));
    TEST_OK(portmm_event_wait(events[3]));
    ck_assert_mem_eq(got, bytes, TEST_SQUARE_BYTES);
    for (int i = 0; i < 4; i++)
        portmm_event_destroy(events[i]);
    destroy_objects(&on);
}
END_TEST

START_TEST(wrong_arguments_of_transfers_are_named) {
    portmm_context *context = test_get_context(_i);
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *other;
    portmm_queue *foreign;
    portmm_event *event, *events[65];
    float got[4];
    objects on = make_objects(context);
    portmm_queue *queue = on.queues[0];
    options.backend = test_get_target(_i)->spec;
    TEST_OK(portmm_context_create(&options, &other));
    TEST_OK(portmm_queue_create(other, &foreign));
    TEST_OK(portmm_queue_barrier(foreign, 0, NULL, &events[0]));
    const portmm_status bad = PORTMM_STATUS_INVALID_ARGUMENT;
    TEST_FAILS(portmm_buffer_write_start(NULL, on.a, 0, 4, got, 0, NULL, &event), bad, "queue, buffer or host");
    TEST_FAILS(portmm_buffer_write_start(queue, NULL, 0, 4, got, 0, NULL, &event), bad, "queue, buffer or host");
    TEST_FAILS(portmm_buffer_write_start(queue, on.a, 0, 4, NULL, 0, NULL, &event), bad, "queue, buffer or host");
    TEST_FAILS(portmm_buffer_write_start(queue, on.a, 0, 4, got, 0, NULL, NULL), bad, "event is NULL");
    TEST_FAILS(portmm_buffer_write_start(queue, on.a, TEST_SQUARE_BYTES - 3, 4, got, 0, NULL, &event), bad, "outside");
    TEST_FAILS(portmm_buffer_write_start(queue, on.a, SIZE_MAX, 4, got, 0, NULL, &event), bad, "outside");
    TEST_FAILS(portmm_buffer_write_start(queue, on.a, 4, SIZE_MAX, got, 0, NULL, &event), bad, "outside");
    TEST_FAILS(portmm_buffer_write_start(foreign, on.a, 0, 4, got, 0, NULL, &event), bad, "another context");
    TEST_FAILS(portmm_buffer_write_start(queue, on.a, 0, 4, got, 1, NULL, &event), bad, "wait_list is NULL");
    TEST_FAILS(portmm_buffer_write_start(queue, on.a, 0, 4, got, 1, events, &event), bad, "wait_list[0]");
    TEST_FAILS(portmm_buffer_write_start(queue, on.a, 0, 4, got, 65, events, &event), bad, "wait_count = 65");
    event = events[0];
    TEST_FAILS(portmm_buffer_read_start(queue, on.a, 4, TEST_SQUARE_BYTES, got, 0, NULL, &event), bad, "outside");
    ck_assert_ptr_null(event);
    TEST_FAILS(portmm_buffer_read_start(queue, on.a, 0, 4, got, 0, NULL, NULL), bad, "event is NULL");
    TEST_FAILS(portmm_buffer_read_start(foreign, on.a, 0, 4, got, 0, NULL, &event), bad, "another context");
    TEST_FAILS(portmm_queue_barrier(NULL, 0, NULL, NULL), bad, "queue is NULL");
    event = events[0];
    TEST_FAILS(portmm_queue_barrier(queue, 1, events, &event), bad, "wait_list[0]");
    ck_assert_ptr_null(event);
    uint64_t begin, end;
    TEST_FAILS(portmm_event_get_times(NULL, &begin, &end), bad, "event");
    TEST_FAILS(portmm_event_get_times(events[0], NULL, &end), bad, "begin_ns");
    TEST_FAILS(portmm_event_get_times(events[0], &begin, NULL), bad, "end_ns");
    TEST_FAILS(portmm_queue_create_timed(NULL, &queue), bad, "context or queue");
    TEST_FAILS(portmm_queue_create_timed(context, NULL), bad, "context or queue");
    portmm_event_destroy(events[0]);
    portmm_queue_destroy(foreign);
    portmm_context_destroy(other);
    destroy_objects(&on);
}
END_TEST

/* A device with memory of its own says so; then there is nothing more to see. */
static bool share(portmm_context *context, float *memory[BUFFERS], portmm_buffer *buffers[BUFFERS]) {
    for (int i = 0; i < BUFFERS; i++) {
        memory[i] = aligned_alloc(4096, TEST_SQUARE_BYTES);
        memcpy(memory[i], i == 0 ? test_square_a : test_square_b, TEST_SQUARE_BYTES);
        portmm_status status = portmm_buffer_share(context, memory[i], TEST_SQUARE_BYTES, &buffers[i]);
        if (status == PORTMM_STATUS_UNSUPPORTED && i == 0) {
            ck_assert_str_ne(portmm_last_error(), "");
            ck_assert_ptr_null(buffers[i]);
            free(memory[i]);
            return false;
        }
        TEST_OK(status);
    }
    return true;
}

START_TEST(shared_memory_is_the_buffer) {
    portmm_context *context = test_get_context(_i);
    portmm_queue *queue;
    portmm_buffer *buffers[BUFFERS];
    float *memory[BUFFERS];
    void *mapped;
    if (!share(context, memory, buffers))
        return;
    TEST_OK(portmm_queue_create(context, &queue));
    TEST_OK(test_square_multiply(queue, buffers[0], buffers[1], 0, buffers[2], 0, NULL, NULL));
    TEST_OK(portmm_buffer_map(queue, buffers[2], &mapped));
    ck_assert_ptr_eq(mapped, memory[2]);
    ck_assert_mem_eq(memory[2], test_square_product, TEST_SQUARE_BYTES);
    TEST_OK(portmm_buffer_unmap(queue, buffers[2]));
    TEST_OK(portmm_buffer_map(queue, buffers[0], &mapped));
    memset(mapped, 0, TEST_SQUARE_BYTES); /* the device sees what the host wrote */
    TEST_OK(portmm_buffer_unmap(queue, buffers[0]));
    TEST_OK(test_square_multiply(queue, buffers[0], buffers[1], 0, buffers[2], 0, NULL, NULL));
    TEST_OK(portmm_buffer_map(queue, buffers[2], &mapped));
    for (int i = 0; i < TEST_SQUARE_ELEMENTS; i++)
        ck_assert(memory[2][i] == 0);
    TEST_OK(portmm_buffer_unmap(queue, buffers[2]));
    for (int i = 0; i < BUFFERS; i++) {
        portmm_buffer_destroy(buffers[i]);
        free(memory[i]);
    }
    portmm_queue_destroy(queue);
}
END_TEST

START_TEST(any_buffer_is_mapped) {
    portmm_context *context = test_get_context(_i);
    objects on = make_objects(context);
    portmm_queue *queue = on.queues[0];
    void *mapped = &on;
    float got[TEST_SQUARE_ELEMENTS];
    TEST_OK(portmm_buffer_write(queue, on.a, 0, TEST_SQUARE_BYTES, test_square_a));
    portmm_status status = portmm_buffer_map(queue, on.a, &mapped);
    if (status == PORTMM_STATUS_UNSUPPORTED) {
        ck_assert_str_ne(portmm_last_error(), "");
        ck_assert_ptr_null(mapped);
        destroy_objects(&on);
        return;
    }
    TEST_OK(status);
    ck_assert_mem_eq(mapped, test_square_a, TEST_SQUARE_BYTES);
    memcpy(mapped, test_square_b, TEST_SQUARE_BYTES);
    TEST_OK(portmm_buffer_unmap(queue, on.a));
    TEST_OK(portmm_buffer_read(queue, on.a, 0, TEST_SQUARE_BYTES, got));
    ck_assert_mem_eq(got, test_square_b, TEST_SQUARE_BYTES);
    destroy_objects(&on);
}
END_TEST

START_TEST(a_mapped_buffer_is_used_by_no_command) {
    portmm_context *context = test_get_context(_i);
    objects on = make_objects(context);
    portmm_queue *queue = on.queues[0];
    portmm_event *event;
    void *mapped, *again = &on;
    float got[4] = {0};
    const portmm_status bad = PORTMM_STATUS_INVALID_ARGUMENT;
    if (portmm_buffer_map(queue, on.a, &mapped) == PORTMM_STATUS_SUCCESS) {
        TEST_FAILS(portmm_buffer_map(queue, on.a, &again), bad, "mapped already");
        ck_assert_ptr_null(again);
        TEST_FAILS(test_square_multiply(queue, on.a, on.b, 0, on.c, 0, NULL, NULL), bad, "buffer a is mapped");
        TEST_FAILS(test_square_multiply(queue, on.b, on.b, 0, on.a, 0, NULL, NULL), bad, "buffer c is mapped");
        TEST_FAILS(portmm_buffer_write(queue, on.a, 0, 4, got), bad, "is mapped");
        TEST_FAILS(portmm_buffer_read(queue, on.a, 0, 4, got), bad, "is mapped");
        TEST_FAILS(portmm_buffer_write_start(queue, on.a, 0, 4, got, 0, NULL, &event), bad, "is mapped");
        TEST_OK(portmm_buffer_unmap(queue, on.a));
        TEST_FAILS(portmm_buffer_unmap(queue, on.a), bad, "not mapped");
        TEST_FAILS(portmm_buffer_map(queue, on.a, NULL), bad, "memory is NULL");
    }
    TEST_FAILS(portmm_buffer_map(NULL, on.a, &mapped), bad, "queue or buffer");
    TEST_FAILS(portmm_buffer_map(queue, NULL, &mapped), bad, "queue or buffer");
    TEST_FAILS(portmm_buffer_unmap(queue, NULL), bad, "queue or buffer");
    portmm_buffer *none = on.a;
    TEST_FAILS(portmm_buffer_share(context, NULL, 4, &none), bad, "memory is NULL");
    ck_assert_ptr_null(none);
    TEST_FAILS(portmm_buffer_share(context, got, 0, &none), bad, "size = 0");
    TEST_FAILS(portmm_buffer_share(NULL, got, 4, &none), bad, "context or buffer");
    TEST_FAILS(portmm_buffer_share(context, got, 4, NULL), bad, "context or buffer");
    destroy_objects(&on);
}
END_TEST

START_TEST(events_of_a_timed_queue_have_times) {
    portmm_context *context = test_get_context(_i);
    objects on = make_objects(context);
    portmm_queue *queue = on.queues[0], *timed = queue;
    enum { WRITE, PRODUCT, LATER, BARRIER, READ, COUNT };
    portmm_event *events[COUNT], *untimed;
    uint64_t begin[COUNT], end[COUNT];
    float got[TEST_SQUARE_ELEMENTS];
    portmm_status status = portmm_queue_create_timed(context, &timed);
    TEST_OK(test_square_multiply(queue, on.a, on.b, 0, on.c, 0, NULL, &untimed));
    TEST_FAILS(portmm_event_get_times(untimed, begin, end), PORTMM_STATUS_UNSUPPORTED, "time");
    portmm_event_destroy(untimed);
    if (status == PORTMM_STATUS_UNSUPPORTED) {
        ck_assert_ptr_null(timed);
        destroy_objects(&on);
        return;
    }
    TEST_OK(status);
    TEST_OK(portmm_buffer_write(timed, on.b, 0, TEST_SQUARE_BYTES, test_square_b));
    TEST_OK(portmm_buffer_write_start(timed, on.a, 0, TEST_SQUARE_BYTES, test_square_a, 0, NULL, &events[WRITE]));
    TEST_OK(test_square_multiply(timed, on.a, on.b, 0, on.c, 0, NULL, &events[PRODUCT]));
    TEST_OK(test_square_multiply(timed, on.a, on.b, 0, on.c, 0, NULL, &events[LATER]));
    TEST_OK(portmm_queue_barrier(timed, 0, NULL, &events[BARRIER]));
    TEST_OK(portmm_buffer_read_start(timed, on.c, 0, TEST_SQUARE_BYTES, got, 0, NULL, &events[READ]));
    for (int i = 0; i < COUNT; i++) {
        TEST_OK(portmm_event_get_times(events[i], &begin[i], &end[i]));
        ck_assert(begin[i] <= end[i]);
        ck_assert(i == 0 || end[i - 1] <= end[i] + COARSE_NS);
    }
    for (int i = WRITE; i < BARRIER; i++)
        ck_assert(begin[i] < end[i] && (i == WRITE || end[i - 1] <= begin[i] + COARSE_NS));
    ck_assert_mem_eq(got, test_square_product, TEST_SQUARE_BYTES);
    for (int i = 0; i < COUNT; i++)
        portmm_event_destroy(events[i]);
    portmm_queue_destroy(timed);
    destroy_objects(&on);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("transfers");
    TCase *cases = tcase_create("transfers");
    int targets = test_target_count();
    test_square_fill();
    tcase_add_loop_test(cases, transfers_that_do_not_wait_keep_their_order, 0, targets);
    tcase_add_loop_test(cases, parts_are_transferred, 0, targets);
    tcase_add_loop_test(cases, wrong_arguments_of_transfers_are_named, 0, targets);
    tcase_add_loop_test(cases, shared_memory_is_the_buffer, 0, targets);
    tcase_add_loop_test(cases, any_buffer_is_mapped, 0, targets);
    tcase_add_loop_test(cases, a_mapped_buffer_is_used_by_no_command, 0, targets);
    tcase_add_loop_test(cases, events_of_a_timed_queue_have_times, 0, targets);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
