/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/application.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X)                                                                                                   \
    X(clGetPlatformIDs)                                                                                                \
    X(clGetPlatformInfo)                                                                                               \
    X(clGetDeviceIDs)                                                                                                  \
    X(clCreateContext)                                                                                                 \
    X(clReleaseContext)                                                                                                \
    X(clGetContextInfo)                                                                                                \
    X(clCreateCommandQueue)                                                                                            \
    X(clReleaseCommandQueue)                                                                                           \
    X(clGetCommandQueueInfo)                                                                                           \
    X(clFinish)                                                                                                        \
    X(clCreateBuffer)                                                                                                  \
    X(clReleaseMemObject)                                                                                              \
    X(clGetMemObjectInfo)                                                                                              \
    X(clEnqueueWriteBuffer)                                                                                            \
    X(clEnqueueReadBuffer)

const cl_icd_dispatch *test_get_cl(void) {
    static cl_icd_dispatch table;
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD);
    ck_assert_msg(library != NULL, "%s", dlerror());
#define FIND(name)                                                                                                     \
    do {                                                                                                               \
        void *symbol = dlsym(library, #name);                                                                          \
        ck_assert_msg(symbol != NULL, #name);                                                                          \
        memcpy(&table.name, &symbol, sizeof symbol);                                                                   \
    } while (0);
    FUNCTIONS(FIND)
#undef FIND
    dlclose(library);
    return &table;
}

static cl_device_id find_device(const cl_icd_dispatch *cl, const char *name) {
    cl_platform_id platforms[16];
    cl_device_id device = NULL;
    cl_uint count = 0;
    char text[256] = "";
    ck_assert_int_eq(cl->clGetPlatformIDs(16, platforms, &count), CL_SUCCESS);
    for (cl_uint i = 0; i < count && device == NULL; i++) {
        ck_assert_int_eq(cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof text, text, NULL), CL_SUCCESS);
        if (strstr(text, name) != NULL)
            ck_assert_int_eq(cl->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    }
    ck_assert_msg(device != NULL, "no platform has \"%s\" in its name", name);
    return device;
}

test_application test_application_open(const char *name) {
    const cl_icd_dispatch *cl = test_get_cl();
    test_application made = {.device = find_device(cl, name)};
    cl_int code = CL_SUCCESS;
    made.context = cl->clCreateContext(NULL, 1, &made.device, NULL, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    made.queue = cl->clCreateCommandQueue(made.context, made.device, 0, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return made;
}

void test_application_close(test_application *application) {
    ck_assert_int_eq(test_get_cl()->clReleaseCommandQueue(application->queue), CL_SUCCESS);
    ck_assert_int_eq(test_get_cl()->clReleaseContext(application->context), CL_SUCCESS);
}

cl_mem test_application_make_memory(const test_application *application, cl_mem_flags flags, size_t size,
                                    const void *content) {
    cl_int code = CL_SUCCESS;
    void *copy = malloc(size);
    memcpy(copy, content, size);
    cl_mem made = test_get_cl()->clCreateBuffer(application->context, flags | CL_MEM_COPY_HOST_PTR, size, copy, &code);
    free(copy);
    ck_assert_int_eq(code, CL_SUCCESS);
    return made;
}

cl_uint test_count_of_memory(cl_mem memory) {
    cl_uint count = 0;
    ck_assert_int_eq(test_get_cl()->clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL), 0);
    return count;
}

cl_uint test_count_of_queue(cl_command_queue queue) {
    cl_uint count = 0;
    ck_assert_int_eq(test_get_cl()->clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL),
                     0);
    return count;
}

cl_uint test_count_of_context(cl_context context) {
    cl_uint count = 0;
    ck_assert_int_eq(test_get_cl()->clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL),
                     0);
    return count;
}
