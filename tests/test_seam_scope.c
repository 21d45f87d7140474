/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL functions that the module defines for its CLBlast: CLBlast calls them, and nobody else can. This program
 * is not linked to OpenCL. */
#define _GNU_SOURCE /* dladdr, RTLD_DEFAULT */
#include <dlfcn.h>
#include <string.h>

#include "support/suite.h"

static const char *const functions[] = {"clCreateProgramWithSource", "clCreateProgramWithBinary", "clBuildProgram",
                                        "clGetProgramInfo",          "clGetProgramBuildInfo",     "clCreateKernel",
                                        "clReleaseProgram",          "clEnqueueNDRangeKernel"};
#define FUNCTIONS (sizeof functions / sizeof *functions)

static portmm_context *multiply_once(int target) {
    float one = 1, two = 2, result = 0;
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = test_get_target(target)->spec;
    options.engine = test_get_target(target)->engine;
    TEST_OK(portmm_context_create(&options, &context));
    TEST_OK(portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, 1, 1, 1, 1, &one, 1, &two, 1,
                              0, &result, 1));
    ck_assert(result == 2);
    return context;
}

START_TEST(clblast_goes_through_the_seam) {
    portmm_context *context = multiply_once(_i);
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    TEST_OK(portmm_cache_get_stats(context, &stats));
    ck_assert_uint_gt(stats.hits + stats.misses, 0);
    ck_assert_uint_eq(stats.bypassed, 0);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(nothing_of_it_is_in_the_programs_scope) {
    portmm_context *context = multiply_once(_i);
    for (size_t i = 0; i < FUNCTIONS; i++)
        ck_assert_msg(dlsym(RTLD_DEFAULT, functions[i]) == NULL, "%s is visible to the program", functions[i]);
    portmm_context_destroy(context);
}
END_TEST

/* As a program does that opens OpenCL by itself, after libportmm has. */
START_TEST(a_late_user_of_opencl_gets_the_loaders_functions) {
    portmm_context *context = multiply_once(_i);
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(loader != NULL, "%s", dlerror());
    for (size_t i = 0; i < FUNCTIONS; i++) {
        Dl_info info;
        void *address = dlsym(loader, functions[i]);
        ck_assert_msg(address != NULL && dladdr(address, &info) != 0, "%s is not found", functions[i]);
        ck_assert_msg(strstr(info.dli_fname, "portmm") == NULL, "%s is that of %s", functions[i], info.dli_fname);
    }
    dlclose(loader);
    portmm_context_destroy(context);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("seam_scope");
    TCase *cases = tcase_create("seam_scope");
    for (int i = 0; i < test_target_count(); i++)
        if (strcmp(test_get_target(i)->engine, "clblast") == 0 && test_get_target(i)->dtype == PORTMM_F32) {
            tcase_add_loop_test(cases, clblast_goes_through_the_seam, i, i + 1);
            tcase_add_loop_test(cases, nothing_of_it_is_in_the_programs_scope, i, i + 1);
            tcase_add_loop_test(cases, a_late_user_of_opencl_gets_the_loaders_functions, i, i + 1);
        }
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
