/* SPDX-License-Identifier: Apache-2.0 */
/* Backend modules: found, loaded once for the process, checked, never unloaded. */
#ifndef PMM_MODULE_H
#define PMM_MODULE_H

#include <stdatomic.h>

#include "platform.h"

typedef struct pmm_module pmm_module;
struct pmm_module {
    char *path; /* of the file */
    char *directory;
    const pmm_backend *backend;
    pmm_mutex vendor_lock;       /* see pmm_host.lock */
    atomic_int_fast64_t process; /* that opened it first; 0: none yet */
    pmm_module *next;
};

/*
 * Finds portmm-<name>.so in `search_path` (directories with ':' between, may be NULL), the directory of libportmm, its
 * subdirectory portmm, and the compiled-in directory, in this order; relative directories are passed over. The first
 * file found counts. UNAVAILABLE: not found, or it is no module that fits; the text says what to do.
 */
portmm_status pmm_module_load(const char *name, const char *search_path, pmm_module **module);

/* The path of the file that pmm_module_load would take; "" if there is none. */
void pmm_module_find(const char *name, const char *search_path, char *path, size_t size);

#endif
