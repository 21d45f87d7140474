/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUcontext, CUstream and CUdeviceptr of the application's own, on the driver for tests, where each call is also made
 * to fail; and, but for the faults, on a GPU.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_api.h"
#include "support/square.h"
#include "support/suite.h"

static pmm_cuda_api cuda;
static struct {
    CUresult (*create_context)(CUcontext *context, unsigned flags, CUdevice device);
    CUresult (*destroy_context)(CUcontext context);
    /* Of the driver for tests; NULL on another. */
    int (*set)(const char *settings);
    long (*count_calls)(const char *function);
    const char *(*get_function)(int number);
    long (*count_objects)(void);
} more;

static void find_symbol(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
}

static void find_all(void *library) {
    static const struct {
        const char *name;
        size_t at;
    } functions[] = {
#define PLACE(symbol, type) {#symbol, offsetof(pmm_cuda_api, symbol)},
        PMM_CUDA_FUNCTIONS(PLACE)
#undef PLACE
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        find_symbol(library, functions[i].name, (char *)&cuda + functions[i].at);
}

static bool find_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL)
        return false;
    find_all(library);
    find_symbol(library, "cuCtxCreate_v2", &more.create_context);
    find_symbol(library, "cuCtxDestroy_v2", &more.destroy_context);
    find_symbol(library, "test_cuda_set", &more.set);
    find_symbol(library, "test_cuda_calls", &more.count_calls);
    find_symbol(library, "test_cuda_function", &more.get_function);
    find_symbol(library, "test_cuda_objects", &more.count_objects);
    return cuda.cuInit != NULL && cuda.cuInit(0) == CUDA_SUCCESS;
}

#define CUDA_OK(call) ck_assert_int_eq((call), CUDA_SUCCESS)

/* ---- the application ---- */

enum { A, B, C, MATRICES };

typedef struct application {
    CUcontext context; /* the thread's current one, too */
    CUstream stream;
    CUdeviceptr memory[MATRICES];
} application;

static application open_application(CUdevice device) {
    application this;
    CUDA_OK(more.create_context(&this.context, 0, device));
    CUDA_OK(cuda.cuStreamCreate(&this.stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < MATRICES; i++)
        CUDA_OK(cuda.cuMemAlloc(&this.memory[i], TEST_SQUARE_BYTES));
    return this;
}

static void close_application(application *this) {
    CUcontext current = NULL;
    for (int i = 0; i < MATRICES; i++)
        CUDA_OK(cuda.cuMemFree(this->memory[i]));
    CUDA_OK(cuda.cuStreamDestroy(this->stream));
    CUDA_OK(cuda.cuCtxPopCurrent(&current));
    ck_assert_ptr_eq(current, this->context); /* nobody has left another one current */
    CUDA_OK(more.destroy_context(this->context));
}

static void *as_pointer(CUdeviceptr address) {
    return (void *)(uintptr_t)address;
}

static portmm_status create_context(const char *spec, const char *engine, CUcontext native, portmm_context **context) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = spec;
    options.engine = engine;
    options.native_context = native;
    return portmm_context_create(&options, context);
}

/* ---- right products ---- */

static const char *const engines[] = {"starter", "cublas"};

/* Its commands before and after ours on its stream, without a wait between. */
START_TEST(the_applications_objects_serve) {
    application own = open_application(0);
    portmm_context *context;
    portmm_queue *queue, *standard;
    portmm_buffer *buffers[MATRICES];
    portmm_event *event;
    void *native = NULL;
    float got[TEST_SQUARE_ELEMENTS];
    TEST_OK(create_context("cuda:0", engines[_i], own.context, &context));
    TEST_OK(portmm_queue_borrow(context, own.stream, &queue));
    TEST_OK(portmm_queue_borrow(context, NULL, &standard)); /* the default stream */
    for (int i = 0; i < MATRICES; i++)
        TEST_OK(portmm_buffer_borrow(context, as_pointer(own.memory[i]), &buffers[i]));
    CUDA_OK(cuda.cuMemcpyHtoDAsync(own.memory[A], test_square_a, TEST_SQUARE_BYTES, own.stream));
    CUDA_OK(cuda.cuMemcpyHtoDAsync(own.memory[B], test_square_b, TEST_SQUARE_BYTES, own.stream));
    TEST_OK(test_square_multiply(queue, buffers[A], buffers[B], 0, buffers[C], 0, NULL, &event));
    TEST_OK(portmm_event_get_native(event, &native));
    CUDA_OK(cuda.cuStreamWaitEvent(NULL, (CUevent)native, 0));
    CUDA_OK(cuda.cuMemcpyDtoHAsync(got, own.memory[C], TEST_SQUARE_BYTES, NULL));
    CUDA_OK(cuda.cuStreamSynchronize(NULL));
    ck_assert_mem_eq(got, test_square_product, TEST_SQUARE_BYTES);
    memset(got, 0, sizeof got);
    TEST_OK(test_square_multiply(standard, buffers[A], buffers[B], 0, buffers[C], 1, &event, NULL));
    TEST_OK(portmm_buffer_read(standard, buffers[C], 0, TEST_SQUARE_BYTES, got));
    ck_assert_mem_eq(got, test_square_product, TEST_SQUARE_BYTES);
    portmm_event_destroy(event);
    for (int i = 0; i < MATRICES; i++)
        portmm_buffer_destroy(buffers[i]);
    portmm_queue_destroy(queue);
    portmm_queue_destroy(standard);
    portmm_context_destroy(context);
    CUDA_OK(cuda.cuMemcpyDtoHAsync(got, own.memory[A], TEST_SQUARE_BYTES, own.stream)); /* all is still there */
    CUDA_OK(cuda.cuStreamSynchronize(own.stream));
    ck_assert_mem_eq(got, test_square_a, TEST_SQUARE_BYTES);
    close_application(&own);
}
END_TEST

