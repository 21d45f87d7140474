/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that fails: at each OpenCL function in use, with each error code, at each of its calls. Every product is
 * then right or refused with a text; nothing hangs, nothing ends the process, no object is left; and as soon as the
 * driver works again, so does a new context.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/control.h"
#include "support/product.h"
#include "support/suite.h"

/* All of OpenCL 1.2, a code that the loader has, and two of no standard. */
static const int codes[] = {-1,  -2,  -3,  -4,  -5,  -6,  -7,  -8,  -9,  -10, -11,   -12,   -13, -14, -15, -16,
                            -17, -18, -19, -30, -31, -32, -33, -34, -35, -36, -37,   -38,   -39, -40, -41, -42,
                            -43, -44, -45, -46, -47, -48, -49, -50, -51, -52, -53,   -54,   -55, -56, -57, -58,
                            -59, -60, -61, -62, -63, -64, -65, -66, -67, -68, -1001, -9999, 1};
enum { CODES = sizeof codes / sizeof *codes, OF_NO_STANDARD = 2 };

static test_reference reference;
static char fault[160]; /* the one under test, for messages */

typedef struct way {
    const char *name, *engine; /* NULL: policy `fast` */
    portmm_cache_mode cache;
    const char *part; /* functions with this in their name; from source, the others behave as from the cache */
} way;

static const way ways[] = {{"starter from the cache", "starter", PORTMM_CACHE_READ_WRITE, "cl"},
                           {"starter from source", "starter", PORTMM_CACHE_OFF, "Program"},
                           {"CLBlast from the cache", "clblast", PORTMM_CACHE_READ_WRITE, "cl"},
                           {"CLBlast from source", "clblast", PORTMM_CACHE_OFF, "Program"},
                           {"fast", NULL, PORTMM_CACHE_READ_WRITE, "Enqueue"}};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- one program's life ---- */

static bool shows;   /* TEST_SHOW=1 prints every refusal */
static int refusals; /* of the life under way */

/* Success, or a failure with a text. */
static bool accept(portmm_status status, const char *what) {
    if (status == PORTMM_STATUS_SUCCESS)
        return true;
    ck_assert_msg(portmm_last_error()[0] != '\0', "%s: %s fails with %s and no text", fault, what,
                  portmm_status_name(status));
    if (shows)
        printf("%s: %s: %s: %s\n", fault, what, portmm_status_name(status), portmm_last_error());
    refusals++;
    return false;
}

static void judge(test_operands *operands, const test_product *product) {
    char why[TEST_WHY_SIZE];
    ck_assert_msg(test_operands_judge(operands, product, why), "%s: %s", fault, why);
}

static void multiply_on_host(portmm_context *context, const test_product *product) {
    test_operands operands;
    test_operands_init(&operands, product);
    if (accept(test_call_host(context, &operands.call, test_stored_start(&operands.a), test_stored_start(&operands.b),
                              test_stored_start(&operands.c)),
               "a product on host pointers"))
        judge(&operands, product);
    test_operands_fini(&operands);
}

/* Two queues, the second one's product after the first one's, of which it overwrites the result. */
static void multiply_on_buffers(portmm_context *context, const test_product *product) {
    test_operands operands;
    portmm_queue *queues[2] = {NULL, NULL};
    portmm_event *events[2] = {NULL, NULL};
    test_operands_init(&operands, product);
    bool good = accept(portmm_queue_create(context, &queues[0]), "a queue") &&
                accept(portmm_queue_create(context, &queues[1]), "a queue") &&
                accept(test_operands_upload(&operands, context, queues[0]), "an upload") &&
                accept(test_operands_multiply(&operands, queues[0], 0, NULL, &events[0]), "a product") &&
                accept(test_operands_multiply(&operands, queues[1], 1, events, &events[1]), "a product that waits") &&
                accept(portmm_event_wait(events[1]), "a wait") && accept(portmm_queue_finish(queues[1]), "finish") &&
                accept(test_operands_download(&operands, queues[1]), "a download");
    if (good)
        judge(&operands, product);
    for (int i = 0; i < 2; i++) {
        portmm_event_destroy(events[i]);
        portmm_queue_destroy(queues[i]);
    }
    test_operands_fini(&operands);
}

enum { ALL, LITTLE }; /* of what a program may do */

static void live(const way *this, int how_much) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = "opencl";
    options.engine = this->engine;
    options.cache_mode = this->cache;
    refusals = 0;
    if (!accept(portmm_context_create(&options, &context), "a context"))
        return;
    const test_product product = {.reference = &reference, .form = test_get_form(0), .alpha = 1, .places = &test_tight};
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.m = reference.m, problem.n = reference.n, problem.k = reference.k;
    multiply_on_host(context, &product);
    if (how_much == ALL) {
        multiply_on_buffers(context, &product);
        accept(portmm_prewarm(context, &problem), "prewarm");
        multiply_on_host(context, &product);
    }
    portmm_context_destroy(context);
}

