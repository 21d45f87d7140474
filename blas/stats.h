/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has done, for the line at its end. */
#ifndef PMM_BLAS_STATS_H
#define PMM_BLAS_STATS_H

#include "choice.h"

/* One more product has been served. Any thread. */
void pmm_blas_count(pmm_blas_type type, pmm_blas_route route);
/* One that the next library had to serve because the route failed. */
void pmm_blas_count_failure(pmm_blas_route route);
/* Counts from zero; in the child of a fork. */
void pmm_blas_count_anew(void);

/* One line on standard error; `device` names it, or says that none was opened. */
void pmm_blas_print_stats(const char *device);
/* A line for each class: times, and what was settled. */
void pmm_blas_print_classes(const pmm_blas_choices *choices);

#endif
