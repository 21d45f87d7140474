/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam between CLBlast and the OpenCL loader. This library defines those cl* functions that CLBlast calls about
 * programs and kernels; it is loaded so that its own CLBlast, and nobody else, resolves to them. Each call into CLBlast
 * is made between pmm_seam_enter and pmm_seam_leave, with host->lock held.
 */
#ifndef PMM_CLBLAST_SEAM_H
#define PMM_CLBLAST_SEAM_H

#include "program.h"

typedef struct pmm_seam_report {
    bool seen;                   /* CLBlast's launches came through here; false: it resolves elsewhere */
    bool new_launches;           /* some are not in the cache's binary */
    char failure[PMM_BUILD_LOG]; /* of the latest program; see pmm_program */
} pmm_seam_report;

/* Once, before all else. */
void pmm_seam_load(const pmm_cl_api *api);

void pmm_seam_enter(const pmm_host *host);
pmm_seam_report pmm_seam_leave(void);

#endif
