/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

const char *pmm_blas_getenv(const char *name) {
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static void *find_in(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    return handle != NULL ? dlsym(handle, name) : NULL;
}

void *pmm_blas_find_next(const char *name) {
    const char *library = pmm_blas_getenv("PORTMM_BLAS_LIBRARY");
    void *found = library != NULL ? find_in(library, name) : dlsym(RTLD_NEXT, name);
    if (found == NULL && library == NULL)
        found = find_in("libblas.so.3", name);
    if (found != NULL)
        return found;
    const char *why = dlerror();
    fprintf(stderr, "portmm-blas: no %s in %s: %s\n", name,
            library != NULL ? library : "any BLAS library behind this one", why != NULL ? why : "not found");
    abort();
}

void pmm_blas_at_fork(void (*run)(void)) {
    pthread_atfork(NULL, NULL, run);
}
