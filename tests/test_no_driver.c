/* SPDX-License-Identifier: Apache-2.0 */
/* A machine without an OpenCL driver: CTest runs this with OCL_ICD_VENDORS naming a directory without one that works.
 */
#include <string.h>

#include "support/suite.h"

START_TEST(opencl_says_what_to_install) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = "opencl";
    TEST_FAILS(portmm_context_create(&options, &context), PORTMM_STATUS_UNAVAILABLE, "install");
    TEST_FAILS(portmm_context_create(&options, &context), PORTMM_STATUS_UNAVAILABLE, "driver");
    ck_assert_ptr_null(context);
}
END_TEST

START_TEST(the_inventory_has_the_module_and_the_reason) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_inventory *inventory;
    portmm_backend_info info = PORTMM_BACKEND_INFO_INIT;
    options.backend = "opencl";
    TEST_OK(portmm_inventory_create(&options, &inventory));
    TEST_OK(portmm_inventory_get_backend(inventory, 0, &info));
    ck_assert_int_eq(info.available, 0);
    ck_assert_ptr_nonnull(strstr(info.unavailable_reason, "driver"));
    ck_assert_ptr_nonnull(strstr(info.module_file, "portmm-opencl.so"));
    ck_assert_uint_eq(portmm_inventory_device_count(inventory), 0);
    portmm_inventory_destroy(inventory);
}
END_TEST

START_TEST(auto_serves_without) {
    portmm_context *context;
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    TEST_OK(portmm_context_create(NULL, &context));
    TEST_OK(portmm_context_get_info(context, &info));
    ck_assert_str_ne(info.backend, "opencl");
    if (strcmp(info.backend, "cpu") == 0)
        ck_assert_ptr_nonnull(strstr(info.reason, "opencl: "));
    double a = 2, b = 3, c = 1;
    TEST_OK(portmm_dgemm_host(context, PORTMM_COL_MAJOR, PORTMM_TRANS, PORTMM_NO_TRANS, 1, 1, 1, 1, &a, 1, &b, 1, 1, &c,
                              1));
    ck_assert(c == 7);
    portmm_context_destroy(context);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("no_driver");
    TCase *cases = tcase_create("no_driver");
    tcase_add_test(cases, opencl_says_what_to_install);
    tcase_add_test(cases, the_inventory_has_the_module_and_the_reason);
    tcase_add_test(cases, auto_serves_without);
    suite_add_tcase(suite, cases);
    return test_main(suite);
}
