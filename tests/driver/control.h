/* SPDX-License-Identifier: Apache-2.0 */
/* The test driver and the counting layer, found in this process after the OpenCL loader has loaded them. */
#ifndef TEST_DRIVER_CONTROL_H
#define TEST_DRIVER_CONTROL_H

#include <stdbool.h>

/* Loads OpenCL through libportmm, finds both. False: the driver they wrap is not here; the reason is printed. */
bool test_control_init(void);

/* As in driver.h; ends the test where the setting is unknown. */
void test_control_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
long test_control_calls(const char *function);
const char *test_control_function(int number);

/* The second one ends the test if references to OpenCL objects are held that were not at the first. */
void test_control_remember_objects(void);
void test_control_expect_no_more_objects(const char *after);

#endif