/* An address within a block is a buffer of the rest. */
START_TEST(an_address_in_the_middle_is_the_rest) {
    application own = open_application(0);
    portmm_context *context;
    portmm_queue *queue;
    portmm_buffer *whole, *rest;
    float got[TEST_SQUARE_ELEMENTS];
    const size_t cut = 256;
    TEST_OK(create_context("cuda", "starter", own.context, &context));
    TEST_OK(portmm_queue_borrow(context, own.stream, &queue));
    TEST_OK(portmm_buffer_borrow(context, as_pointer(own.memory[A]), &whole));
    TEST_OK(portmm_buffer_borrow(context, as_pointer(own.memory[A] + cut), &rest));
    TEST_OK(portmm_buffer_write(queue, whole, 0, TEST_SQUARE_BYTES, test_square_a));
    TEST_OK(portmm_buffer_read(queue, rest, 0, TEST_SQUARE_BYTES - cut, got));
    ck_assert_mem_eq(got, (const char *)test_square_a + cut, TEST_SQUARE_BYTES - cut);
    TEST_FAILS(portmm_buffer_read(queue, rest, 0, TEST_SQUARE_BYTES, got), PORTMM_STATUS_INVALID_ARGUMENT, "outside");
    TEST_FAILS(test_square_multiply(queue, whole, whole, 0, rest, 0, NULL, NULL), PORTMM_STATUS_INVALID_ARGUMENT,
               "outside");
    portmm_buffer_destroy(whole);
    portmm_buffer_destroy(rest);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
    close_application(&own);
}
END_TEST

START_TEST(what_is_of_another_context_is_refused) {
    application other = open_application(0), own = open_application(0);
    portmm_context *context, *plain, *none;
    portmm_queue *queue;
    portmm_buffer *buffer;
    void *mapped;
    float unknown;
    const portmm_status bad = PORTMM_STATUS_INVALID_ARGUMENT;
    TEST_OK(create_context("cuda:0", "starter", own.context, &context));
    TEST_OK(create_context("cuda:0", "starter", NULL, &plain));
    TEST_FAILS(portmm_queue_borrow(context, other.stream, &queue), bad, "CUstream");
    ck_assert_ptr_null(queue);
    TEST_FAILS(portmm_queue_borrow(plain, own.stream, &queue), bad, "primary context");
    TEST_FAILS(portmm_buffer_borrow(context, as_pointer(other.memory[A]), &buffer), bad, "CUdeviceptr");
    TEST_FAILS(portmm_buffer_borrow(context, &unknown, &buffer), bad, "CUdeviceptr");
    TEST_FAILS(portmm_buffer_borrow(context, NULL, &buffer), bad, "native is NULL");
    ck_assert_ptr_null(buffer);
    TEST_FAILS(portmm_buffer_share(context, &unknown, sizeof unknown, &buffer), PORTMM_STATUS_UNSUPPORTED,
               "memory of its own");
    TEST_FAILS(create_context("cpu", NULL, own.context, &none), PORTMM_STATUS_UNSUPPORTED, "native_context");
    TEST_FAILS(create_context("auto", NULL, own.context, &none), bad, "native_context");
    TEST_OK(portmm_buffer_borrow(context, as_pointer(own.memory[A]), &buffer));
    TEST_OK(portmm_queue_borrow(context, own.stream, &queue));
    TEST_FAILS(portmm_buffer_map(queue, buffer, &mapped), PORTMM_STATUS_UNSUPPORTED, "portmm_buffer_read");
    portmm_buffer_destroy(buffer);
    portmm_queue_destroy(queue);
    portmm_context_destroy(plain);
    portmm_context_destroy(context);
    close_application(&own);
    close_application(&other);
}
END_TEST

/* ---- the driver for tests ---- */

/* A context finds its device; one of a device that was not named is refused. */
START_TEST(a_context_finds_its_device) {
    portmm_context *context, *none;
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    more.set("devices=3");
    application own = open_application(2);
    TEST_OK(create_context("cuda", "starter", own.context, &context));
    TEST_OK(portmm_context_get_info(context, &info));
    ck_assert_int_eq(info.device_index, 2);
    portmm_context_destroy(context);
    TEST_FAILS(create_context("cuda:1", "starter", own.context, &none), PORTMM_STATUS_INVALID_ARGUMENT, "cuda:1");
    close_application(&own);
    more.set("");
}
END_TEST

