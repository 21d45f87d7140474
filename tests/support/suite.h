/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a test program runs: in one process, since drivers have threads and do not survive fork; on the devices named by
 * its argument; and with exit code 77 where there is none, unless PORTMM_TEST_REQUIRE names the backend.
 */
#ifndef TEST_SUITE_H
#define TEST_SUITE_H

#include <check.h>

#include <portmm/portmm.h>

/* What a test of products is repeated for. */
typedef struct test_target {
    char spec[32]; /* "opencl:0" */
    char device[128];
    char engine[32];
    portmm_dtype dtype;
} test_target;

/* For programs that need no device. */
int test_main(Suite *suite);

/* For programs run as `program SPEC`: one target for each device, engine and type of the spec. */
int test_main_on_devices(int argc, char **argv, Suite *(*make_suite)(void));

/* The exit code of a program that finds no device of the spec's backend: 77, or 1 where that one is required. */
int test_skip(const char *spec);

int test_target_count(void);
const test_target *test_get_target(int number);
/* The first size that its engine cannot take. */
int64_t test_size_beyond(int number);
/* A context for the target, shared by all tests of the program. */
portmm_context *test_get_context(int number);

/* Ends the test unless the call succeeds. */
#define TEST_OK(call)                                                                                                  \
    do {                                                                                                               \
        portmm_status test_status_ = (call);                                                                           \
        ck_assert_msg(test_status_ == PORTMM_STATUS_SUCCESS, "%s gives %s: %s", #call,                                 \
                      portmm_status_name(test_status_), portmm_last_error());                                          \
    } while (0)

/* Ends the test unless the call fails with this status and an error text that contains `part`. */
#define TEST_FAILS(call, expected, part) test_expect_failure((call), #call, (expected), (part))
void test_expect_failure(portmm_status status, const char *call, portmm_status expected, const char *part);

#endif
