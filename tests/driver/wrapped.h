/* SPDX-License-Identifier: Apache-2.0 */
/* The test driver's objects: each hides one of the real driver. */
#ifndef TEST_DRIVER_WRAPPED_H
#define TEST_DRIVER_WRAPPED_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <CL/cl_icd.h>

typedef struct test_wrapped test_wrapped;
struct test_wrapped {
    const cl_icd_dispatch *dispatch; /* first: the loader looks here, */
    void *loader_data;               /* and here, where it manages the table itself */
    void *real;
    atomic_long references;
    test_wrapped *context, *device; /* where it belongs; NULL: nowhere */
    unsigned char *early;           /* a program's binary as of its build */
    size_t early_size;
    test_wrapped *next; /* buffers: kernel arguments are looked for among them */
};

/* NULL, and `real` released, where there is no memory: not in a test. */
test_wrapped *test_wrap(void *real, test_wrapped *context, test_wrapped *device);
/* True at the last release; the object is gone then. */
bool test_unwrap(test_wrapped *wrapped);
void *test_real(const void *handle);

/* Buffers, so that a kernel's argument can be told from a plain value. */
void test_note_buffer(test_wrapped *buffer);
void test_drop_buffer(test_wrapped *buffer);
bool test_is_buffer(const void *handle);

/* The driver's tables. */
extern cl_icd_dispatch test_dispatch;
extern void *test_loader_data;

#endif