static char fault[160];
static int refusals;

static bool accept(portmm_status status, const char *what) {
    if (status == PORTMM_STATUS_SUCCESS)
        return true;
    ck_assert_msg(portmm_last_error()[0] != '\0', "%s: %s fails with %s and no text", fault, what,
                  portmm_status_name(status));
    refusals++;
    return false;
}

static void multiply(portmm_queue *queue, portmm_buffer *const buffers[MATRICES]) {
    portmm_event *events[3] = {NULL, NULL, NULL};
    float got[TEST_SQUARE_ELEMENTS] = {0};
    uint64_t begin = 0, end = 0;
    bool good =
        accept(portmm_buffer_write(queue, buffers[B], 0, TEST_SQUARE_BYTES, test_square_b), "an upload") &&
        accept(portmm_buffer_write_start(queue, buffers[A], 0, TEST_SQUARE_BYTES, test_square_a, 0, NULL, &events[0]),
               "an upload") &&
        accept(test_square_multiply(queue, buffers[A], buffers[B], 0, buffers[C], 1, events, &events[1]), "product") &&
        accept(portmm_buffer_read_start(queue, buffers[C], 0, TEST_SQUARE_BYTES, got, 2, events, &events[2]),
               "a download") &&
        accept(portmm_event_wait(events[2]), "a wait");
    if (good)
        ck_assert_msg(memcmp(got, test_square_product, TEST_SQUARE_BYTES) == 0, "%s: the product is wrong", fault);
    if (good && portmm_event_get_times(events[1], &begin, &end) == PORTMM_STATUS_SUCCESS)
        ck_assert_msg(begin < end, "%s: times are wrong", fault);
    for (int i = 0; i < 3; i++)
        portmm_event_destroy(events[i]);
}

static void live(const application *own) {
    portmm_context *context = NULL;
    portmm_queue *queue = NULL, *timed = NULL;
    portmm_buffer *buffers[MATRICES] = {NULL, NULL, NULL};
    refusals = 0;
    bool good = accept(create_context("cuda", "starter", own->context, &context), "a context") &&
                accept(portmm_queue_borrow(context, own->stream, &queue), "a stream");
    for (int i = 0; i < MATRICES; i++)
        good = good && accept(portmm_buffer_borrow(context, as_pointer(own->memory[i]), &buffers[i]), "memory");
    if (good)
        multiply(queue, buffers);
    if (good && accept(portmm_queue_create_timed(context, &timed), "a timed queue"))
        multiply(timed, buffers);
    for (int i = 0; i < MATRICES; i++)
        portmm_buffer_destroy(buffers[i]);
    portmm_queue_destroy(queue);
    portmm_queue_destroy(timed);
    portmm_context_destroy(context);
}

/* Where a push fails there is no way to a release; where a pop does, none back; their own codes are never seen. */
static bool is_of_use(const char *function) {
    return strncmp(function, "cuCtxP", strlen("cuCtxP")) != 0 && strncmp(function, "cuGetError", 10) != 0;
}

START_TEST(every_call_fails_in_turn) {
    static const int codes[] = {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN, CUDA_ERROR_INVALID_HANDLE};
    const char *function;
    long calls[64] = {0}, faults = 0;
    more.set("");
    application own = open_application(0);
    live(&own);
    more.set("");
    live(&own);
    ck_assert_int_eq(refusals, 0);
    for (int i = 0; (function = more.get_function(i)) != NULL; i++)
        calls[i] = more.count_calls(function);
    for (int i = 0; (function = more.get_function(i)) != NULL; i++)
        for (long call = 1; call <= calls[i] && is_of_use(function); call++, faults++) {
            long before = more.count_objects();
            snprintf(fault, sizeof fault, "fail=%s code=%d first=%ld last=%ld", function, codes[call % 3], call, call);
            ck_assert_int_ne(more.set(fault), 0);
            live(&own);
            more.set("");
            ck_assert_msg(more.count_objects() == before, "%s: %ld objects are left", fault,
                          more.count_objects() - before);
        }
    ck_assert_int_gt(faults, 50);
    live(&own);
    ck_assert_int_eq(refusals, 0);
    close_application(&own);
}
END_TEST

int main(void) {
    if (!find_driver()) {
        printf("skipped: no CUDA driver with a GPU\n");
        return test_skip("cuda");
    }
    test_square_fill();
    Suite *suite = suite_create("interop_cuda");
    TCase *cases = tcase_create("interop_cuda");
    tcase_add_loop_test(cases, the_applications_objects_serve, 0, 2);
    tcase_add_test(cases, an_address_in_the_middle_is_the_rest);
    tcase_add_test(cases, what_is_of_another_context_is_refused);
    if (more.set != NULL) {
        tcase_add_test(cases, a_context_finds_its_device);
        tcase_add_test(cases, every_call_fails_in_turn);
    }
    suite_add_tcase(suite, cases);
    return test_main(suite);
}
