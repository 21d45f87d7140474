/* SPDX-License-Identifier: Apache-2.0 */
/* A cl_context, cl_command_queue and cl_mem of the application's own. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#define CL_TARGET_OPENCL_VERSION 120
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <CL/cl.h>

#include "support/square.h"
#include "support/suite.h"

enum { N = TEST_SQUARE, ELEMENTS = TEST_SQUARE_ELEMENTS };
#define BYTES TEST_SQUARE_BYTES

static portmm_context *open_context(const char *spec, const char *engine, void *native) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = spec;
    options.engine = engine;
    options.native_context = native;
    TEST_OK(portmm_context_create(&options, &context));
    return context;
}

typedef struct application {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
} application;

static application open_application(void) {
    application this = {NULL, NULL, NULL};
    cl_platform_id platforms[16];
    cl_uint count = 0;
    cl_int code = CL_DEVICE_NOT_FOUND;
    ck_assert_int_eq(clGetPlatformIDs(16, platforms, &count), CL_SUCCESS);
    for (cl_uint i = 0; i < count && code != CL_SUCCESS; i++)
        code = clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &this.device, NULL);
    ck_assert_int_eq(code, CL_SUCCESS);
    this.context = clCreateContext(NULL, 1, &this.device, NULL, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    this.queue = clCreateCommandQueue(this.context, this.device, 0, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return this;
}

static void close_application(application *this) {
    ck_assert_int_eq(clReleaseCommandQueue(this->queue), CL_SUCCESS);
    ck_assert_int_eq(clReleaseContext(this->context), CL_SUCCESS);
}

static cl_mem make_memory(cl_context context, cl_mem_flags flags, const void *content) {
    cl_int code;
    void *copy = malloc(BYTES);
    memcpy(copy, content, BYTES);
    cl_mem made = clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, BYTES, copy, &code);
    free(copy);
    ck_assert_int_eq(code, CL_SUCCESS);
    return made;
}

static cl_uint count_of_memory(cl_mem memory) {
    cl_uint count = 0;
    ck_assert_int_eq(clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL), CL_SUCCESS);
    return count;
}

static cl_uint count_of_queue(cl_command_queue queue) {
    cl_uint count = 0;
    ck_assert_int_eq(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL), CL_SUCCESS);
    return count;
}

static cl_uint count_of_context(cl_context context) {
    cl_uint count = 0;
    ck_assert_int_eq(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL), CL_SUCCESS);
    return count;
}

/* A driver's thread may give its references back a little after clFinish. */
static cl_uint settle(cl_command_queue queue, cl_uint wanted) {
    for (int turn = 0; turn < 5000 && count_of_queue(queue) != wanted; turn++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return count_of_queue(queue);
}

/* What the driver itself leaves of references when the application alone has used its objects so. (PoCL's memory keeps
 * its latest event, and that keeps the queue: the memory is released first.) */
static void count_without_us(cl_uint *queues, cl_uint *contexts) {
    application own = open_application();
    float got[ELEMENTS];
    cl_mem memory = make_memory(own.context, CL_MEM_READ_WRITE, test_square_a);
    ck_assert_int_eq(clEnqueueWriteBuffer(own.queue, memory, CL_FALSE, 0, BYTES, test_square_a, 0, NULL, NULL), 0);
    ck_assert_int_eq(clEnqueueReadBuffer(own.queue, memory, CL_TRUE, 0, BYTES, got, 0, NULL, NULL), CL_SUCCESS);
    ck_assert_int_eq(clFinish(own.queue), CL_SUCCESS);
    ck_assert_int_eq(clReleaseMemObject(memory), CL_SUCCESS);
    *queues = settle(own.queue, 1);
    *contexts = count_of_context(own.context);
    close_application(&own);
}

/* Its commands before and after ours on its queue, without a wait between; and with its own references given up. */
START_TEST(the_applications_objects_serve_and_come_back) {
    application own = open_application();
    enum { A, B, C, HALF, COUNT };
    cl_mem memory[COUNT];
    portmm_buffer *buffers[COUNT];
    portmm_queue *queue;
    portmm_event *event;
    void *native;
    float got[ELEMENTS];
    const cl_buffer_region upper = {BYTES / 2, BYTES / 2};
    cl_uint queues, contexts;
    cl_int code;
    count_without_us(&queues, &contexts);
    portmm_context *context = open_context(test_get_target(_i)->spec, test_get_target(_i)->engine, own.context);
    TEST_OK(portmm_queue_borrow(context, own.queue, &queue));
    memory[A] = make_memory(own.context, CL_MEM_READ_ONLY, test_square_b); /* A's own comes by a command */
    memory[B] = make_memory(own.context, CL_MEM_READ_ONLY, test_square_b);
    memory[C] = make_memory(own.context, CL_MEM_READ_WRITE, test_square_b);
    memory[HALF] = clCreateSubBuffer(memory[C], 0, CL_BUFFER_CREATE_TYPE_REGION, &upper, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        TEST_OK(portmm_buffer_borrow(context, memory[i], &buffers[i]));
    ck_assert_int_eq(count_of_memory(memory[A]), 2);
    ck_assert_int_eq(clEnqueueWriteBuffer(own.queue, memory[A], CL_FALSE, 0, BYTES, test_square_a, 0, NULL, NULL), 0);
    TEST_OK(test_square_multiply(queue, buffers[A], buffers[B], 0, buffers[C], 0, NULL, &event));
    TEST_OK(portmm_event_get_native(event, &native));
    cl_event wait = native;
    ck_assert_int_eq(clEnqueueReadBuffer(own.queue, memory[C], CL_TRUE, 0, BYTES, got, 1, &wait, NULL), CL_SUCCESS);
    ck_assert_mem_eq(got, test_square_product, BYTES);
    portmm_event_destroy(event);
    /* A sub-buffer is as long as it is. */
    TEST_FAILS(portmm_buffer_read(queue, buffers[HALF], 0, BYTES, got), PORTMM_STATUS_INVALID_ARGUMENT, "outside");
    TEST_OK(portmm_buffer_read(queue, buffers[HALF], 0, BYTES / 2, got));
    ck_assert_mem_eq(got, test_square_product + ELEMENTS / 2, BYTES / 2);
    for (int i = B; i < COUNT; i++)
        ck_assert_int_eq(clReleaseMemObject(memory[i]), CL_SUCCESS); /* ours are left */
    memset(got, 0, sizeof got);
    TEST_OK(test_square_multiply(queue, buffers[A], buffers[B], 0, buffers[C], 0, NULL, NULL));
    TEST_OK(portmm_buffer_read(queue, buffers[C], 0, BYTES, got));
    ck_assert_mem_eq(got, test_square_product, BYTES);
    for (int i = 0; i < COUNT; i++)
        portmm_buffer_destroy(buffers[i]);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
    ck_assert_int_eq(count_of_memory(memory[A]), 1);
    ck_assert_int_eq(clReleaseMemObject(memory[A]), CL_SUCCESS);
    ck_assert_int_eq(clFinish(own.queue), CL_SUCCESS);
    ck_assert_int_eq(settle(own.queue, queues), queues);
    ck_assert_int_eq(count_of_context(own.context), contexts);
    close_application(&own);
}
END_TEST

/* The application gives up its references as soon as ours are there. */
START_TEST(ours_keep_the_applications_objects) {
    application own = open_application();
    portmm_context *context = open_context("opencl", "starter", own.context);
    portmm_queue *queue;
    portmm_buffer *buffers[3];
    float got[ELEMENTS];
    TEST_OK(portmm_queue_borrow(context, own.queue, &queue));
    for (int i = 0; i < 3; i++) {
        cl_mem memory = make_memory(own.context, CL_MEM_READ_WRITE, i == 0 ? test_square_a : test_square_b);
        TEST_OK(portmm_buffer_borrow(context, memory, &buffers[i]));
        ck_assert_int_eq(clReleaseMemObject(memory), CL_SUCCESS);
    }
    close_application(&own);
    TEST_OK(test_square_multiply(queue, buffers[0], buffers[1], 0, buffers[2], 0, NULL, NULL));
    TEST_OK(portmm_buffer_read(queue, buffers[2], 0, BYTES, got));
    ck_assert_mem_eq(got, test_square_product, BYTES);
    for (int i = 0; i < 3; i++)
        portmm_buffer_destroy(buffers[i]);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
}
END_TEST

/* Two products of f16 with a bias and an activation, from one cl_mem at two offsets into another. */
START_TEST(batches_types_and_epilogues_work_on_borrowed_memory) {
    enum { M = 4, PRODUCTS = 2, SIZE = M * M, OFFSET = 3 };
    static const uint16_t one = 0x3c00, minus_two = 0xc000, half = 0x3800;
    application own = open_application();
    portmm_context *context = open_context("opencl", "starter", own.context);
    portmm_queue *queue;
    portmm_buffer *in, *out, *bias;
    uint16_t numbers[ELEMENTS * 2] = {0}, got[ELEMENTS * 2];
    for (int i = 0; i < M; i++) { /* A: the identity; B of product 0: ones, of product 1: minus two */
        numbers[OFFSET + i * M + i] = one;
        for (int p = 0; p < PRODUCTS; p++)
            for (int j = 0; j < M; j++)
                numbers[OFFSET + (1 + p) * SIZE + i * M + j] = p == 0 ? one : minus_two;
    }
    cl_mem memory[3] = {make_memory(own.context, CL_MEM_READ_ONLY, numbers), NULL, NULL};
    for (int i = 0; i < ELEMENTS * 2; i++)
        numbers[i] = half;
    memory[1] = make_memory(own.context, CL_MEM_WRITE_ONLY, numbers);
    memory[2] = make_memory(own.context, CL_MEM_READ_ONLY, numbers);
    TEST_OK(portmm_queue_borrow(context, own.queue, &queue));
    TEST_OK(portmm_buffer_borrow(context, memory[0], &in));
    TEST_OK(portmm_buffer_borrow(context, memory[1], &out));
    TEST_OK(portmm_buffer_borrow(context, memory[2], &bias));
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.dtype = PORTMM_F16;
    problem.m = problem.n = problem.k = M;
    problem.batch_count = PRODUCTS;
    problem.a_offset = OFFSET;
    problem.b_offset = OFFSET + SIZE, problem.b_stride = SIZE;
    problem.c_offset = OFFSET, problem.c_stride = SIZE;
    problem.bias_kind = PORTMM_BIAS_PER_ROW;
    problem.activation = PORTMM_ACTIVATION_RELU;
    const float alpha = 1, beta = 0, twice = 2;
    TEST_OK(portmm_gemm(queue, &problem, &alpha, in, in, &beta, out, bias, 0, NULL, NULL));
    ck_assert_int_eq(clEnqueueReadBuffer(own.queue, memory[1], CL_TRUE, 0, BYTES, got, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < ELEMENTS * 2; i++) {
        bool is_first = i >= OFFSET && i < OFFSET + SIZE, is_second = i >= OFFSET + SIZE && i < OFFSET + 2 * SIZE;
        ck_assert_int_eq(got[i], is_first ? 0x3e00 : is_second ? 0 : half); /* 1.5; max(-1.5, 0); as it was */
    }
    const portmm_status bad = PORTMM_STATUS_INVALID_ARGUMENT;
    TEST_FAILS(portmm_gemm(queue, &problem, &alpha, in, in, &twice, out, bias, 0, NULL, NULL), bad, "WRITE_ONLY");
    TEST_FAILS(portmm_gemm(queue, &problem, &alpha, out, in, &beta, in, bias, 0, NULL, NULL), bad, "READ_ONLY");
    TEST_FAILS(portmm_gemm(queue, &problem, &alpha, out, in, &beta, out, bias, 0, NULL, NULL), bad, "WRITE_ONLY");
    TEST_FAILS(portmm_gemm(queue, &problem, &alpha, in, in, &beta, out, out, 0, NULL, NULL), bad, "WRITE_ONLY");
    problem.c_offset = ELEMENTS * 2 - SIZE;
    TEST_FAILS(portmm_gemm(queue, &problem, &alpha, in, in, &beta, out, bias, 0, NULL, NULL), bad, "outside");
    portmm_buffer_destroy(in);
    portmm_buffer_destroy(out);
    portmm_buffer_destroy(bias);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(clReleaseMemObject(memory[i]), CL_SUCCESS);
    close_application(&own);
}
END_TEST

START_TEST(what_is_of_another_context_is_refused) {
    application own = open_application(), other = open_application();
    portmm_context *context = open_context("opencl:0", NULL, own.context),
                   *plain = open_context("opencl:0", NULL, NULL);
    portmm_context *none = context;
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_queue *queue;
    portmm_buffer *buffer;
    cl_int code;
    cl_mem memory = make_memory(other.context, CL_MEM_READ_WRITE, test_square_a);
    TEST_FAILS(portmm_queue_borrow(context, other.queue, &queue), PORTMM_STATUS_INVALID_ARGUMENT, "another cl_context");
    TEST_FAILS(portmm_queue_borrow(plain, own.queue, &queue), PORTMM_STATUS_INVALID_ARGUMENT, "another cl_context");
    TEST_FAILS(portmm_queue_borrow(context, NULL, &queue), PORTMM_STATUS_INVALID_ARGUMENT, "CL_INVALID_COMMAND_QUEUE");
    TEST_FAILS(portmm_buffer_borrow(context, memory, &buffer), PORTMM_STATUS_INVALID_ARGUMENT, "another cl_context");
    TEST_FAILS(portmm_buffer_borrow(context, NULL, &buffer), PORTMM_STATUS_INVALID_ARGUMENT, "native is NULL");
    cl_command_queue loose =
        clCreateCommandQueue(own.context, own.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    if (code == CL_SUCCESS) {
        TEST_FAILS(portmm_queue_borrow(context, loose, &queue), PORTMM_STATUS_INVALID_ARGUMENT, "out of order");
        ck_assert_int_eq(clReleaseCommandQueue(loose), CL_SUCCESS);
    }
    options.native_context = own.context;
    TEST_FAILS(portmm_context_create(&options, &none), PORTMM_STATUS_INVALID_ARGUMENT, "native_context");
    options.backend = "cpu";
    TEST_FAILS(portmm_context_create(&options, &none), PORTMM_STATUS_UNSUPPORTED, "native_context");
    ck_assert_ptr_null(none);
    ck_assert_int_eq(count_of_memory(memory), 1);
    ck_assert_int_eq(count_of_queue(other.queue), 1);
    ck_assert_int_eq(clReleaseMemObject(memory), CL_SUCCESS);
    portmm_context_destroy(context);
    portmm_context_destroy(plain);
    close_application(&own);
    close_application(&other);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("interop");
    TCase *cases = tcase_create("interop");
    test_square_fill();
    tcase_add_loop_test(cases, the_applications_objects_serve_and_come_back, 0, test_target_count());
    tcase_add_test(cases, ours_keep_the_applications_objects);
    tcase_add_test(cases, batches_types_and_epilogues_work_on_borrowed_memory);
    tcase_add_test(cases, what_is_of_another_context_is_refused);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
