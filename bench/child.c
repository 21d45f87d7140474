/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include "platform.h"
#include "stats.h"
#include "steady.h"
#include "text.h"
#include "verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Bounded runs stop after this time, but not before two of them. */
static const double RUNS_BOUND_MS = 5000;
static const size_t RUNS_LEAST = 2;

typedef struct child {
    const bench_subject *subject;
    void *state;
    bench_request request;
    bench_stamps stamps;
    bench_matrices host;
    FILE *output;
    json_t *result;
    bench_failure failure;
} child;

void bench_fail(bench_failure *failure, int status, const char *format, ...) {
    failure->status = status;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(failure->text, sizeof failure->text, format, arguments);
    va_end(arguments);
}

double bench_elapsed_ms(uint64_t begin_ns, uint64_t end_ns) {
    return end_ns >= begin_ns ? (double)(end_ns - begin_ns) * 1e-6 : -((double)(begin_ns - end_ns) * 1e-6);
}

/* Values in [-1, 1) out of the index alone: no chain from one to the next, so the loop vectorises, and filling two
 * matrices stays small against what is measured. */
static float make_value(uint32_t seed, uint32_t index) {
    uint32_t bits = (index ^ seed) * UINT32_C(0x9E3779B1);
    bits ^= bits >> 15;
    bits *= UINT32_C(0x85EBCA77);
    bits ^= bits >> 13;
    return (float)(int32_t)bits * 0x1p-31F;
}

static void fill_matrix(bench_dtype dtype, void *matrix, size_t count, uint32_t seed) {
    if (dtype == BENCH_F32) {
        float *values = matrix;
        for (size_t i = 0; i < count; i++) {
            values[i] = make_value(seed, (uint32_t)i);
        }
    } else {
        double *values = matrix;
        for (size_t i = 0; i < count; i++) {
            /* The second term fills the lower half of the significand. */
            values[i] = (double)make_value(seed, (uint32_t)i) + 0x1p-26 * (double)make_value(seed + 2, (uint32_t)i);
        }
    }
}

static bool make_host_matrices(child *self) {
    const bench_problem *p = &self->request.problem;
    self->stamps.host_begin = bench_clock_ns();
    size_t size = bench_dtype_size(p->dtype);
    size_t a_count = (size_t)(p->m * p->k), b_count = (size_t)(p->k * p->n), c_count = (size_t)(p->m * p->n);
    self->host.a = malloc(a_count * size);
    self->host.b = malloc(b_count * size);
    self->host.c = malloc(c_count * size);
    if (self->host.a == NULL || self->host.b == NULL || self->host.c == NULL) {
        bench_fail(&self->failure, 2, "not enough host memory for matrices of %.0f bytes", bench_matrix_bytes(p));
        return false;
    }
    fill_matrix(p->dtype, self->host.a, a_count, 1);
    fill_matrix(p->dtype, self->host.b, b_count, 2);
    self->stamps.host_end = bench_clock_ns();
    return true;
}

static bool reach_first_result(child *self) {
    const bench_subject *subject = self->subject;
    bench_failure *failure = &self->failure;
    self->stamps.first_call = bench_clock_ns();
    if (!subject->connect(self->state, &self->request, failure) || !subject->allocate(self->state, failure) ||
        !make_host_matrices(self) || !subject->upload(self->state, &self->host, failure)) {
        return false;
    }
    self->stamps.gemm_begin = bench_clock_ns();
    if (!subject->multiply(self->state, failure)) {
        return false;
    }
    self->stamps.gemm_end = bench_clock_ns();
    if (!subject->download(self->state, &self->host, failure)) {
        return false;
    }
    self->stamps.result = bench_clock_ns();
    (void)fputc('\n', self->output);
    return fflush(self->output) == 0;
}

/* *returned_ms: until the last call came back, complete or not. */
static bool run_products(child *self, int64_t count, double *returned_ms, double *elapsed_ms) {
    uint64_t begin = bench_clock_ns();
    for (int64_t i = 0; i < count; i++) {
        if (!self->subject->enqueue(self->state, &self->failure)) {
            return false;
        }
    }
    *returned_ms = bench_elapsed_ms(begin, bench_clock_ns());
    if (!self->subject->finish(self->state, &self->failure)) {
        return false;
    }
    *elapsed_ms = bench_elapsed_ms(begin, bench_clock_ns());
    return true;
}

static json_t *make_array(const bench_series *series) {
    json_t *array = json_array();
    for (size_t i = 0; i < series->count; i++) {
        (void)json_array_append_new(array, json_real(series->values[i]));
    }
    return array;
}

