/* SPDX-License-Identifier: Apache-2.0 */
/* From a spec such as "auto" or "opencl:1" to a device. */
#ifndef PMM_SELECT_H
#define PMM_SELECT_H

#include "host.h"

/* The library's own backends in order of preference, ended by NULL. */
#define PMM_OWN_BACKENDS 3
extern const char *const pmm_backend_names[];

typedef struct pmm_spec {
    char backend[32]; /* one of pmm_backend_names, or that of another's module; "": auto */
    int32_t index;    /* -1: not given */
} pmm_spec;

/* A name that is not one of pmm_backend_names is good where its module is found: see pmm_module_load. */
portmm_status pmm_spec_parse(const char *text, const char *module_path, pmm_spec *spec);

/* Tries one candidate; true if it serves. Used to pass over a device that cannot be opened. */
typedef portmm_status (*pmm_try_device)(void *user, pmm_opened *opened, int32_t index);

/*
 * Offers devices to `try`, best first, until one is taken. On success *opened is the backend of that device (the
 * caller's) and `reason` one sentence on why it was taken.
 */
portmm_status pmm_select(pmm_runtime *runtime, const pmm_spec *spec, pmm_try_device try, void *user,
                         pmm_opened **opened, char *reason, size_t reason_size);

/* "0: name, 1: name", for error texts. */
void pmm_list_devices(const pmm_opened *opened, char *text, size_t size);

#endif
