/* SPDX-License-Identifier: Apache-2.0 */
/* What the test driver is told to do: see driver.h. */
#ifndef TEST_DRIVER_SETTINGS_H
#define TEST_DRIVER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum { TEST_TEXT = 256, TEST_UNSET = -1 };

typedef struct test_settings {
    char real[TEST_TEXT], fail[TEST_TEXT], stop[TEST_TEXT], type[TEST_TEXT], name[TEST_TEXT], version[TEST_TEXT],
        standard[TEST_TEXT], binary[TEST_TEXT], edit[TEST_TEXT], log[TEST_TEXT];
    long code, first, last, fp64, local, group, alloc, unified, available, compiler, platforms, devices, icd, keep;
} test_settings;

extern test_settings test_driver_settings;

/* Reads the environment at the first call. */
void test_settings_load(void);
/* As test_driver_set. */
bool test_settings_change(const char *settings);
/* Adds "what milliseconds bytes" to the log, if there is one. */
void test_settings_log(const char *what, double milliseconds, size_t bytes);

#endif
