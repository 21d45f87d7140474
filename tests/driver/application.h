/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL as an application has it, beside libportmm's own use: the functions of the loader that libportmm has opened,
 * so that also a process under a sanitizer has both. */
#ifndef TEST_DRIVER_APPLICATION_H
#define TEST_DRIVER_APPLICATION_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_icd.h>

typedef struct test_application {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
} test_application;

/* Only the functions named in application.c. Ends the test where the loader is not there. */
const cl_icd_dispatch *test_get_cl(void);

/* On the first device of the platform with `name` in its name. Each ends the test when something fails. */
test_application test_application_open(const char *name);
void test_application_close(test_application *application);
cl_mem test_application_make_memory(const test_application *application, cl_mem_flags flags, size_t size,
                                    const void *content);
cl_uint test_count_of_memory(cl_mem memory);
cl_uint test_count_of_queue(cl_command_queue queue);
cl_uint test_count_of_context(cl_context context);

#endif
