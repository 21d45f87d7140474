/* SPDX-License-Identifier: Apache-2.0 */
#include "platform_symbols.h"

#include <dlfcn.h>
#include <stdio.h>

void *bench_open_library(const char *name, char *error, size_t error_size) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        (void)snprintf(error, error_size, "%s", why != NULL ? why : "unknown");
    }
    return library;
}

void *bench_find_symbol(void *library, const char *name) {
    return dlsym(library, name);
}
