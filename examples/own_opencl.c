/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL program with a product of libportmm between kernels of its own: one context, one queue, three cl_mem, no
 * copy and no wait in between.
 *
 *     C := square(A * B), where a kernel of the program makes A and B, and another one squares C
 *
 *     own_opencl [ENGINE]
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/portmm.h>

#define N 128

static void check(portmm_status status) {
    if (status == PORTMM_STATUS_SUCCESS)
        return;
    fprintf(stderr, "libportmm: %s: %s\n", portmm_status_text(status), portmm_last_error());
    exit(1);
}

static void check_cl(cl_int code, const char *call) {
    if (code == CL_SUCCESS)
        return;
    fprintf(stderr, "OpenCL: %s: %d\n", call, (int)code);
    exit(1);
}

/* ---- the program's own OpenCL, as it would be without us ---- */

static const char *const source = "kernel void make(global float *a, global float *b, int n) {\n"
                                  "    int i = get_global_id(0), row = i / n, column = i % n;\n"
                                  "    a[i] = (row + column) % 5;\n"
                                  "    b[i] = row == column ? 3 : 0;\n"
                                  "}\n"
                                  "kernel void square(global float *c) {\n"
                                  "    c[get_global_id(0)] *= c[get_global_id(0)];\n"
                                  "}\n";

enum { A, B, C, MATRICES };

typedef struct program {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel make, square;
    cl_mem matrices[MATRICES];
} program;

static cl_device_id find_device(void) {
    cl_platform_id platforms[16];
    cl_device_id device;
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        count = 0;
    for (cl_uint i = 0; i < count && i < 16; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS)
            return device;
    printf("skipped: no OpenCL device\n");
    exit(77); /* a test run counts it as skipped */
}

static cl_kernel create_kernel(const program *this, const char *name) {
    cl_int code;
    cl_kernel made = clCreateKernel(this->program, name, &code);
    check_cl(code, "clCreateKernel");
    return made;
}

static void open_program(program *this) {
    cl_int code;
    cl_device_id device = find_device();
    this->context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check_cl(code, "clCreateContext");
    this->queue = clCreateCommandQueue(this->context, device, 0, &code);
    check_cl(code, "clCreateCommandQueue");
    this->program = clCreateProgramWithSource(this->context, 1, (const char **)&source, NULL, &code);
    check_cl(code, "clCreateProgramWithSource");
    check_cl(clBuildProgram(this->program, 1, &device, "", NULL, NULL), "clBuildProgram");
    this->make = create_kernel(this, "make");
    this->square = create_kernel(this, "square");
    for (int i = 0; i < MATRICES; i++) {
        this->matrices[i] = clCreateBuffer(this->context, CL_MEM_READ_WRITE, N * N * sizeof(float), NULL, &code);
        check_cl(code, "clCreateBuffer");
    }
}

static void run(const program *this, cl_kernel kernel) {
    const size_t size = N * N;
    check_cl(clEnqueueNDRangeKernel(this->queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL),
             "clEnqueueNDRangeKernel");
}

static void make_factors(const program *this) {
    const cl_int n = N;
    check_cl(clSetKernelArg(this->make, 0, sizeof(cl_mem), &this->matrices[A]), "clSetKernelArg");
    check_cl(clSetKernelArg(this->make, 1, sizeof(cl_mem), &this->matrices[B]), "clSetKernelArg");
    check_cl(clSetKernelArg(this->make, 2, sizeof n, &n), "clSetKernelArg");
    run(this, this->make);
}

static void square_product(const program *this) {
    check_cl(clSetKernelArg(this->square, 0, sizeof(cl_mem), &this->matrices[C]), "clSetKernelArg");
    run(this, this->square);
}

static void close_program(program *this) {
    for (int i = 0; i < MATRICES; i++)
        check_cl(clReleaseMemObject(this->matrices[i]), "clReleaseMemObject");
    check_cl(clReleaseKernel(this->make), "clReleaseKernel");
    check_cl(clReleaseKernel(this->square), "clReleaseKernel");
    check_cl(clReleaseProgram(this->program), "clReleaseProgram");
    check_cl(clReleaseCommandQueue(this->queue), "clReleaseCommandQueue");
    check_cl(clReleaseContext(this->context), "clReleaseContext");
}

/* ---- libportmm on the program's objects ---- */

typedef struct product {
    portmm_context *context;
    portmm_queue *queue;
    portmm_buffer *matrices[MATRICES];
} product;

static void open_product(product *this, const program *own, const char *engine) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "opencl"; /* the device is that of the context */
    options.engine = engine;
    options.native_context = own->context;
    check(portmm_context_create(&options, &this->context));
    check(portmm_queue_borrow(this->context, own->queue, &this->queue));
    for (int i = 0; i < MATRICES; i++)
        check(portmm_buffer_borrow(this->context, own->matrices[i], &this->matrices[i]));
}

static void multiply(const product *this) {
    check(portmm_sgemm(this->queue, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, this->matrices[A],
                       0, N, this->matrices[B], 0, N, 0, this->matrices[C], 0, N, 0, NULL, NULL));
}

static void close_product(product *this) {
    for (int i = 0; i < MATRICES; i++)
        portmm_buffer_destroy(this->matrices[i]);
    portmm_queue_destroy(this->queue);
    portmm_context_destroy(this->context);
}

int main(int argc, char **argv) {
    static float result[N * N];
    program own;
    product ours;
    open_program(&own);
    open_product(&ours, &own, argc > 1 ? argv[1] : NULL);

    make_factors(&own); /* the queue is in order: each line begins when the one before is done */
    multiply(&ours);
    square_product(&own);
    check_cl(clEnqueueReadBuffer(own.queue, own.matrices[C], CL_TRUE, 0, sizeof result, result, 0, NULL, NULL),
             "clEnqueueReadBuffer");

    close_product(&ours); /* the program's objects are its own again */
    close_program(&own);
    for (int i = 0; i < N * N; i++) {
        float expected = (float)(3 * ((i / N + i % N) % 5));
        if (result[i] != expected * expected) {
            fprintf(stderr, "element %d is %g instead of %g\n", i, (double)result[i], (double)(expected * expected));
            return 1;
        }
    }
    printf("C = square(A * B), made on the program's own queue and memory: right\n");
    return 0;
}
