/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data that stays on the device: two queues, buffers, and events between them.
 *
 * D := (A * B) * (A * A). The two factors are computed on a queue each; the last product waits for both.
 *
 *     buffers [BACKEND]
 */
#include <stdio.h>
#include <stdlib.h>

#include <portmm/portmm.h>

#define N 256
#define BYTES (sizeof(float) * N * N)

static void check(portmm_status status) {
    if (status == PORTMM_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", portmm_status_text(status), portmm_last_error());
    exit(status == PORTMM_STATUS_UNAVAILABLE ? 77 : 1); /* 77: a test run counts it as skipped */
}

/* x * y into z, all of them N x N, without padding; starts after `count` events, and makes one. */
static portmm_event *multiply(portmm_queue *queue, const portmm_buffer *x, const portmm_buffer *y, portmm_buffer *z,
                              size_t count, portmm_event *const *events) {
    portmm_event *event;
    check(portmm_sgemm(queue, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, x, 0, N, y, 0, N, 0, z, 0,
                       N, count, events, &event));
    return event; /* the product may still be running */
}

/* A is twice the identity, so that the result is known: D = 8 * B. */
static void make_data(float *a, float *b) {
    for (int i = 0; i < N * N; i++) {
        a[i] = i % (N + 1) == 0 ? 2 : 0;
        b[i] = (float)(i % 7);
    }
}

static int report(const float *b, const float *d) {
    for (int i = 0; i < N * N; i++)
        if (d[i] != 8 * b[i]) {
            fprintf(stderr, "element %d is %g instead of %g\n", i, (double)d[i], (double)(8 * b[i]));
            return 1;
        }
    printf("D = (A * B) * (A * A): right\n");
    return 0;
}

int main(int argc, char **argv) {
    static float host_a[N * N], host_b[N * N], host_d[N * N];
    make_data(host_a, host_b);
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = argc > 1 ? argv[1] : NULL;
    portmm_context *context;
    check(portmm_context_create(&options, &context));

    /* Commands of one queue run in order; those of two queues may overlap. */
    portmm_queue *queues[2];
    portmm_buffer *a, *b, *ab, *aa, *d;
    portmm_buffer **buffers[] = {&a, &b, &ab, &aa, &d};
    for (int i = 0; i < 2; i++)
        check(portmm_queue_create(context, &queues[i]));
    for (int i = 0; i < 5; i++)
        check(portmm_buffer_create(context, BYTES, buffers[i]));

    /* A write returns when the data is copied. */
    check(portmm_buffer_write(queues[0], a, 0, BYTES, host_a));
    check(portmm_buffer_write(queues[0], b, 0, BYTES, host_b));

    portmm_event *factors[2];
    factors[0] = multiply(queues[0], a, b, ab, 0, NULL);
    factors[1] = multiply(queues[1], a, a, aa, 0, NULL);
    portmm_event *done = multiply(queues[0], ab, aa, d, 2, factors);

    /* A read comes after everything that its queue was given before, so that waiting for `done` is only needed by
     * those who use D elsewhere. */
    check(portmm_event_wait(done));
    check(portmm_buffer_read(queues[0], d, 0, BYTES, host_d));

    portmm_event_destroy(done);
    for (int i = 0; i < 5; i++)
        portmm_buffer_destroy(*buffers[i]);
    for (int i = 0; i < 2; i++) {
        portmm_event_destroy(factors[i]);
        portmm_queue_destroy(queues[i]);
    }
    portmm_context_destroy(context); /* last: it outlives all that is made from it */
    return report(host_b, host_d);
}
