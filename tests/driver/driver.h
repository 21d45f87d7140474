/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL driver for tests. It wraps a real one, whose objects it hides behind its own, and fails, lies or poses as
 * another device on demand. Settings are words "name=value" with spaces between them, from the environment variable
 * PORTMM_TEST_DRIVER when the driver is loaded, and from test_driver_set, found by dlsym: the loader loads the driver.
 *
 *     real=FILE        the driver that does the work (default: libpocl.so.2)
 *     fail=FUNCTION    this function fails, with code=N, at its calls number first=N (default: 1) to last=N (all later)
 *     stop=FUNCTION    this function stops the process by SIGSTOP, at the same calls
 *     type=gpu|cpu     what the device says of itself; likewise
 *     name=TEXT version=TEXT (driver's) standard=1.1 (OpenCL version)
 *     fp64=0           no double precision
 *     local=BYTES      local memory; a kernel that needs more fails to launch with CL_OUT_OF_RESOURCES
 *     group=N          largest work-group; a larger one fails with CL_INVALID_WORK_GROUP_SIZE
 *     alloc=BYTES      largest buffer; a larger one fails with CL_INVALID_BUFFER_SIZE
 *     unified=0|1      whether device and host share memory
 *     available=0 compiler=0
 *     platforms=0      none; devices=0: a platform without one. Both only from the environment: the loader asks once.
 *     icd=2            the loader dispatches the calls (cl_khr_icd 2.0). From the environment only.
 *     binary=WHICH     what is handed out as a program's binary: `early`, what the real driver had when the program was
 *                      built; `empty`; `garbage`; by default what it has when it is asked
 *     edit=OLD|NEW     the first OLD in the source of a program becomes NEW; ~ is a space in both
 *     keep=1           a buffer's memory is never released, so that no later one lies in its place
 *     log=FILE         a line is added for each build, load and question for a binary: what, milliseconds, bytes
 *
 * A binary is the real driver's after a header with the driver's version; one with another header is refused with
 * CL_INVALID_BINARY. A function that is not wrapped ends the process, with its name.
 */
#ifndef TEST_DRIVER_H
#define TEST_DRIVER_H

/* Settings start anew: those of the environment, then these. Counts of calls become zero. Returns 0 when a setting is
 * unknown. */
int test_driver_set(const char *settings);

/* How often a function was called; -1: it is not wrapped. */
long test_driver_calls(const char *function);
/* Name of a wrapped function by number; NULL: no more. */
const char *test_driver_function(int number);

#endif
