/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA driver that fails: each function in use, at each of its calls. Every product is then right or refused with a
 * text, no object is left, and the thread's current context is the one it had. Memory that ran out can be asked for
 * again; a lost device stays lost; PTX is compiled once.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/product.h"
#include "support/suite.h"

enum { OUT_OF_MEMORY = 2, NO_DEVICE = 100, ILLEGAL_ADDRESS = 700, UNKNOWN = 999 };

static int (*set)(const char *settings);
static long (*count_calls)(const char *function);
static const char *(*get_function)(int number);
static long (*count_objects)(void);
static int (*push_context)(void *context);
static int (*get_context)(void **context);

static test_reference reference;
static char fault[160]; /* the one under test, for messages */
static int refusals;

static bool find_driver(void) {
    const struct {
        const char *name;
        void *member;
    } functions[] = {{"test_cuda_set", &set},
                     {"test_cuda_calls", &count_calls},
                     {"test_cuda_function", &get_function},
                     {"test_cuda_objects", &count_objects},
                     {"cuCtxPushCurrent_v2", &push_context},
                     {"cuCtxGetCurrent", &get_context}};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = driver != NULL ? dlsym(driver, functions[i].name) : NULL;
        if (symbol == NULL)
            return false;
        memcpy(functions[i].member, &symbol, sizeof symbol);
    }
    return true;
}

static bool accept(portmm_status status, const char *what) {
    if (status == PORTMM_STATUS_SUCCESS)
        return true;
    ck_assert_msg(portmm_last_error()[0] != '\0', "%s: %s fails with %s and no text", fault, what,
                  portmm_status_name(status));
    refusals++;
    return false;
}

static portmm_context *open_context(const char *engine) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context = NULL;
    options.backend = "cuda";
    options.engine = engine;
    accept(portmm_context_create(&options, &context), "a context");
    return context;
}

static void judge(test_operands *operands, const test_product *product) {
    char why[TEST_WHY_SIZE];
    ck_assert_msg(test_operands_judge(operands, product, why), "%s: %s", fault, why);
}

static void multiply(portmm_context *context, const test_product *product) {
    test_operands operands;
    portmm_queue *queue = NULL;
    portmm_event *event = NULL;
    test_operands_init(&operands, product);
    if (accept(test_call_host(context, &operands.call, test_stored_start(&operands.a), test_stored_start(&operands.b),
                              test_stored_start(&operands.c)),
               "a product on host pointers"))
        judge(&operands, product);
    test_operands_fini(&operands);
    test_operands_init(&operands, product);
    if (accept(portmm_queue_create(context, &queue), "a queue") &&
        accept(test_operands_upload(&operands, context, queue), "an upload") &&
        accept(test_operands_multiply(&operands, queue, 0, NULL, &event), "a product") &&
        accept(portmm_event_wait(event), "a wait") && accept(portmm_queue_finish(queue), "finish") &&
        accept(test_operands_download(&operands, queue), "a download"))
        judge(&operands, product);
    portmm_event_destroy(event);
    portmm_queue_destroy(queue);
    test_operands_fini(&operands);
}

/* One program's life: as many refusals as there are. */
static void live(const char *engine) {
    const test_product product = {.reference = &reference, .form = test_get_form(1), .alpha = 1, .places = &test_tight};
    long before = count_objects();
    refusals = 0;
    portmm_context *context = open_context(engine);
    if (context != NULL)
        multiply(context, &product);
    portmm_context_destroy(context);
    void *current;
    get_context(&current);
    ck_assert_msg(current == (void *)&reference, "%s: the caller's current context is lost", fault);
    ck_assert_msg(count_objects() == before, "%s: %ld objects are left", fault, count_objects() - before);
}

/* Where a push fails there is no way to a release; where a pop does, none back; their own codes are never seen. */
static bool is_of_use(const char *function) {
    return strncmp(function, "cuCtxPop", strlen("cuCtxPop")) != 0 && strncmp(function, "cuGetError", 10) != 0;
}

static bool may_leave_objects(const char *function) {
    return strncmp(function, "cuCtxPush", strlen("cuCtxPush")) == 0;
}

static const char *const engines[] = {"starter", "cublas"};

START_TEST(every_call_fails_in_turn) {
    static const int codes[] = {OUT_OF_MEMORY, UNKNOWN};
    const char *engine = engines[_i], *function;
    set("");
    live(engine);
    ck_assert_int_eq(refusals, 0);
    long calls[64] = {0};
    for (int i = 0; (function = get_function(i)) != NULL; i++)
        calls[i] = count_calls(function);
    for (int i = 0; (function = get_function(i)) != NULL; i++)
        for (long call = 1; call <= calls[i] && is_of_use(function) && !may_leave_objects(function); call++) {
            snprintf(fault, sizeof fault, "fail=%s code=%d first=%ld last=%ld", function, codes[call % 2], call, call);
            ck_assert_int_ne(set(fault), 0);
            live(engine);
        }
    snprintf(fault, sizeof fault, "after all faults");
    set("");
    live(engine);
    ck_assert_msg(refusals == 0, "%s", portmm_last_error());
}
END_TEST

