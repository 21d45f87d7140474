/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that fails while a program works on OpenCL objects of its own, with transfers that do not wait, a timed
 * queue and mapped memory: at each function, with each error code, at each call. Every call of ours is then right or
 * fails with a text; no reference of ours is left; and the application's objects are as they were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/application.h"
#include "driver/control.h"
#include "support/square.h"
#include "support/suite.h"

/* Every third code of the standard: test_faults has them all. */
enum { FIRST_CODE = -72, CODES = 73, STEP = 3, OF_NO_STANDARD = 7777 };

static char fault[160]; /* the one under test, for messages */
static bool shows;      /* TEST_SHOW=1 prints every refusal */
static int refusals;

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

typedef struct owned {
    test_application application;
    cl_mem memory[3];
} owned;

static owned make_owned(void) {
    owned made = {.application = test_application_open("test driver")};
    const cl_mem_flags flags[3] = {CL_MEM_READ_ONLY, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE};
    for (int i = 0; i < 3; i++)
        made.memory[i] = test_application_make_memory(&made.application, flags[i], TEST_SQUARE_BYTES, test_square_b);
    return made;
}

/* They still work, and nobody else has a reference. */
static void expect_as_before(const owned *own) {
    const cl_icd_dispatch *cl = test_get_cl();
    float got[TEST_SQUARE_ELEMENTS];
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(cl->clEnqueueReadBuffer(own->application.queue, own->memory[i], CL_TRUE, 0, TEST_SQUARE_BYTES,
                                                 got, 0, NULL, NULL),
                         CL_SUCCESS);
        ck_assert_msg(test_count_of_memory(own->memory[i]) == 1, "%s: memory %d", fault, i);
    }
    ck_assert_msg(test_count_of_queue(own->application.queue) == 1, "%s: the queue", fault);
    ck_assert_msg(test_count_of_context(own->application.context) == 1, "%s: the context", fault);
}

static void release_owned(owned *own) {
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(test_get_cl()->clReleaseMemObject(own->memory[i]), CL_SUCCESS);
    test_application_close(&own->application);
}

/* A to the device, a product, C back: all in order, without a wait but the last. */
static void multiply(portmm_queue *queue, portmm_buffer *const buffers[3]) {
    portmm_event *events[4] = {NULL, NULL, NULL, NULL};
    float got[TEST_SQUARE_ELEMENTS] = {0};
    void *native = NULL;
    bool good =
        accept(portmm_buffer_write_start(queue, buffers[0], 0, TEST_SQUARE_BYTES, test_square_a, 0, NULL, &events[0]),
               "an upload") &&
        accept(test_square_multiply(queue, buffers[0], buffers[1], 0, buffers[2], 1, events, &events[1]), "product") &&
        accept(portmm_event_get_native(events[1], &native), "an event's own") &&
        accept(portmm_queue_barrier(queue, 2, events, &events[2]), "a barrier") &&
        accept(portmm_buffer_read_start(queue, buffers[2], 0, TEST_SQUARE_BYTES, got, 1, &events[2], &events[3]),
               "a download") &&
        accept(portmm_event_wait(events[3]), "a wait");
    if (good)
        ck_assert_msg(memcmp(got, test_square_product, TEST_SQUARE_BYTES) == 0, "%s: the product is wrong", fault);
    portmm_queue_finish(queue); /* `got` is the library's until then */
    for (int i = 0; i < 4; i++)
        portmm_event_destroy(events[i]);
}

static void borrow_and_multiply(portmm_context *context, const owned *own) {
    portmm_queue *queue = NULL;
    portmm_buffer *buffers[3] = {NULL, NULL, NULL};
    bool good = accept(portmm_queue_borrow(context, own->application.queue, &queue), "a queue");
    for (int i = 0; i < 3; i++)
        good = good && accept(portmm_buffer_borrow(context, own->memory[i], &buffers[i]), "memory");
    if (good)
        multiply(queue, buffers);
    for (int i = 0; i < 3; i++)
        portmm_buffer_destroy(buffers[i]);
    portmm_queue_destroy(queue);
}

static void time_and_map(portmm_context *context) {
    static _Alignas(4096) float memory[TEST_SQUARE_ELEMENTS];
    portmm_queue *queue = NULL;
    portmm_buffer *buffer = NULL;
    portmm_event *event = NULL;
    void *mapped = NULL;
    uint64_t begin = 0, end = 0;
    memcpy(memory, test_square_b, sizeof memory);
    bool good = accept(portmm_queue_create_timed(context, &queue), "a timed queue") &&
                accept(portmm_buffer_share(context, memory, sizeof memory, &buffer), "shared memory") &&
                accept(portmm_queue_barrier(queue, 0, NULL, &event), "a barrier") &&
                accept(portmm_event_get_times(event, &begin, &end), "times") &&
                accept(portmm_buffer_map(queue, buffer, &mapped), "a map") &&
                accept(portmm_buffer_unmap(queue, buffer), "an unmap");
    ck_assert_msg(!good || (begin <= end && mapped == memory), "%s: times or map are wrong", fault);
    portmm_event_destroy(event);
    portmm_buffer_destroy(buffer);
    portmm_queue_destroy(queue);
}