/* ---- faults ---- */

static void live_with_fault(const way *this, int how_much, const char *function, int code, long first, long last) {
    snprintf(fault, sizeof fault, "%s, %s fails with %d from call %ld to %ld", this->name, function, code, first, last);
    test_control_remember_objects();
    test_control_set("fail=%s code=%d first=%ld last=%ld", function, code, first, last);
    live(this, how_much);
    test_control_set(" ");
    test_control_expect_no_more_objects(fault);
}

static void expect_health(const way *this) {
    snprintf(fault, sizeof fault, "%s, after all faults", this->name);
    live(this, ALL);
    ck_assert_msg(refusals == 0, "%s: %d calls fail: %s", fault, refusals, portmm_last_error());
}

enum { MOST_FUNCTIONS = 64 };

/* How often a life without faults, and with a full cache, calls each function. */
static void count_calls(const way *this, int how_much, long calls[MOST_FUNCTIONS]) {
    snprintf(fault, sizeof fault, "%s, no fault", this->name);
    live(this, ALL); /* fills the cache */
    test_control_set(" ");
    live(this, how_much);
    for (int i = 0; i < MOST_FUNCTIONS; i++)
        calls[i] = test_control_function(i) != NULL ? test_control_calls(test_control_function(i)) : 0;
}

/* In a text of an error, so that nobody has to look up a number. */
START_TEST(every_code_has_its_name) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = "opencl";
    for (int c = 0; c < CODES; c++) {
        char number[16];
        snprintf(number, sizeof number, "(%d)", codes[c]);
        test_control_set("fail=clCreateContext code=%d", codes[c]);
        ck_assert(portmm_context_create(&options, &context) != PORTMM_STATUS_SUCCESS);
        ck_assert_msg(strstr(portmm_last_error(), number) != NULL, "%s", portmm_last_error());
        ck_assert_msg((strstr(portmm_last_error(), ": CL_") != NULL) == (c < CODES - OF_NO_STANDARD), "%s",
                      portmm_last_error());
    }
    test_control_set(" ");
}
END_TEST

START_TEST(a_driver_that_tells_nothing_is_named) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = "opencl";
    test_control_set("fail=clGetDeviceIDs code=-5");
    TEST_FAILS(portmm_context_create(&options, &context), PORTMM_STATUS_UNAVAILABLE, "clGetDeviceIDs: CL_OUT_OF_RES");
    test_control_set("fail=clGetDeviceInfo code=-33");
    TEST_FAILS(portmm_context_create(&options, &context), PORTMM_STATUS_UNAVAILABLE, "does not tell which OpenCL");
    test_control_set(" ");
}
END_TEST

/* Sanitizers slow it down: there, each function has a few codes and each code a few functions. */
#ifdef TEST_SANITIZED
enum { CODE_STEP = 8 };
#else
enum { CODE_STEP = 1 };
#endif

START_TEST(every_code_of_every_call) {
    const way *this = &ways[0];
    long calls[MOST_FUNCTIONS];
    count_calls(this, LITTLE, calls);
    for (int i = 0; i < MOST_FUNCTIONS; i++)
        for (int c = i % CODE_STEP; c < CODES && calls[i] > 0; c += CODE_STEP)
            live_with_fault(this, LITTLE, test_control_function(i), codes[c], 1, 1000000);
    expect_health(this);
}
END_TEST

START_TEST(every_single_call) {
    const way *this = &ways[_i];
    long calls[MOST_FUNCTIONS];
    count_calls(this, ALL, calls);
    for (int i = 0; i < MOST_FUNCTIONS; i++) {
        const char *function = test_control_function(i);
        for (long call = 1; call <= calls[i] && strstr(function, this->part) != NULL; call++)
            live_with_fault(this, ALL, function, call % 2 == 0 ? -5 : -36, call, call);
    }
    expect_health(this);
}
END_TEST

int main(void) {
    if (!test_control_init())
        return test_skip("opencl");
    shows = getenv("TEST_SHOW") != NULL;
    test_reference_init(&reference, PORTMM_F32, TEST_INTEGERS, 19, 13, 17);
    Suite *suite = suite_create("faults");
    TCase *of_codes = tcase_create("codes");
    tcase_add_test(of_codes, every_code_has_its_name);
    tcase_add_test(of_codes, a_driver_that_tells_nothing_is_named);
    tcase_add_test(of_codes, every_code_of_every_call);
    suite_add_tcase(suite, of_codes);
    for (int i = 0; i < WAYS; i++) { /* two of one engine are two cases of one name */
        TCase *of_calls = tcase_create(ways[i].engine != NULL ? ways[i].engine : "fast");
        tcase_add_loop_test(of_calls, every_single_call, i, i + 1);
        suite_add_tcase(suite, of_calls);
    }
    int code = test_main(suite);
    test_reference_fini(&reference);
    return code;
}
