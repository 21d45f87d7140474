/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine's library gives the OpenCL module. Both are of one build. */
#ifndef PMM_CLBLAST_H
#define PMM_CLBLAST_H

#include "opencl.h"

#define PMM_CLBLAST_FILE "portmm-opencl-clblast.so"
#define PMM_CLBLAST_ENTRY_NAME "pmm_clblast_entry"

typedef struct pmm_clblast {
    const pmm_engine *engine;
    /* Drops every program that CLBlast holds in memory. With host->lock held. */
    void (*forget)(const pmm_host *host);
} pmm_clblast;

/* The table is copied. NULL: no memory. */
typedef const pmm_clblast *pmm_clblast_entry_fn(const pmm_cl_api *api);
PMM_EXPORT const pmm_clblast *pmm_clblast_entry(const pmm_cl_api *api);

#endif
