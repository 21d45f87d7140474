/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind a module's pmm_host table. */
#ifndef PMM_HOST_H
#define PMM_HOST_H

#include "cache/store.h"
#include "config.h"
#include "module.h"
#include "timeline.h"

/* Services of one context or inventory. */
typedef struct pmm_runtime {
    pmm_config config;
    pmm_timeline timeline;
    pmm_cache cache;
    pmm_machine machine;
    char cpu_name[128];
} pmm_runtime;

/* pmm_runtime_fini is right after a failure, too, if `runtime` was zeroed before. */
portmm_status pmm_runtime_init(pmm_runtime *runtime, const portmm_context_options *options);
void pmm_runtime_fini(pmm_runtime *runtime);

/* One backend, loaded and open for one runtime. */
typedef struct pmm_opened {
    pmm_host host; /* first: the module gives it back to us */
    pmm_runtime *runtime;
    pmm_module *module;
    const pmm_backend *backend;
    pmm_backend_state *state;
    int64_t process; /* that opened it */
} pmm_opened;

/* Loads the module and opens its driver. `runtime` outlives *opened. */
portmm_status pmm_backend_open(pmm_runtime *runtime, const char *name, pmm_opened **opened);
void pmm_backend_close(pmm_opened *opened);
/* Opened before a fork, in the parent, by a backend that does not survive one. */
bool pmm_backend_is_cut_off(const pmm_opened *opened);

/* PORTMM_DTYPE_BIT of each type that some engine of the backend has products of on the device. */
uint32_t pmm_backend_dtypes(const pmm_backend *backend, const portmm_device_info *info);

#endif
