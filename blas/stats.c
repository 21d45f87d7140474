/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_uint_fast64_t served[PMM_BLAS_TYPES][PMM_BLAS_ROUTES];
static atomic_uint_fast64_t failed[PMM_BLAS_ROUTES];
static const char letters[] = "sdcz";

void pmm_blas_count(pmm_blas_type type, pmm_blas_route route) {
    atomic_fetch_add_explicit(&served[type][route], 1, memory_order_relaxed);
}

void pmm_blas_count_failure(pmm_blas_route route) {
    atomic_fetch_add_explicit(&failed[route], 1, memory_order_relaxed);
}

void pmm_blas_count_anew(void) {
    for (int route = 0; route < PMM_BLAS_ROUTES; route++) {
        atomic_store(&failed[route], 0);
        for (int type = 0; type < PMM_BLAS_TYPES; type++)
            atomic_store(&served[type][route], 0);
    }
}

void pmm_blas_print_stats(const char *device) {
    char line[1024];
    int used = snprintf(line, sizeof line, "portmm-blas:");
    for (int type = 0; type < PMM_BLAS_TYPES; type++) {
        uint64_t next = atomic_load(&served[type][PMM_BLAS_NEXT]), cpu = atomic_load(&served[type][PMM_BLAS_CPU]);
        uint64_t there = atomic_load(&served[type][PMM_BLAS_DEVICE]);
        if (next + cpu + there > 0)
            used += snprintf(line + used, sizeof line - (size_t)used,
                             " %cgemm next %" PRIu64 " cpu %" PRIu64 " device %" PRIu64 ";", letters[type], next, cpu,
                             there);
    }
    uint64_t failures = atomic_load(&failed[PMM_BLAS_CPU]) + atomic_load(&failed[PMM_BLAS_DEVICE]);
    fprintf(stderr, "%s failures %" PRIu64 "; device: %s\n", line, failures, device);
}

static void print_class(const pmm_blas_class *class) {
    fprintf(stderr, "portmm-blas: %cgemm m %ld.. n %ld.. k %ld..: ", letters[class->type], 1L << (class->m - 1),
            1L << (class->n - 1), 1L << (class->k - 1));
    for (int route = 0; route < PMM_BLAS_ROUTES; route++)
        if (class->routes[route].trials > 1)
            fprintf(stderr, "%s %.2f GFLOP/s, ", pmm_blas_route_names[route],
                    (class->type >= PMM_BLAS_C ? 8 : 2) / (double)class->routes[route].ns);
    fprintf(stderr, "%s\n", class->settled >= 0 ? pmm_blas_route_names[class->settled] : "not settled");
}

void pmm_blas_print_classes(const pmm_blas_choices *choices) {
    for (size_t i = 0; i < PMM_BLAS_MAX_CLASSES; i++)
        if (choices->classes[i].m != 0)
            print_class(&choices->classes[i]);
}
