/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two OpenCL platforms in one process, from two drivers: PoCL, and the test driver. Contexts on both work side by side;
 * objects of the application's own are told apart, and a cl_context finds the device that it is of.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "driver/application.h"
#include "support/product.h"
#include "support/square.h"
#include "support/suite.h"

enum { PLATFORMS = 2, TURNS = 10 };

static const char *const names[PLATFORMS] = {"test driver", "Portable Computing Language"};
static char specs[PLATFORMS][32];

/* The first device of each, wherever the loader lists it. */
static bool find_specs(void) {
    portmm_inventory *inventory = NULL;
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "opencl";
    if (portmm_inventory_create(&options, &inventory) != PORTMM_STATUS_SUCCESS)
        return false;
    for (size_t i = portmm_inventory_device_count(inventory); i > 0; i--) {
        portmm_device_info info = PORTMM_DEVICE_INFO_INIT;
        if (portmm_inventory_get_device(inventory, i - 1, &info) != PORTMM_STATUS_SUCCESS)
            continue;
        for (int p = 0; p < PLATFORMS; p++)
            if (strstr(info.platform_name, names[p]) != NULL)
                snprintf(specs[p], sizeof specs[p], "opencl:%d", (int)info.index);
    }
    portmm_inventory_destroy(inventory);
    return specs[0][0] != '\0' && specs[1][0] != '\0';
}

static portmm_context *open_context(const char *spec, const char *engine, void *native) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = spec;
    options.engine = engine;
    options.native_context = native;
    TEST_OK(portmm_context_create(&options, &context));
    return context;
}

static void expect_platform(portmm_context *context, int platform) {
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    TEST_OK(portmm_context_get_info(context, &info));
    ck_assert_msg(strstr(info.platform_name, names[platform]) != NULL, "%s", info.platform_name);
}

START_TEST(products_take_turns_on_both) {
    static const char *const engines[] = {"starter", "clblast"};
    portmm_context *contexts[PLATFORMS];
    test_reference reference;
    char why[TEST_WHY_SIZE];
    test_reference_init(&reference, PORTMM_F32, TEST_INTEGERS, 33, 21, 45);
    for (int p = 0; p < PLATFORMS; p++) {
        contexts[p] = open_context(specs[p], engines[_i], NULL);
        expect_platform(contexts[p], p);
    }
    for (int turn = 0; turn < TURNS; turn++) {
        const test_product product = {.reference = &reference,
                                      .form = test_get_form(turn),
                                      .alpha = 1,
                                      .places = &test_tight,
                                      .on_buffers = turn % 4 > 1};
        ck_assert_msg(test_product_run(contexts[turn % 2], &product, why), "%s: %s", specs[turn % 2], why);
    }
    portmm_context_destroy(contexts[0]); /* the other one goes on */
    const test_product last = {.reference = &reference, .form = test_get_form(0), .alpha = 1, .places = &test_tight};
    ck_assert_msg(test_product_run(contexts[1], &last, why), "%s", why);
    portmm_context_destroy(contexts[1]);
    test_reference_fini(&reference);
}
END_TEST

typedef struct worker {
    pthread_t thread;
    portmm_context *context;
    const test_reference *reference;
    bool good;
    char why[TEST_WHY_SIZE];
} worker;

static void *work(void *user) {
    worker *this = user;
    this->good = true;
    for (int turn = 0; turn < TURNS && this->good; turn++) {
        const test_product product = {.reference = this->reference,
                                      .form = test_get_form(turn),
                                      .alpha = 1,
                                      .places = &test_tight,
                                      .on_buffers = turn % 2 == 1};
        this->good = test_product_run(this->context, &product, this->why);
    }
    return NULL;
}

START_TEST(a_thread_on_each) {
    worker workers[PLATFORMS];
    test_reference reference;
    test_reference_init(&reference, PORTMM_F32, TEST_INTEGERS, 33, 21, 45);
    for (int p = 0; p < PLATFORMS; p++) {
        workers[p] = (worker){.context = open_context(specs[p], NULL, NULL), .reference = &reference};
        ck_assert_int_eq(pthread_create(&workers[p].thread, NULL, work, &workers[p]), 0);
    }
    for (int p = 0; p < PLATFORMS; p++) {
        pthread_join(workers[p].thread, NULL);
        ck_assert_msg(workers[p].good, "%s: %s", specs[p], workers[p].why);
        portmm_context_destroy(workers[p].context);
    }
    test_reference_fini(&reference);
}
END_TEST

START_TEST(the_applications_objects_are_told_apart) {
    test_application own[PLATFORMS];
    portmm_context *contexts[PLATFORMS], *none;
    portmm_queue *queues[PLATFORMS], *foreign;
    portmm_buffer *buffers[3], *strange;
    float got[TEST_SQUARE_ELEMENTS];
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    const portmm_status bad = PORTMM_STATUS_INVALID_ARGUMENT;
    for (int p = 0; p < PLATFORMS; p++)
        own[p] = test_application_open(names[p]);
    for (int p = 0; p < PLATFORMS; p++) {
        contexts[p] = open_context("opencl", "starter", own[p].context); /* which device, it tells itself */
        expect_platform(contexts[p], p);
        TEST_OK(portmm_queue_borrow(contexts[p], own[p].queue, &queues[p]));
        options.backend = specs[p];
        options.native_context = own[1 - p].context;
        TEST_FAILS(portmm_context_create(&options, &none), bad, "has not opencl:");
    }
    for (int p = 0; p < PLATFORMS; p++) {
        cl_mem memory[3];
        for (int i = 0; i < 3; i++) {
            memory[i] = test_application_make_memory(&own[p], CL_MEM_READ_WRITE, TEST_SQUARE_BYTES,
                                                     i == 0 ? test_square_a : test_square_b);
            TEST_OK(portmm_buffer_borrow(contexts[p], memory[i], &buffers[i]));
        }
        TEST_FAILS(portmm_queue_borrow(contexts[1 - p], own[p].queue, &foreign), bad, "another cl_context");
        TEST_FAILS(portmm_buffer_borrow(contexts[1 - p], memory[0], &strange), bad, "another cl_context");
        TEST_FAILS(test_square_multiply(queues[1 - p], buffers[0], buffers[1], 0, buffers[2], 0, NULL, NULL), bad,
                   "another context");
        TEST_OK(test_square_multiply(queues[p], buffers[0], buffers[1], 0, buffers[2], 0, NULL, NULL));
        TEST_OK(portmm_buffer_read(queues[p], buffers[2], 0, TEST_SQUARE_BYTES, got));
        ck_assert_mem_eq(got, test_square_product, TEST_SQUARE_BYTES);
        for (int i = 0; i < 3; i++) {
            portmm_buffer_destroy(buffers[i]);
            ck_assert_int_eq(test_get_cl()->clReleaseMemObject(memory[i]), CL_SUCCESS);
        }
    }
    for (int p = 0; p < PLATFORMS; p++) {
        portmm_queue_destroy(queues[p]);
        portmm_context_destroy(contexts[p]);
        test_application_close(&own[p]);
    }
}
END_TEST

int main(void) {
    if (!find_specs()) {
        printf("skipped: not both of the test driver and PoCL have a device\n");
        return test_skip("opencl");
    }
    test_square_fill();
    Suite *suite = suite_create("platforms");
    TCase *cases = tcase_create("platforms");
    tcase_add_loop_test(cases, products_take_turns_on_both, 0, 2);
    tcase_add_test(cases, a_thread_on_each);
    tcase_add_test(cases, the_applications_objects_are_told_apart);
    suite_add_tcase(suite, cases);
    return test_main(suite);
}
