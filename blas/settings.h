/* SPDX-License-Identifier: Apache-2.0 */
/* The PORTMM_BLAS_... environment variables. */
#ifndef PMM_BLAS_SETTINGS_H
#define PMM_BLAS_SETTINGS_H

#include <stdint.h>

/* Where a product can go. In the order of preference where they are about equally fast. */
typedef enum pmm_blas_route {
    PMM_BLAS_NEXT,   /* the next library's function of the same name */
    PMM_BLAS_CPU,    /* libportmm's CPU backend */
    PMM_BLAS_DEVICE, /* the device that libportmm chooses */
    PMM_BLAS_ROUTES,
    PMM_BLAS_AUTO = PMM_BLAS_ROUTES /* as a setting: whichever is measured fastest */
} pmm_blas_route;

typedef enum pmm_blas_stats { PMM_BLAS_STATS_OFF, PMM_BLAS_STATS_LINE, PMM_BLAS_STATS_CLASSES } pmm_blas_stats;

typedef struct pmm_blas_settings {
    pmm_blas_route route;
    pmm_blas_stats stats;
    int64_t min_size;       /* edge of the smallest cube that is worth a choice */
    uint64_t open_after_ns; /* how long products must have taken before anything is opened */
} pmm_blas_settings;

extern const char *const pmm_blas_route_names[PMM_BLAS_ROUTES + 1];

/* A value that is not understood is reported on standard error, and its default taken. */
void pmm_blas_settings_read(pmm_blas_settings *settings);

#endif
