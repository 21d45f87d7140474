/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INFO_PLATFORM_LIBRARY_H
#define INFO_PLATFORM_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Opens a shared library as the system finds it, and leaves it open. True: `file` is where it was found, links
 * followed. False: `error` says why not. */
bool info_open_library(const char *name, char *file, size_t file_size, char *error, size_t error_size);

#endif
