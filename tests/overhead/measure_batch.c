/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much faster a strided batch of 1000 products 32x32x32 is than 1000 calls, on buffers, until all are complete.
 * Rounds of both ways alternate; the medians of a block of rounds are compared, and of several blocks the best counts:
 * a batch uses all cores, so whatever else runs hits it more. Both ways have to give the same results.
 *
 *     measure_batch SPEC ENGINE [FACTOR]     ends with 1 if the batch is not FACTOR times faster, with 77 without a
 * device
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/portmm.h>

enum { N = 32, COUNT = 1000, BLOCKS = 7, ROUNDS = 9, SIZE = N * N };

static portmm_context *context;
static portmm_queue *queue;
static portmm_buffer *a, *b, *c;
static float room[SIZE * COUNT], one_by_one[SIZE * COUNT];

static void check(portmm_status status, const char *what) {
    if (status == PORTMM_STATUS_SUCCESS)
        return;
    fprintf(stderr, "measure_batch: %s: %s\n", what, portmm_last_error());
    exit(status == PORTMM_STATUS_UNAVAILABLE ? 77 : 2);
}

static void call_each(void) {
    for (int64_t i = 0; i < COUNT; i++)
        check(portmm_sgemm(queue, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, i * SIZE, N, b,
                           i * SIZE, N, 0, c, i * SIZE, N, 0, NULL, NULL),
              "portmm_sgemm");
    check(portmm_queue_finish(queue), "portmm_queue_finish");
}

static void call_batch(void) {
    check(portmm_sgemm_strided_batched(queue, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, 0, N,
                                       SIZE, b, 0, N, SIZE, 0, c, 0, N, SIZE, COUNT, 0, NULL, NULL),
          "portmm_sgemm_strided_batched");
    check(portmm_queue_finish(queue), "portmm_queue_finish");
}

static double time_once(void (*call)(void)) {
    uint64_t begin = portmm_clock_ns();
    call();
    return (double)(portmm_clock_ns() - begin) / 1e6;
}

static int compare(const void *left, const void *right) {
    double first = *(const double *)left, second = *(const double *)right;
    return (first > second) - (first < second);
}

static void open_all(const char *spec, const char *engine) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = spec;
    options.engine = engine;
    check(portmm_context_create(&options, &context), "portmm_context_create");
    check(portmm_queue_create(context, &queue), "portmm_queue_create");
    for (int i = 0; i < SIZE * COUNT; i++)
        room[i] = (float)(i % 7 - 3);
    portmm_buffer **buffers[] = {&a, &b, &c};
    for (int i = 0; i < 3; i++) {
        check(portmm_buffer_create(context, sizeof room, buffers[i]), "portmm_buffer_create");
        check(portmm_buffer_write(queue, *buffers[i], 0, sizeof room, room), "portmm_buffer_write");
    }
}

static double measure_block(const char *spec, const char *engine) {
    double each[ROUNDS], batch[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        each[round] = time_once(call_each);
        batch[round] = time_once(call_batch);
    }
    qsort(each, ROUNDS, sizeof *each, compare);
    qsort(batch, ROUNDS, sizeof *batch, compare);
    printf("%s, engine %s: %d calls %.2f ms, one batch %.2f ms\n", spec, engine, COUNT, each[ROUNDS / 2],
           batch[ROUNDS / 2]);
    return each[ROUNDS / 2] / batch[ROUNDS / 2];
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: measure_batch SPEC ENGINE [FACTOR]\n");
        return 2;
    }
    open_all(argv[1], argv[2]);
    call_each();
    check(portmm_buffer_read(queue, c, 0, sizeof one_by_one, one_by_one), "portmm_buffer_read");
    check(portmm_buffer_write(queue, c, 0, sizeof room, room), "portmm_buffer_write");
    call_batch();
    check(portmm_buffer_read(queue, c, 0, sizeof room, room), "portmm_buffer_read");
    if (memcmp(room, one_by_one, sizeof room) != 0) {
        fprintf(stderr, "measure_batch: the batch gives other results\n");
        return 2;
    }
    double most = 0, least = 0;
    for (int block = 0; block < BLOCKS; block++) {
        double factor = measure_block(argv[1], argv[2]);
        most = factor > most ? factor : most;
        least = block == 0 || factor < least ? factor : least;
    }
    printf("the batch is %.1f times faster; %.1f in the block with most disturbance\n", most, least);
    portmm_buffer_destroy(a);
    portmm_buffer_destroy(b);
    portmm_buffer_destroy(c);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
    return argc > 3 && most < strtod(argv[3], NULL);
}
