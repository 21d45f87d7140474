/* SPDX-License-Identifier: Apache-2.0 */
/* A peer of portmm-bench: OpenBLAS through CBLAS, as a program calls it that links it. It works on host memory. */
#include "child.h"
#include "platform.h"

#include <cblas.h>

typedef struct openblas {
    bench_problem problem;
    bench_matrices host;
} openblas;

static bool connect_library(void *state, const bench_request *request, bench_failure *failure) {
    openblas *self = state;
    self->problem = request->problem;
    /* CBLAS of this build takes int, or a 64-bit integer. */
    const bench_problem *p = &self->problem;
    if ((blasint)p->m != p->m || (blasint)p->n != p->n || (blasint)p->k != p->k) {
        bench_fail(failure, 0, "OpenBLAS with %zu-byte integers cannot take this size", sizeof(blasint));
        return false;
    }
    return true;
}

static bool allocate_nothing(void *state, bench_failure *failure) {
    (void)state;
    (void)failure;
    return true;
}

static bool take_matrices(void *state, const bench_matrices *host, bench_failure *failure) {
    openblas *self = state;
    (void)failure;
    self->host = *host;
    return true;
}

static bool multiply(void *state, bench_failure *failure) {
    openblas *self = state;
    const bench_problem *p = &self->problem;
    const bench_matrices *host = &self->host;
    (void)failure;
    blasint m = (blasint)p->m, n = (blasint)p->n, k = (blasint)p->k;
    blasint lda = (blasint)bench_lda(p), ldb = (blasint)bench_ldb(p);
    CBLAS_TRANSPOSE transa = p->transa ? CblasTrans : CblasNoTrans;
    CBLAS_TRANSPOSE transb = p->transb ? CblasTrans : CblasNoTrans;
    if (p->dtype == BENCH_F32) {
        cblas_sgemm(CblasRowMajor, transa, transb, m, n, k, 1.0F, host->a, lda, host->b, ldb, 0.0F, host->c, n);
    } else {
        cblas_dgemm(CblasRowMajor, transa, transb, m, n, k, 1.0, host->a, lda, host->b, ldb, 0.0, host->c, n);
    }
    return true;
}

static bool finish(void *state, bench_failure *failure) {
    (void)state;
    (void)failure;
    return true;
}

static bool keep_result(void *state, const bench_matrices *host, bench_failure *failure) {
    (void)host;
    return finish(state, failure);
}

static bool describe(void *state, const bench_stamps *stamps, json_t *result, bench_failure *failure) {
    (void)state;
    (void)stamps;
    (void)failure;
    return json_object_set_new(result, "device", bench_json_string(openblas_get_corename())) == 0;
}

static void close_library(void *state) {
    (void)state;
}

static const bench_subject subject = {
    .connect = connect_library,
    .allocate = allocate_nothing,
    .upload = take_matrices,
    .multiply = multiply,
    .enqueue = multiply,
    .finish = finish,
    .download = keep_result,
    .describe = describe,
    .close = close_library,
};

int main(int argc, char **argv) {
    uint64_t entry = bench_clock_ns();
    openblas self = {0};
    return bench_child_main(&subject, &self, argc, argv, entry);
}
