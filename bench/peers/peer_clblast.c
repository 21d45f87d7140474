/* SPDX-License-Identifier: Apache-2.0 */
/* A peer of portmm-bench: CLBlast's C API on an OpenCL queue, the way CLBlast's own samples use it. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "child.h"
#include "platform.h"

#include <clblast_c.h>

enum { MOST_PLATFORMS = 32, MOST_DEVICES = 64 };

typedef struct clblast {
    bench_problem problem;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem a, b, c;
    char device_name[256];
} clblast;

static bool check_code(int code, const char *call, bench_failure *failure) {
    if (code != 0) {
        bench_fail(failure, 0, "%s failed with code %d", call, code);
    }
    return code == 0;
}

/* Devices are counted over all platforms, in their order: libportmm's "opencl:1" is index 1 here. */
static bool find_device(clblast *self, int64_t index, bench_failure *failure) {
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    if (!check_code(clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count), "clGetPlatformIDs", failure)) {
        return false;
    }
    int64_t before = 0;
    for (cl_uint i = 0; i < platform_count && i < MOST_PLATFORMS; i++) {
        cl_device_id devices[MOST_DEVICES];
        cl_uint count = 0;
        /* A platform without devices says so with an error. */
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &count) != CL_SUCCESS) {
            continue;
        }
        if (index - before < (int64_t)count) {
            self->device = devices[index - before];
            return true;
        }
        before += count;
    }
    bench_fail(failure, 0, "there is no OpenCL device %lld", (long long)index);
    return false;
}

static bool open_device(void *state, const bench_request *request, bench_failure *failure) {
    clblast *self = state;
    cl_int code = CL_SUCCESS;
    self->problem = request->problem;
    if (!find_device(self, request->device_index, failure)) {
        return false;
    }
    (void)clGetDeviceInfo(self->device, CL_DEVICE_NAME, sizeof self->device_name, self->device_name, NULL);
    self->context = clCreateContext(NULL, 1, &self->device, NULL, NULL, &code);
    if (!check_code(code, "clCreateContext", failure)) {
        return false;
    }
    self->queue = clCreateCommandQueue(self->context, self->device, 0, &code);
    return check_code(code, "clCreateCommandQueue", failure);
}

static size_t matrix_size(const bench_problem *problem, int64_t rows, int64_t columns) {
    return (size_t)rows * (size_t)columns * bench_dtype_size(problem->dtype);
}

static bool create_buffer(clblast *self, int64_t rows, int64_t columns, cl_mem *buffer, bench_failure *failure) {
    cl_int code = CL_SUCCESS;
    size_t size = matrix_size(&self->problem, rows, columns);
    *buffer = clCreateBuffer(self->context, CL_MEM_READ_WRITE, size, NULL, &code);
    return check_code(code, "clCreateBuffer", failure);
}

static bool create_buffers(void *state, bench_failure *failure) {
    clblast *self = state;
    const bench_problem *p = &self->problem;
    return create_buffer(self, p->m, p->k, &self->a, failure) && create_buffer(self, p->k, p->n, &self->b, failure) &&
           create_buffer(self, p->m, p->n, &self->c, failure);
}

static bool write_buffer(clblast *self, cl_mem buffer, size_t size, const void *source, bench_failure *failure) {
    return check_code(clEnqueueWriteBuffer(self->queue, buffer, CL_TRUE, 0, size, source, 0, NULL, NULL),
                      "clEnqueueWriteBuffer", failure);
}

static bool upload(void *state, const bench_matrices *host, bench_failure *failure) {
    clblast *self = state;
    const bench_problem *p = &self->problem;
    return write_buffer(self, self->a, matrix_size(p, p->m, p->k), host->a, failure) &&
           write_buffer(self, self->b, matrix_size(p, p->k, p->n), host->b, failure);
}

static bool call_gemm(clblast *self, cl_event *event, bench_failure *failure) {
    const bench_problem *p = &self->problem;
    CLBlastTranspose transa = p->transa ? CLBlastTransposeYes : CLBlastTransposeNo;
    CLBlastTranspose transb = p->transb ? CLBlastTransposeYes : CLBlastTransposeNo;
    size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    size_t lda = (size_t)bench_lda(p), ldb = (size_t)bench_ldb(p);
    if (p->dtype == BENCH_F32) {
        return check_code((int)CLBlastSgemm(CLBlastLayoutRowMajor, transa, transb, m, n, k, 1.0F, self->a, 0, lda,
                                            self->b, 0, ldb, 0.0F, self->c, 0, n, &self->queue, event),
                          "CLBlastSgemm", failure);
    }
    return check_code((int)CLBlastDgemm(CLBlastLayoutRowMajor, transa, transb, m, n, k, 1.0, self->a, 0, lda, self->b,
                                        0, ldb, 0.0, self->c, 0, n, &self->queue, event),
                      "CLBlastDgemm", failure);
}

static bool multiply(void *state, bench_failure *failure) {
    cl_event event = NULL;
    if (!call_gemm(state, &event, failure)) {
        return false;
    }
    bool ok = check_code(clWaitForEvents(1, &event), "clWaitForEvents", failure);
    (void)clReleaseEvent(event);
    return ok;
}

static bool enqueue(void *state, bench_failure *failure) {
    return call_gemm(state, NULL, failure);
}

static bool finish(void *state, bench_failure *failure) {
    clblast *self = state;
    return check_code(clFinish(self->queue), "clFinish", failure);
}

static bool download(void *state, const bench_matrices *host, bench_failure *failure) {
    clblast *self = state;
    const bench_problem *p = &self->problem;
    cl_int code =
        clEnqueueReadBuffer(self->queue, self->c, CL_TRUE, 0, matrix_size(p, p->m, p->n), host->c, 0, NULL, NULL);
    return check_code(code, "clEnqueueReadBuffer", failure);
}

static bool describe(void *state, const bench_stamps *stamps, json_t *result, bench_failure *failure) {
    clblast *self = state;
    (void)stamps;
    (void)failure;
    return json_object_set_new(result, "device", bench_json_string(self->device_name)) == 0;
}

static void close_device(void *state) {
    clblast *self = state;
    cl_mem buffers[] = {self->a, self->b, self->c};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        if (buffers[i] != NULL) {
            (void)clReleaseMemObject(buffers[i]);
        }
    }
    if (self->queue != NULL) {
        (void)clReleaseCommandQueue(self->queue);
    }
    if (self->context != NULL) {
        (void)clReleaseContext(self->context);
    }
}

static const bench_subject subject = {
    .connect = open_device,
    .allocate = create_buffers,
    .upload = upload,
    .multiply = multiply,
    .enqueue = enqueue,
    .finish = finish,
    .download = download,
    .describe = describe,
    .close = close_device,
};

int main(int argc, char **argv) {
    uint64_t entry = bench_clock_ns();
    clblast self = {0};
    return bench_child_main(&subject, &self, argc, argv, entry);
}
