/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

#include "child.h"

#include <portmm/portmm.h>

#include <stdlib.h>
#include <string.h>

typedef struct sample {
    bench_problem problem;
    portmm_context *context;
    portmm_queue *queue;
    portmm_buffer *a, *b, *c;
    uint64_t spawn_ns;
    bool on_host; /* hybrid: only host-pointer products run before the device is open */
    const bench_matrices *host;
} sample;

static bool check_status(portmm_status status, bench_failure *failure) {
    if (status != PORTMM_STATUS_SUCCESS) {
        const char *reason = portmm_last_error();
        bench_fail(failure, (int)status, "%s", reason[0] != '\0' ? reason : portmm_status_text(status));
    }
    return status == PORTMM_STATUS_SUCCESS;
}

static bool connect_context(void *state, const bench_request *request, bench_failure *failure) {
    sample *self = state;
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = request->backend;
    options.engine = request->engine[0] != '\0' ? request->engine : NULL;
    options.start = strcmp(request->start, "tuned") == 0    ? PORTMM_START_TUNED
                    : strcmp(request->start, "hybrid") == 0 ? PORTMM_START_HYBRID
                                                            : PORTMM_START_FAST;
    self->problem = request->problem;
    self->on_host = options.start == PORTMM_START_HYBRID && !request->resolve;
    return check_status(portmm_context_create(&options, &self->context), failure) &&
           (self->on_host || check_status(portmm_queue_create(self->context, &self->queue), failure));
}

static size_t matrix_size(const bench_problem *problem, int64_t rows, int64_t columns) {
    return (size_t)rows * (size_t)columns * bench_dtype_size(problem->dtype);
}

static bool allocate_buffers(void *state, bench_failure *failure) {
    sample *self = state;
    const bench_problem *p = &self->problem;
    if (self->on_host) {
        return true;
    }
    return check_status(portmm_buffer_create(self->context, matrix_size(p, p->m, p->k), &self->a), failure) &&
           check_status(portmm_buffer_create(self->context, matrix_size(p, p->k, p->n), &self->b), failure) &&
           check_status(portmm_buffer_create(self->context, matrix_size(p, p->m, p->n), &self->c), failure);
}

static bool upload_matrices(void *state, const bench_matrices *host, bench_failure *failure) {
    sample *self = state;
    const bench_problem *p = &self->problem;
    self->host = host;
    if (self->on_host) {
        return true;
    }
    return check_status(portmm_buffer_write(self->queue, self->a, 0, matrix_size(p, p->m, p->k), host->a), failure) &&
           check_status(portmm_buffer_write(self->queue, self->b, 0, matrix_size(p, p->k, p->n), host->b), failure);
}

static portmm_status call_gemm(sample *self, portmm_event **event) {
    const bench_problem *p = &self->problem;
    portmm_transpose transa = p->transa ? PORTMM_TRANS : PORTMM_NO_TRANS;
    portmm_transpose transb = p->transb ? PORTMM_TRANS : PORTMM_NO_TRANS;
    int64_t lda = bench_lda(p), ldb = bench_ldb(p);
    if (p->dtype == BENCH_F32) {
        return portmm_sgemm(self->queue, PORTMM_ROW_MAJOR, transa, transb, p->m, p->n, p->k, 1.0F, self->a, 0, lda,
                            self->b, 0, ldb, 0.0F, self->c, 0, p->n, 0, NULL, event);
    }
    return portmm_dgemm(self->queue, PORTMM_ROW_MAJOR, transa, transb, p->m, p->n, p->k, 1.0, self->a, 0, lda, self->b,
                        0, ldb, 0.0, self->c, 0, p->n, 0, NULL, event);
}

static portmm_status call_host_gemm(const sample *self) {
    const bench_problem *p = &self->problem;
    portmm_transpose transa = p->transa ? PORTMM_TRANS : PORTMM_NO_TRANS;
    portmm_transpose transb = p->transb ? PORTMM_TRANS : PORTMM_NO_TRANS;
    int64_t lda = bench_lda(p), ldb = bench_ldb(p);
    if (p->dtype == BENCH_F32) {
        return portmm_sgemm_host(self->context, PORTMM_ROW_MAJOR, transa, transb, p->m, p->n, p->k, 1.0F, self->host->a,
                                 lda, self->host->b, ldb, 0.0F, self->host->c, p->n);
    }
    return portmm_dgemm_host(self->context, PORTMM_ROW_MAJOR, transa, transb, p->m, p->n, p->k, 1.0, self->host->a, lda,
                             self->host->b, ldb, 0.0, self->host->c, p->n);
}

static bool multiply(void *state, bench_failure *failure) {
    portmm_event *event = NULL;
    sample *self = state;
    if (self->on_host) {
        return check_status(call_host_gemm(self), failure);
    }
    if (!check_status(call_gemm(state, &event), failure)) {
        return false;
    }
    bool ok = check_status(portmm_event_wait(event), failure);
    portmm_event_destroy(event);
    return ok;
}

static bool enqueue(void *state, bench_failure *failure) {
    sample *self = state;
    if (self->on_host) {
        return check_status(call_host_gemm(self), failure);
    }
    return check_status(call_gemm(state, NULL), failure);
}

static bool finish(void *state, bench_failure *failure) {
    sample *self = state;
    return self->on_host || check_status(portmm_queue_finish(self->queue), failure);
}

static bool download(void *state, const bench_matrices *host, bench_failure *failure) {
    sample *self = state;
    const bench_problem *p = &self->problem;
    if (self->on_host) {
        return true;
    }
    return check_status(portmm_buffer_read(self->queue, self->c, 0, matrix_size(p, p->m, p->n), host->c), failure);
}

