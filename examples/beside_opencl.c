/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An application that uses OpenCL itself, next to libportmm: neither notices the other.
 *
 * libportmm answers some OpenCL calls of the library behind it (CLBlast) by itself, to keep compiled programs on disk.
 * The calls of the application go to the system's loader as always. This program shows it: it builds a program of its
 * own, asks for its binary, and runs it, before, between and after products of libportmm.
 *
 *     beside_opencl
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/portmm.h>

#define N 64

static void check(portmm_status status) {
    if (status == PORTMM_STATUS_SUCCESS)
        return;
    fprintf(stderr, "libportmm: %s: %s\n", portmm_status_text(status), portmm_last_error());
    exit(status == PORTMM_STATUS_UNAVAILABLE ? 77 : 1); /* 77: a test run counts it as skipped */
}

static void check_cl(cl_int code, const char *call) {
    if (code == CL_SUCCESS)
        return;
    fprintf(stderr, "OpenCL: %s: %d\n", call, (int)code);
    exit(1);
}

static void expect(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "not as expected: %s\n", what);
    exit(1);
}

/* ---- the application's own OpenCL ---- */

static const char *const source = "kernel void add_index(global int *data, int more) {\n"
                                  "    data[get_global_id(0)] += (int)get_global_id(0) + more;\n"
                                  "}\n";

typedef struct application {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_mem data;
    cl_int sum; /* of all `more` so far */
    int runs;
} application;

/* The first device of the first platform that has one, as libportmm's opencl:0. */
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
    exit(77);
}

/* With the options that CLBlast builds with, so that nothing but the source tells the two apart. */
static void open_application(application *this) {
    cl_int code;
    memset(this, 0, sizeof *this);
    this->device = find_device();
    this->context = clCreateContext(NULL, 1, &this->device, NULL, NULL, &code);
    check_cl(code, "clCreateContext");
    this->queue = clCreateCommandQueue(this->context, this->device, 0, &code);
    check_cl(code, "clCreateCommandQueue");
    this->program = clCreateProgramWithSource(this->context, 1, (const char **)&source, NULL, &code);
    check_cl(code, "clCreateProgramWithSource");
    check_cl(clBuildProgram(this->program, 1, &this->device, " -cl-std=CL1.1", NULL, NULL), "clBuildProgram");
    cl_int zeros[N] = {0};
    this->data = clCreateBuffer(this->context, CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros, &code);
    check_cl(code, "clCreateBuffer");
}

static void run_application(application *this) {
    cl_int code, more = ++this->runs, got[N];
    const size_t size = N;
    cl_kernel kernel = clCreateKernel(this->program, "add_index", &code);
    check_cl(code, "clCreateKernel");
    check_cl(clSetKernelArg(kernel, 0, sizeof this->data, &this->data), "clSetKernelArg");
    check_cl(clSetKernelArg(kernel, 1, sizeof more, &more), "clSetKernelArg");
    check_cl(clEnqueueNDRangeKernel(this->queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL),
             "clEnqueueNDRangeKernel");
    check_cl(clEnqueueReadBuffer(this->queue, this->data, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
             "clEnqueueReadBuffer");
    check_cl(clReleaseKernel(kernel), "clReleaseKernel");
    this->sum += more;
    for (int i = 0; i < N; i++)
        expect(got[i] == this->runs * i + this->sum, "the application's kernel gives its result");
}

/* What libportmm would answer by itself if this were CLBlast's program: the real binary, which makes a program again.
 */
static void rebuild_from_binary(application *this) {
    cl_int code;
    size_t size = 0, source_size = 0;
    check_cl(clGetProgramInfo(this->program, CL_PROGRAM_SOURCE, 0, NULL, &source_size), "clGetProgramInfo(SOURCE)");
    expect(source_size == strlen(source) + 1, "the application's program has its source");
    check_cl(clGetProgramInfo(this->program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL),
             "clGetProgramInfo(BINARY_SIZES)");
    expect(size > 256, "a binary is larger than a token");
    unsigned char *binary = malloc(size);
    expect(binary != NULL, "there is memory");
    check_cl(clGetProgramInfo(this->program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL),
             "clGetProgramInfo(BINARIES)");
    cl_program again =
        clCreateProgramWithBinary(this->context, 1, &this->device, &size, (const unsigned char **)&binary, NULL, &code);
    check_cl(code, "clCreateProgramWithBinary");
    check_cl(clBuildProgram(again, 1, &this->device, "", NULL, NULL), "clBuildProgram");
    check_cl(clReleaseProgram(this->program), "clReleaseProgram");
    this->program = again;
    free(binary);
}

/* One reference each is left: nobody else has taken one, or given one back. */
static void close_application(application *this) {
    cl_uint references = 0;
    check_cl(clFinish(this->queue), "clFinish");
    check_cl(clGetProgramInfo(this->program, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references, NULL),
             "clGetProgramInfo");
    expect(references == 1, "one reference to the application's program");
    check_cl(clGetMemObjectInfo(this->data, CL_MEM_REFERENCE_COUNT, sizeof references, &references, NULL),
             "clGetMemObjectInfo");
    expect(references == 1, "one reference to the application's memory");
    check_cl(clReleaseMemObject(this->data), "clReleaseMemObject");
    check_cl(clReleaseProgram(this->program), "clReleaseProgram");
    check_cl(clReleaseCommandQueue(this->queue), "clReleaseCommandQueue");
    check_cl(clReleaseContext(this->context), "clReleaseContext");
}

/* ---- libportmm beside it ---- */

static void multiply(portmm_context *context) {
    float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 5);
        b[i] = i % (N + 1) == 0 ? 2 : 0;
    }
    check(portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, N, b, N, 0, c,
                            N));
    for (int i = 0; i < N * N; i++)
        expect(c[i] == 2 * a[i], "libportmm gives its result");
}

/* Although the application brought the OpenCL loader along, CLBlast's programs come from libportmm's cache. */
static void expect_cache_in_use(portmm_context *context) {
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    check(portmm_cache_get_stats(context, &stats));
    expect(stats.bypassed == 0, "no product bypassed the cache");
}

int main(void) {
    application own;
    open_application(&own);
    run_application(&own);

    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "opencl";
    portmm_context *context;
    check(portmm_context_create(&options, &context));
    for (int i = 0; i < 3; i++) {
        multiply(context);
        run_application(&own);
    }
    rebuild_from_binary(&own);
    run_application(&own);
    multiply(context);
    expect_cache_in_use(context);

    application late; /* also one that comes after libportmm */
    open_application(&late);
    run_application(&late);
    rebuild_from_binary(&late);
    portmm_context_destroy(context);
    run_application(&own);
    run_application(&late);
    close_application(&own);
    close_application(&late);
    printf("the application and libportmm both work, side by side\n");
    return 0;
}
