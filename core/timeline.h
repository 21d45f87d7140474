/* SPDX-License-Identifier: Apache-2.0 */
/* Where time went: nested spans of phases, per context. */
#ifndef PMM_TIMELINE_H
#define PMM_TIMELINE_H

#include "platform.h"

#define PMM_TIMELINE_SPANS 1024

typedef struct pmm_timeline {
    pmm_mutex mutex;
    uint64_t totals[PORTMM_PHASE_COUNT]; /* exclusive */
    size_t count;                        /* spans kept */
    portmm_span spans[PMM_TIMELINE_SPANS];
} pmm_timeline;

bool pmm_timeline_init(pmm_timeline *timeline);
void pmm_timeline_fini(pmm_timeline *timeline);

void pmm_span_begin(pmm_timeline *timeline, portmm_phase phase, const char *detail);
void pmm_span_end(void);

/* Spans of this thread are kept but not added up from now on: no caller waits for it. */
void pmm_timeline_background_thread(void);

#endif