static bool describe_identity(sample *self, json_t *result, bench_failure *failure) {
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    if (!check_status(portmm_context_get_info(self->context, &info), failure)) {
        return false;
    }
    json_t *identity =
        json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "backend", bench_json_string(info.backend), "device_index",
                  (int)info.device_index, "device", bench_json_string(info.device_name), "platform",
                  bench_json_string(info.platform_name), "driver", bench_json_string(info.driver_version), "engine",
                  bench_json_string(info.engine), "reason", bench_json_string(info.reason));
    return json_object_update_new(result, identity) == 0;
}

/* The library's phases, and the two that are the process's own: its start, and the host matrices. */
static bool describe_phases(sample *self, const bench_stamps *stamps, json_t *result, bench_failure *failure) {
    uint64_t totals[PORTMM_PHASE_COUNT];
    if (!check_status(portmm_timeline_totals(self->context, totals), failure)) {
        return false;
    }
    totals[PORTMM_PHASE_LOAD] += stamps->first_call - stamps->spawn;
    totals[PORTMM_PHASE_ALLOCATE] += stamps->host_end - stamps->host_begin;
    json_t *phases = json_object();
    for (int i = 0; i < PORTMM_PHASE_COUNT; i++) {
        (void)json_object_set_new(phases, portmm_phase_name((portmm_phase)i), json_real((double)totals[i] * 1e-6));
    }
    return json_object_set_new(result, "phases_ms", phases) == 0;
}

static json_t *make_span(const bench_stamps *stamps, const portmm_span *span) {
    return json_pack("{s:s, s:o, s:I, s:I, s:f, s:f}", "phase", portmm_phase_name(span->phase), "detail",
                     bench_json_string(span->detail), "thread", (json_int_t)span->thread, "depth",
                     (json_int_t)span->depth, "begin_ms", bench_elapsed_ms(stamps->spawn, span->begin_ns), "end_ms",
                     bench_elapsed_ms(stamps->spawn, span->end_ns));
}

/* What happened when, in ms from the start of the process: the library's spans and the process's own two. */
static bool describe_spans(sample *self, const bench_stamps *stamps, json_t *result, bench_failure *failure) {
    size_t capacity = 1024, count = 0; /* the library keeps no more */
    portmm_span *spans = bench_resize(NULL, capacity, sizeof *spans);
    bool ok = check_status(portmm_timeline_read(self->context, capacity, spans, &count), failure);
    const portmm_span own[] = {
        {.phase = PORTMM_PHASE_LOAD, .begin_ns = stamps->spawn, .end_ns = stamps->first_call, .detail = "process"},
        {.phase = PORTMM_PHASE_ALLOCATE,
         .begin_ns = stamps->host_begin,
         .end_ns = stamps->host_end,
         .detail = "host matrices"},
    };
    json_t *array = json_array();
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        (void)json_array_append_new(array, make_span(stamps, &own[i]));
    }
    for (size_t i = 0; ok && i < count && i < capacity; i++) {
        if (spans[i].begin_ns <= stamps->result) {
            (void)json_array_append_new(array, make_span(stamps, &spans[i]));
        }
    }
    free(spans);
    return json_object_set_new(result, "timeline", array) == 0 && ok;
}

static bool describe_switches(sample *self, json_t *result, bench_failure *failure) {
    portmm_switch switches[64]; /* the library keeps no more */
    size_t count = 0;
    if (!check_status(portmm_switches_read(self->context, sizeof switches / sizeof switches[0], switches, &count),
                      failure)) {
        return false;
    }
    json_t *array = json_array();
    for (size_t i = 0; i < count && i < sizeof switches / sizeof switches[0]; i++) {
        (void)json_array_append_new(array, json_pack("{s:f, s:s, s:s, s:s}", "at_ms",
                                                     bench_elapsed_ms(self->spawn_ns, switches[i].at_ns), "from",
                                                     switches[i].from, "to", switches[i].to, "why", switches[i].why));
    }
    return json_object_set_new(result, "switches", array) == 0;
}

static bool describe_cache(sample *self, json_t *result, bench_failure *failure) {
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    if (!check_status(portmm_cache_get_stats(self->context, &stats), failure)) {
        return false;
    }
    json_t *cache = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "hits", (json_int_t)stats.hits, "misses",
                              (json_int_t)stats.misses, "stores", (json_int_t)stats.stores, "bypassed",
                              (json_int_t)stats.bypassed, "bytes", (json_int_t)stats.bytes, "helpers",
                              (json_int_t)stats.helpers, "faults", (json_int_t)stats.faults);
    return json_object_set_new(result, "cache", cache) == 0;
}

static bool describe(void *state, const bench_stamps *stamps, json_t *result, bench_failure *failure) {
    sample *self = state;
    if (stamps != NULL) {
        self->spawn_ns = stamps->spawn;
        /* Phases first: what is asked here must not count. */
        if (!describe_phases(self, stamps, result, failure) || !describe_spans(self, stamps, result, failure) ||
            !describe_cache(self, result, failure)) {
            return false;
        }
    }
    return describe_identity(self, result, failure) && describe_switches(self, result, failure);
}

static void close_context(void *state) {
    sample *self = state;
    portmm_buffer_destroy(self->a);
    portmm_buffer_destroy(self->b);
    portmm_buffer_destroy(self->c);
    portmm_queue_destroy(self->queue);
    portmm_context_destroy(self->context);
}

static const bench_subject subject = {
    .connect = connect_context,
    .allocate = allocate_buffers,
    .upload = upload_matrices,
    .multiply = multiply,
    .enqueue = enqueue,
    .finish = finish,
    .download = download,
    .describe = describe,
    .close = close_context,
};

int bench_sample_main(int argc, char **argv, uint64_t entry_ns) {
    sample self = {0};
    return bench_child_main(&subject, &self, argc, argv, entry_ns);
}
