/* SPDX-License-Identifier: Apache-2.0 */
/* What asks the operating system. */
#ifndef PMM_BLAS_PLATFORM_H
#define PMM_BLAS_PLATFORM_H

#include <pthread.h>
#include <stdbool.h>

/* NULL if unset or empty, or if the process runs with privileges its caller lacks. */
const char *pmm_blas_getenv(const char *name);

/*
 * The function of that name in PORTMM_BLAS_LIBRARY, if that is set; else the next definition after ours in the order in
 * which the dynamic linker searches; else the one in libblas.so.3. Ends the process, as the dynamic linker does for a
 * missing symbol, where there is none: its caller has no way to hear of an error.
 */
void *pmm_blas_find_next(const char *name);

/* Calls `run` in the child of every fork from now on. */
void pmm_blas_at_fork(void (*run)(void));

#endif
