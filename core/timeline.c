/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "context.h"
#include "status.h"

#define MAX_DEPTH 16

typedef struct frame {
    pmm_timeline *timeline;
    portmm_phase phase;
    const char *detail;
    uint64_t begin_ns;
    uint64_t inner_ns; /* time of the spans directly inside */
} frame;

/* The open spans of this thread. One deeper than MAX_DEPTH is not recorded; its time stays with the one around it. */
static _Thread_local frame frames[MAX_DEPTH];
static _Thread_local unsigned depth;
static _Thread_local bool in_background;

static uint64_t get_thread_number(void) {
    static atomic_uint_fast64_t next;
    static _Thread_local uint64_t mine; /* one more than the number; 0: none yet */
    if (mine == 0)
        mine = atomic_fetch_add(&next, 1) + 1;
    return mine - 1;
}

bool pmm_timeline_init(pmm_timeline *timeline) {
    memset(timeline, 0, sizeof *timeline);
    return pmm_mutex_init(&timeline->mutex);
}

void pmm_timeline_fini(pmm_timeline *timeline) {
    pmm_mutex_fini(&timeline->mutex);
}

void pmm_span_begin(pmm_timeline *timeline, portmm_phase phase, const char *detail) {
    if (depth < MAX_DEPTH)
        frames[depth] = (frame){.timeline = timeline, .phase = phase, .detail = detail, .begin_ns = pmm_clock_ns()};
    depth++;
}

void pmm_span_end(void) {
    assert(depth > 0);
    if (--depth >= MAX_DEPTH)
        return;
    const frame *ended = &frames[depth];
    uint64_t end_ns = pmm_clock_ns(), whole = end_ns - ended->begin_ns;
    /* A span of another context around this one does not happen: contexts do not call each other. */
    if (depth > 0)
        frames[depth - 1].inner_ns += whole;
    pmm_timeline *timeline = ended->timeline;
    pmm_mutex_lock(&timeline->mutex);
    if (!in_background)
        timeline->totals[ended->phase] += whole - ended->inner_ns;
    if (timeline->count < PMM_TIMELINE_SPANS)
        timeline->spans[timeline->count++] = (portmm_span){.phase = ended->phase,
                                                           .depth = depth,
                                                           .thread = get_thread_number(),
                                                           .begin_ns = ended->begin_ns,
                                                           .end_ns = end_ns,
                                                           .detail = ended->detail};
    pmm_mutex_unlock(&timeline->mutex);
}

void pmm_timeline_background_thread(void) {
    in_background = true;
}

const char *portmm_phase_name(portmm_phase phase) {
    switch (phase) {
#define CASE(name, number, text)                                                                                       \
    case PORTMM_PHASE_##name:                                                                                          \
        return text;
        PORTMM_PHASE_LIST(CASE)
#undef CASE
    }
    return "unknown";
}

uint64_t portmm_clock_ns(void) {
    return pmm_clock_ns();
}

portmm_status portmm_timeline_read(portmm_context *context, size_t capacity, portmm_span *spans, size_t *count) {
    pmm_clear_error();
    if (context == NULL || count == NULL || (spans == NULL && capacity > 0))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_timeline_read: context, spans or count is NULL");
    pmm_timeline *timeline = &context->runtime.timeline;
    pmm_mutex_lock(&timeline->mutex);
    size_t copied = capacity < timeline->count ? capacity : timeline->count;
    if (copied > 0)
        memcpy(spans, timeline->spans, copied * sizeof *spans);
    *count = timeline->count;
    pmm_mutex_unlock(&timeline->mutex);
    return PORTMM_STATUS_SUCCESS;
}

portmm_status portmm_timeline_totals(portmm_context *context, uint64_t totals[PORTMM_PHASE_COUNT]) {
    pmm_clear_error();
    if (context == NULL || totals == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_timeline_totals: context or totals is NULL");
    pmm_timeline *timeline = &context->runtime.timeline;
    pmm_mutex_lock(&timeline->mutex);
    memcpy(totals, timeline->totals, sizeof timeline->totals);
    pmm_mutex_unlock(&timeline->mutex);
    if (context->hybrid.front != NULL) { /* what the CPU did in its place */
        uint64_t front[PORTMM_PHASE_COUNT];
        portmm_timeline_totals(context->hybrid.front, front);
        for (int i = 0; i < PORTMM_PHASE_COUNT; i++)
            totals[i] += front[i];
    }
    return PORTMM_STATUS_SUCCESS;
}
