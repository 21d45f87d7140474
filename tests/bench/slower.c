/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded, every product takes PORTMM_SLOWER_PERCENT more of its own time: from the call of portmm_sgemm until
 * portmm_event_wait has returned, and then that share again in a loop that does nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <portmm/portmm.h>
#include <stdlib.h>

static _Thread_local uint64_t begun_ns;

static double read_share(void) {
    const char *percent = getenv("PORTMM_SLOWER_PERCENT");
    return percent != NULL ? strtod(percent, NULL) / 100 : 0;
}

portmm_status portmm_sgemm(portmm_queue *queue, portmm_layout layout, portmm_transpose transa, portmm_transpose transb,
                           int64_t m, int64_t n, int64_t k, float alpha, const portmm_buffer *a, int64_t offset_a,
                           int64_t lda, const portmm_buffer *b, int64_t offset_b, int64_t ldb, float beta,
                           portmm_buffer *c, int64_t offset_c, int64_t ldc, size_t wait_count,
                           portmm_event *const *wait_list, portmm_event **event) {
    static portmm_status (*real)(portmm_queue *, portmm_layout, portmm_transpose, portmm_transpose, int64_t, int64_t,
                                 int64_t, float, const portmm_buffer *, int64_t, int64_t, const portmm_buffer *,
                                 int64_t, int64_t, float, portmm_buffer *, int64_t, int64_t, size_t,
                                 portmm_event *const *, portmm_event **);
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "portmm_sgemm");
    }
    begun_ns = portmm_clock_ns();
    return real(queue, layout, transa, transb, m, n, k, alpha, a, offset_a, lda, b, offset_b, ldb, beta, c, offset_c,
                ldc, wait_count, wait_list, event);
}

portmm_status portmm_event_wait(portmm_event *event) {
    static portmm_status (*real)(portmm_event *);
    static double share = -1;
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "portmm_event_wait");
        share = read_share();
    }
    portmm_status status = real(event);
    uint64_t end_ns = portmm_clock_ns(), more_ns = (uint64_t)(share * (double)(end_ns - begun_ns));
    while (portmm_clock_ns() - end_ns < more_ns) {
    }
    return status;
}
