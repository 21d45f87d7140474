/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <check.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/portmm.h>

#include "layers/count_objects.h"

static int (*driver_set)(const char *settings);
static long (*driver_calls)(const char *function);
static const char *(*driver_function)(int number);
static long (*count_objects)(int kind); /* NULL: the loader knows no layers */

static bool find_symbol(const char *library, const char *name, void *function) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    void *symbol = handle != NULL ? dlsym(handle, name) : NULL;
    if (symbol != NULL)
        memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool test_control_init(void) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = "opencl";
    if (portmm_context_create(&options, &context) != PORTMM_STATUS_SUCCESS) {
        printf("skipped: %s\n", portmm_last_error());
        return false;
    }
    portmm_context_destroy(context);
    const char *layer = getenv("OPENCL_LAYERS");
    if (layer == NULL || !find_symbol(layer, "test_count_objects", &count_objects))
        printf("the OpenCL loader knows no layers: objects are not counted\n");
    return find_symbol(TEST_DRIVER, "test_driver_set", &driver_set) &&
           find_symbol(TEST_DRIVER, "test_driver_calls", &driver_calls) &&
           find_symbol(TEST_DRIVER, "test_driver_function", &driver_function);
}

void test_control_set(const char *format, ...) {
    char settings[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(settings, sizeof settings, format, arguments);
    va_end(arguments);
    ck_assert_msg(driver_set(settings), "the test driver does not know \"%s\"", settings);
}

long test_control_calls(const char *function) {
    return driver_calls(function);
}

const char *test_control_function(int number) {
    return driver_function(number);
}

static long remembered[TEST_OBJECT_KINDS];

void test_control_remember_objects(void) {
    for (int kind = 0; count_objects != NULL && kind < TEST_OBJECT_KINDS; kind++)
        remembered[kind] = count_objects(kind);
}

void test_control_expect_no_more_objects(const char *after) {
    static const char *const kinds[TEST_OBJECT_KINDS] = {"contexts", "queues",  "buffers",
                                                         "programs", "kernels", "events"};
    for (int kind = 0; count_objects != NULL && kind < TEST_OBJECT_KINDS; kind++)
        ck_assert_msg(count_objects(kind) == remembered[kind], "%ld %s more than before are left after %s",
                      count_objects(kind) - remembered[kind], kinds[kind], after);
}
