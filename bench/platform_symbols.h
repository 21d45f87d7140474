/* SPDX-License-Identifier: Apache-2.0 */
/* Shared libraries that a peer opens at run time. */
#ifndef BENCH_PLATFORM_SYMBOLS_H
#define BENCH_PLATFORM_SYMBOLS_H

#include <stddef.h>

/* As the system finds it; it stays open. NULL: `error` says why not. */
void *bench_open_library(const char *name, char *error, size_t error_size);
/* NULL: it has none of that name. */
void *bench_find_symbol(void *library, const char *name);

#endif
