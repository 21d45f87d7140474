/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a product through the public interface costs on the CPU backend over cblas_sgemm of the same OpenBLAS, called
 * directly, at 8x8x8, where the product itself takes next to nothing. Rounds of all ways alternate, so that what else
 * the machine does hits all; the medians of a block of rounds are compared. Of several blocks the one with the least
 * difference counts: what else runs can only add to it.
 *
 *     measure_overhead [LIMIT_NS]     ends with 1 if one of the ways costs more than that
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/portmm.h>

enum { N = 8, BLOCKS = 9, ROUNDS = 31, CALLS = 1000 };

typedef void cblas_fn(int layout, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);

static cblas_fn *direct;
static portmm_context *context;
static portmm_queue *queue;
static portmm_buffer *buffers[3];
static float a[N * N], b[N * N], c[N * N];

static void call_direct(void) {
    direct(PORTMM_COL_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, N, b, N, 0, c, N);
}

static void stop(const char *what) {
    fprintf(stderr, "measure_overhead: %s: %s\n", what, portmm_last_error());
    exit(2);
}

static void call_host(void) {
    if (portmm_sgemm_host(context, PORTMM_COL_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, N, b, N, 0, c,
                          N) != PORTMM_STATUS_SUCCESS)
        stop("portmm_sgemm_host");
}

static void call_buffers(void) {
    if (portmm_sgemm(queue, PORTMM_COL_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, buffers[0], 0, N,
                     buffers[1], 0, N, 0, buffers[2], 0, N, 0, NULL, NULL) != PORTMM_STATUS_SUCCESS)
        stop("portmm_sgemm");
}

static const struct {
    const char *name;
    void (*call)(void);
} ways[] = {{"cblas_sgemm", call_direct}, {"portmm_sgemm_host", call_host}, {"portmm_sgemm", call_buffers}};
enum { WAYS = sizeof ways / sizeof *ways };

static void open_all(void) {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, "cblas_sgemm") : NULL;
    memcpy(&direct, &symbol, sizeof direct);
    if (direct == NULL) {
        fprintf(stderr, "measure_overhead: no OpenBLAS here\n");
        exit(77);
    }
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "cpu";
    if (portmm_context_create(&options, &context) != PORTMM_STATUS_SUCCESS ||
        portmm_queue_create(context, &queue) != PORTMM_STATUS_SUCCESS)
        stop("context");
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 5);
        b[i] = (float)(i % 3);
    }
    for (int i = 0; i < 3; i++)
        if (portmm_buffer_create(context, sizeof a, &buffers[i]) != PORTMM_STATUS_SUCCESS ||
            portmm_buffer_write(queue, buffers[i], 0, sizeof a, i == 0 ? a : b) != PORTMM_STATUS_SUCCESS)
            stop("buffer");
}

static int compare(const void *left, const void *right) {
    double first = *(const double *)left, second = *(const double *)right;
    return (first > second) - (first < second);
}

/* A call that was refused would be fast. */
static void check_result(const char *way) {
    for (int column = 0; column < N; column++)
        for (int row = 0; row < N; row++) {
            float sum = 0;
            for (int p = 0; p < N; p++)
                sum += a[p * N + row] * b[column * N + p];
            if (c[column * N + row] != sum) {
                fprintf(stderr, "measure_overhead: %s: wrong product\n", way);
                exit(2);
            }
        }
    memset(c, 0, sizeof c);
}

static void measure_block(double medians[WAYS]) {
    static double times[WAYS][ROUNDS];
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++) {
            uint64_t begin = portmm_clock_ns();
            for (int i = 0; i < CALLS; i++)
                ways[way].call();
            times[way][round] = (double)(portmm_clock_ns() - begin) / CALLS;
        }
    for (int way = 0; way < WAYS; way++) {
        qsort(times[way], ROUNDS, sizeof **times, compare);
        medians[way] = times[way][ROUNDS / 2];
    }
}

int main(int argc, char **argv) {
    static double medians[BLOCKS][WAYS];
    double limit = argc > 1 ? strtod(argv[1], NULL) : 0;
    int failed = 0;
    open_all();
    for (int way = 0; way < WAYS; way++) {
        ways[way].call();
        if (ways[way].call == call_buffers &&
            portmm_buffer_read(queue, buffers[2], 0, sizeof c, c) != PORTMM_STATUS_SUCCESS)
            stop("portmm_buffer_read");
        check_result(ways[way].name);
    }
    for (int block = 0; block < BLOCKS; block++)
        measure_block(medians[block]);
    for (int way = 0; way < WAYS; way++) {
        double least = medians[0][way] - medians[0][0], most = least;
        for (int block = 1; block < BLOCKS; block++) {
            double over = medians[block][way] - medians[block][0];
            least = over < least ? over : least;
            most = over > most ? over : most;
        }
        printf("%-18s %6.0f ns more than cblas_sgemm; up to %.0f in other blocks\n", ways[way].name, least, most);
        failed |= limit > 0 && least > limit;
    }
    if (failed)
        printf("more than the limit of %.0f ns\n", limit);
    for (int i = 0; i < 3; i++)
        portmm_buffer_destroy(buffers[i]);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
    return failed;
}