static void live(const owned *own) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = "opencl";
    options.engine = "starter";
    options.native_context = own->application.context;
    refusals = 0;
    if (!accept(portmm_context_create(&options, &context), "a context"))
        return;
    borrow_and_multiply(context, own);
    time_and_map(context);
    portmm_context_destroy(context);
}

static void live_with_fault(const char *function, int code, long first, long last) {
    snprintf(fault, sizeof fault, "%s fails with %d from call %ld to %ld", function, code, first, last);
    test_control_remember_objects();
    owned own = make_owned();
    test_control_set("fail=%s code=%d first=%ld last=%ld", function, code, first, last);
    live(&own);
    long calls = test_control_calls(function);
    test_control_set(" ");
    ck_assert_msg(refusals > 0 || calls > 0, "%s: nobody calls it", fault);
    expect_as_before(&own);
    release_owned(&own);
    test_control_expect_no_more_objects(fault);
}

enum { MOST_FUNCTIONS = 64 };

static void count_calls(long calls[MOST_FUNCTIONS]) {
    snprintf(fault, sizeof fault, "no fault");
    owned own = make_owned();
    live(&own); /* fills the cache */
    test_control_set(" ");
    live(&own);
    ck_assert_int_eq(refusals, 0);
    for (int i = 0; i < MOST_FUNCTIONS; i++)
        calls[i] = test_control_function(i) != NULL ? test_control_calls(test_control_function(i)) : 0;
    expect_as_before(&own);
    release_owned(&own);
}

START_TEST(every_code_of_every_call) {
    static const char *const functions[] = {"clGetContextInfo",        "clRetainContext",    "clGetCommandQueueInfo",
                                            "clRetainCommandQueue",    "clGetMemObjectInfo", "clRetainMemObject",
                                            "clCreateCommandQueue",    "clCreateBuffer",     "clEnqueueWriteBufferRect",
                                            "clEnqueueReadBufferRect", "clEnqueueMapBuffer", "clEnqueueUnmapMemObject",
                                            "clGetEventProfilingInfo"};
    long calls[MOST_FUNCTIONS];
    count_calls(calls);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        for (int c = 0; c < CODES; c += STEP)
            live_with_fault(functions[i], FIRST_CODE + c != 0 ? FIRST_CODE + c : OF_NO_STANDARD, 1, 1000000);
        ck_assert_msg(refusals > 0, "%s: nothing was refused", fault);
    }
}
END_TEST

START_TEST(every_single_call) {
    long calls[MOST_FUNCTIONS];
    count_calls(calls);
    for (int i = 0; i < MOST_FUNCTIONS; i++)
        for (long call = 1; call <= calls[i]; call++)
            live_with_fault(test_control_function(i), call % 2 == 0 ? -5 : -36, call, call);
    count_calls(calls); /* as healthy as before */
}
END_TEST

/* What the texts say, of the calls where it is not the driver's code alone. */
START_TEST(a_fault_is_told_as_what_it_is) {
    owned own = make_owned();
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    portmm_queue *queue;
    portmm_buffer *buffer;
    static _Alignas(4096) float memory[16];
    const portmm_status bad = PORTMM_STATUS_INVALID_ARGUMENT;
    options.backend = "opencl";
    options.native_context = own.application.context;
    test_control_set("fail=clGetContextInfo code=-34");
    TEST_FAILS(portmm_context_create(&options, &context), bad, "clGetContextInfo: CL_INVALID_CONTEXT (-34)");
    test_control_set(" ");
    TEST_OK(portmm_context_create(&options, &context));
    test_control_set("fail=clGetCommandQueueInfo code=-36");
    TEST_FAILS(portmm_queue_borrow(context, own.application.queue, &queue), bad, "CL_INVALID_COMMAND_QUEUE (-36)");
    test_control_set("fail=clGetMemObjectInfo code=-38");
    TEST_FAILS(portmm_buffer_borrow(context, own.memory[0], &buffer), bad, "CL_INVALID_MEM_OBJECT (-38)");
    test_control_set("fail=clRetainMemObject code=-6");
    TEST_FAILS(portmm_buffer_borrow(context, own.memory[0], &buffer), PORTMM_STATUS_OUT_OF_MEMORY, "clRetainMemObj");
    test_control_set("unified=0");
    TEST_FAILS(portmm_buffer_share(context, memory, sizeof memory, &buffer), PORTMM_STATUS_UNSUPPORTED,
               "memory of its own");
    test_control_set("alloc=64");
    TEST_OK(portmm_buffer_borrow(context, own.memory[0], &buffer)); /* it is there already */
    portmm_buffer_destroy(buffer);
    test_control_set(" ");
    portmm_context_destroy(context);
    expect_as_before(&own);
    release_owned(&own);
}
END_TEST

int main(void) {
    if (!test_control_init())
        return test_skip("opencl");
    shows = getenv("TEST_SHOW") != NULL;
    test_square_fill();
    Suite *suite = suite_create("faults_interop");
    TCase *cases = tcase_create("faults_interop");
    tcase_add_test(cases, a_fault_is_told_as_what_it_is);
    tcase_add_test(cases, every_code_of_every_call);
    tcase_add_test(cases, every_single_call);
    suite_add_tcase(suite, cases);
    return test_main(suite);
}
