/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA driver for tests: libcuda.so.1 over host memory, which does every command at once. It runs the starter's own
 * kernels, thread after thread, and fails on demand. Settings are words "name=value" with spaces between them, from the
 * environment variable PORTMM_TEST_CUDA when it is loaded and from test_cuda_set, found by dlsym:
 *
 *     fail=FUNCTION    fails with code=N, at its calls number first=N (default: 1) to last=N (all later); from then on
 *                      with lost=1 every call that needs a context fails with that code, as after a fault of the GPU
 *     version=N        the CUDA version of the driver (default: 13000); capability=N (90); devices=N (1)
 *
 * A call that needs a current context and finds none fails with CUDA_ERROR_INVALID_CONTEXT.
 */
#ifndef TEST_CUDA_DRIVER_H
#define TEST_CUDA_DRIVER_H

/* Settings start anew: those of the environment, then these. Counts of calls become zero. Returns 0 when a setting is
 * unknown. */
int test_cuda_set(const char *settings);
long test_cuda_calls(const char *function);
/* Name of a function by number, those of the cuBLAS for tests included; NULL: no more. */
const char *test_cuda_function(int number);
/* References to primary contexts, and streams, events, modules, links and blocks of memory that there are. */
long test_cuda_objects(void);

/* For the cuBLAS for tests: counts a call; the code it has to fail with, 0: it does not. */
int test_cuda_begin(const char *function, int needs_context);

#endif