START_TEST(out_of_memory_is_not_for_ever) {
    portmm_buffer *buffer = NULL;
    set("");
    portmm_context *context = open_context("starter");
    set("fail=cuMemAlloc_v2 code=2 last=1");
    TEST_FAILS(portmm_buffer_create(context, 1000, &buffer), PORTMM_STATUS_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY");
    ck_assert_ptr_null(buffer);
    TEST_OK(portmm_buffer_create(context, 1000, &buffer));
    portmm_buffer_destroy(buffer);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(a_lost_device_stays_lost) {
    portmm_buffer *buffer = NULL;
    portmm_queue *queue = NULL;
    set("");
    portmm_context *context = open_context("starter");
    TEST_OK(portmm_queue_create(context, &queue));
    TEST_OK(portmm_buffer_create(context, 1000, &buffer));
    char bytes[8] = "";
    set("fail=cuMemcpyHtoDAsync_v2 code=700 lost=1");
    TEST_FAILS(portmm_buffer_write(queue, buffer, 0, sizeof bytes, bytes), PORTMM_STATUS_DEVICE_LOST, "(700)");
    set(""); /* the driver would work again, and is not asked */
    TEST_FAILS(portmm_buffer_write(queue, buffer, 0, sizeof bytes, bytes), PORTMM_STATUS_DEVICE_LOST, "lost");
    ck_assert_int_eq(count_calls("cuMemcpyHtoDAsync_v2"), 0);
    portmm_buffer_destroy(buffer);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(a_driver_without_use_says_why) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = "cuda";
    set("fail=cuInit code=100");
    TEST_FAILS(portmm_context_create(&options, &context), PORTMM_STATUS_UNAVAILABLE, "nvidia-smi");
    set("devices=0");
    TEST_FAILS(portmm_context_create(&options, &context), PORTMM_STATUS_UNAVAILABLE, "CUDA_VISIBLE_DEVICES");
    set("");
}
END_TEST

START_TEST(a_cublas_that_is_newer_than_the_driver_is_not_loaded) {
    set("version=11080");
    live("cublas");
    ck_assert_int_ge(refusals, 1);
    ck_assert_ptr_nonnull(strstr(portmm_last_error(), "newer than the driver"));
    live(NULL); /* the starter serves */
    ck_assert_int_eq(refusals, 0);
    set("");
}
END_TEST

/* A GPU later than all machine code of the build, and one for which the PTX is asked for. */
START_TEST(ptx_is_compiled_once) {
    snprintf(fault, sizeof fault, "PTX, capability %d", _i == 0 ? 990 : 90);
    if (_i == 1)
        setenv("PORTMM_CUDA_CODE", "ptx", 1);
    const char *settings = _i == 0 ? "capability=990" : "";
    for (int start = 0; start < 3; start++) {
        set(settings);
        live("starter");
        ck_assert_msg(refusals == 0, "%s: %s", fault, portmm_last_error());
        ck_assert_int_le(count_calls("cuLinkComplete"), start == 0); /* an earlier run may have filled the cache */
    }
    char refused[100]; /* as by another driver of the same version: compiled anew */
    snprintf(refused, sizeof refused, "%s fail=cuModuleLoadData code=200 last=1", settings);
    set(refused);
    live("starter");
    ck_assert_int_eq(refusals, 0);
    ck_assert_int_eq(count_calls("cuLinkComplete"), 1);
    unsetenv("PORTMM_CUDA_CODE");
    set("");
}
END_TEST

/* With argument `old`: cuBLAS lacks functions. */
START_TEST(an_old_cublas_is_named) {
    set("");
    live("cublas");
    ck_assert_int_ge(refusals, 1);
    ck_assert_ptr_nonnull(strstr(portmm_last_error(), "older than 12"));
    live(NULL);
    ck_assert_int_eq(refusals, 0);
}
END_TEST

int main(int argc, char **argv) {
    if (!find_driver()) {
        fprintf(stderr, "libcuda.so.1 is not the driver for tests\n");
        return EXIT_FAILURE;
    }
    push_context(&reference); /* some context of the application's */
    test_reference_init(&reference, PORTMM_F32, TEST_INTEGERS, 19, 13, 17);
    Suite *suite = suite_create("cuda");
    TCase *cases = tcase_create("faults");
    if (argc > 1 && strcmp(argv[1], "old") == 0) {
        tcase_add_test(cases, an_old_cublas_is_named);
    } else {
        tcase_add_loop_test(cases, every_call_fails_in_turn, 0, 2);
        tcase_add_test(cases, out_of_memory_is_not_for_ever);
        tcase_add_test(cases, a_lost_device_stays_lost);
        tcase_add_test(cases, a_driver_without_use_says_why);
        tcase_add_test(cases, a_cublas_that_is_newer_than_the_driver_is_not_loaded);
        tcase_add_loop_test(cases, ptx_is_compiled_once, 0, 2);
    }
    suite_add_tcase(suite, cases);
    int code = test_main(suite);
    test_reference_fini(&reference);
    return code;
}
