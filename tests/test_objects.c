/* SPDX-License-Identifier: Apache-2.0 */
/* Every OpenCL object that is made is released. CTest sets OPENCL_LAYERS to the layer that counts them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/count_objects.h"
#include "support/product.h"
#include "support/suite.h"

static const char *const kinds[TEST_OBJECT_KINDS] = {"contexts", "queues", "buffers", "programs", "kernels", "events"};

static long (*count_objects)(int kind);

static portmm_context *open_context(int target) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = test_get_target(target)->spec;
    options.engine = test_get_target(target)->engine;
    TEST_OK(portmm_context_create(&options, &context));
    return context;
}

static void expect_nothing_left(const char *after) {
    for (int kind = 0; kind < TEST_OBJECT_KINDS; kind++)
        ck_assert_msg(count_objects(kind) == 0, "%ld %s are left after %s", count_objects(kind), kinds[kind], after);
}

START_TEST(products_leave_no_object) {
    portmm_context *context = open_context(_i);
    test_reference reference;
    test_reference_init(&reference, test_get_target(_i)->dtype, TEST_INTEGERS, 33, 21, 45);
    for (int turn = 0; turn < 12; turn++)
        test_product_check(context, &(test_product){.reference = &reference,
                                                    .form = test_get_form(turn),
                                                    .alpha = turn % 3 == 0 ? 0 : 1,
                                                    .beta = turn % 2,
                                                    .places = &test_tight,
                                                    .on_buffers = turn % 4 > 1});
    test_reference_fini(&reference);
    ck_assert_int_eq(count_objects(TEST_CONTEXTS), 1);
    ck_assert_int_eq(count_objects(TEST_KERNELS), 0);
    portmm_context_destroy(context);
    expect_nothing_left("products");
}
END_TEST

START_TEST(events_leave_no_object) {
    portmm_context *context = open_context(_i);
    test_reference reference;
    portmm_queue *queues[2];
    test_operands operands;
    test_reference_init(&reference, test_get_target(_i)->dtype, TEST_INTEGERS, 33, 21, 45);
    test_product product = {.reference = &reference, .alpha = 1, .places = &test_tight, .form = test_get_form(0)};
    test_operands_init(&operands, &product);
    for (int i = 0; i < 2; i++)
        TEST_OK(portmm_queue_create(context, &queues[i]));
    TEST_OK(test_operands_upload(&operands, context, queues[0]));
    for (int turn = 0; turn < 12; turn++) {
        portmm_event *events[2];
        operands.call.m = turn % 4 == 0 ? 0 : 33; /* also of what has nothing to do */
        TEST_OK(test_operands_multiply(&operands, queues[0], 0, NULL, &events[0]));
        TEST_OK(test_operands_multiply(&operands, queues[1], 1, events, &events[1]));
        if (turn % 2 == 0)
            TEST_OK(portmm_event_wait(events[1]));
        portmm_event_destroy(events[0]);
        portmm_event_destroy(events[1]);
    }
    for (int i = 0; i < 2; i++)
        portmm_queue_destroy(queues[i]);
    test_operands_fini(&operands);
    test_reference_fini(&reference);
    portmm_context_destroy(context);
    expect_nothing_left("events");
}
END_TEST

START_TEST(contexts_leave_no_object) {
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.dtype = test_get_target(_i)->dtype;
    problem.m = 33, problem.n = 21, problem.k = 45;
    portmm_context *contexts[2] = {open_context(_i), open_context(_i)};
    TEST_OK(portmm_prewarm(contexts[0], &problem)); /* captures what it compiled */
    TEST_OK(portmm_prewarm(contexts[1], &problem));
    portmm_context_destroy(contexts[0]);
    portmm_context_destroy(contexts[1]);
    expect_nothing_left("two contexts and prewarm");
    contexts[0] = open_context(_i); /* now from the cache */
    TEST_OK(portmm_prewarm(contexts[0], &problem));
    portmm_context_destroy(contexts[0]);
    expect_nothing_left("a program from the cache");
}
END_TEST

START_TEST(failures_leave_no_object) {
    portmm_context *context = open_context(_i);
    portmm_queue *queue;
    portmm_buffer *buffer;
    unsigned char byte = 0;
    TEST_OK(portmm_queue_create(context, &queue));
    TEST_OK(portmm_buffer_create(context, 4, &buffer));
    const test_call call = {.dtype = test_get_target(_i)->dtype,
                            .form = test_get_form(0),
                            .m = 2,
                            .n = 2,
                            .k = 2,
                            .alpha = 1,
                            .lda = 2,
                            .ldb = 2,
                            .ldc = 2};
    portmm_event *event;
    for (int turn = 0; turn < 5; turn++) {
        TEST_FAILS(test_call_buffers(queue, &call, buffer, buffer, buffer, 0, NULL, &event),
                   PORTMM_STATUS_INVALID_ARGUMENT, "outside");
        TEST_FAILS(portmm_buffer_read(queue, buffer, 4, 1, &byte), PORTMM_STATUS_INVALID_ARGUMENT, "outside");
        portmm_buffer *none;
        TEST_FAILS(portmm_buffer_create(context, SIZE_MAX / 2, &none), PORTMM_STATUS_OUT_OF_MEMORY, "");
    }
    portmm_buffer_destroy(buffer);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
    expect_nothing_left("failures");
}
END_TEST

static Suite *make_suite(void) {
    const char *path = getenv("OPENCL_LAYERS");
    void *layer = path != NULL ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (layer == NULL) {
        printf("skipped: the OpenCL loader knows no layers\n");
        exit(77);
    }
    void *symbol = dlsym(layer, "test_count_objects");
    memcpy(&count_objects, &symbol, sizeof symbol);
    Suite *suite = suite_create("objects");
    TCase *cases = tcase_create("objects");
    int targets = test_target_count();
    tcase_add_loop_test(cases, products_leave_no_object, 0, targets);
    tcase_add_loop_test(cases, events_leave_no_object, 0, targets);
    tcase_add_loop_test(cases, contexts_leave_no_object, 0, targets);
    tcase_add_loop_test(cases, failures_leave_no_object, 0, targets);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