/* Run #0 starts with the first call into the library and holds the first product; the rest of it follows here. */
static bool repeat_founding_runs(child *self) {
    if (self->request.runs == 0 || self->request.loops == 0) {
        return true;
    }
    uint64_t begin = bench_clock_ns();
    bench_series runs = {0}, returned = {0};
    double elapsed = 0, unsynchronised = 0;
    bool ok = run_products(self, self->request.loops - 1, &unsynchronised, &elapsed);
    double first = bench_elapsed_ms(self->stamps.first_call, self->stamps.result);
    bench_series_add(&runs, first + elapsed);
    bench_series_add(&returned, first + unsynchronised);
    while (ok && runs.count < (size_t)self->request.runs &&
           (!self->request.runs_bounded || runs.count < RUNS_LEAST ||
            bench_elapsed_ms(begin, bench_clock_ns()) < RUNS_BOUND_MS)) {
        ok = run_products(self, self->request.loops, &unsynchronised, &elapsed);
        bench_series_add(&runs, elapsed);
        bench_series_add(&returned, unsynchronised);
    }
    (void)json_object_set_new(self->result, "runs_ms", make_array(&runs));
    (void)json_object_set_new(self->result, "runs_unsynchronised_ms", make_array(&returned));
    bench_series_fini(&runs);
    bench_series_fini(&returned);
    return ok;
}

static bool go_to_steady(child *self) {
    if (!self->request.steady) {
        return true;
    }
    bench_series times = {0};
    bool settled = false;
    bool ok = bench_measure_steady(self->subject, self->state, &times, &settled, &self->failure);
    (void)json_object_set_new(self->result, "gemm_ms", make_array(&times));
    (void)json_object_set_new(self->result, "settled", json_boolean(settled));
    bench_series_fini(&times);
    return ok && self->subject->describe(self->state, NULL, self->result, &self->failure); /* who serves by now */
}

/* The row's engine is that of its first product; what the runs changed is told beside it. */
static bool tell_switches(child *self) {
    json_t *latest = json_object();
    bool ok = self->subject->describe(self->state, NULL, latest, &self->failure);
    json_t *switches = json_object_get(latest, "switches");
    if (switches != NULL) {
        (void)json_object_set(self->result, "switches", switches);
    }
    json_decref(latest);
    return ok;
}

static void check_result(child *self) {
    if (!self->request.verify) {
        return;
    }
    bench_verdict verdict = bench_verify(&self->request.problem, self->host.a, self->host.b, self->host.c);
    json_t *object = json_pack("{s:b, s:I}", "correct", verdict.correct, "rows", (json_int_t)verdict.rows);
    /* JSON has no NaN. */
    json_t *error = isfinite(verdict.relative_error) ? json_real(verdict.relative_error) : json_null();
    (void)json_object_set_new(object, "relative_error", error);
    (void)json_object_set_new(self->result, "verdict", object);
}

static bool sample(child *self) {
    const bench_stamps *stamps = &self->stamps;
    if (!reach_first_result(self) || !self->subject->describe(self->state, stamps, self->result, &self->failure)) {
        return false;
    }
    (void)json_object_set_new(self->result, "process_to_result_ms",
                              json_real(bench_elapsed_ms(stamps->spawn, stamps->result)));
    (void)json_object_set_new(self->result, "first_gemm_ms",
                              json_real(bench_elapsed_ms(stamps->gemm_begin, stamps->gemm_end)));
    (void)json_object_set_new(self->result, "before_first_call_ms",
                              json_real(bench_elapsed_ms(stamps->spawn, stamps->first_call)));
    if (!repeat_founding_runs(self) || !go_to_steady(self) || !tell_switches(self)) {
        return false;
    }
    check_result(self);
    return true;
}

static bool resolve(child *self) {
    return self->subject->connect(self->state, &self->request, &self->failure) &&
           self->subject->describe(self->state, NULL, self->result, &self->failure);
}

static bool emit(FILE *output, json_t *result) {
    bool ok = json_dumpf(result, output, JSON_COMPACT) == 0 && fputc('\n', output) != EOF;
    return fflush(output) == 0 && ok;
}

int bench_child_main(const bench_subject *subject, void *state, int argc, char **argv, uint64_t entry_ns) {
    child self = {.subject = subject, .state = state, .stamps = {.entry = entry_ns}};
    void *storage = NULL;
    int64_t spawn = 0;
    if (argc < 3 || !bench_parse_integer(argv[argc - 1], 0, INT64_MAX, &spawn) ||
        !bench_request_decode(argv[argc - 2], &self.request, &storage)) {
        fprintf(stderr, "%s: started by portmm-bench, with a request in JSON and a time stamp\n", argv[0]);
        return 2;
    }
    self.stamps.spawn = (uint64_t)spawn;
    self.output = bench_take_stdout();
    self.result = json_object();
    bool ok = self.output != NULL && (self.request.resolve ? resolve(&self) : sample(&self));
    if (!ok) {
        json_decref(self.result);
        self.result =
            json_pack("{s:o, s:i}", "error", bench_json_string(self.failure.text), "status", self.failure.status);
    }
    ok = self.output != NULL && emit(self.output, self.result);
    subject->close(state);
    json_decref(self.result);
    bench_request_free(storage);
    free(self.host.a);
    free(self.host.b);
    free(self.host.c);
    return ok ? 0 : 3;
}
