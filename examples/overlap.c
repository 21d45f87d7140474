/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers beside products: while the device multiplies one block of A with B, the next block comes in, and the block
 * of C before goes out.
 *
 *     queue "in"        A0  A1  A2  A3 ...
 *     queue "products"      C0  C1  C2 ...       C_i := A_i * B
 *     queue "out"               C0  C1 ...
 *
 * There are two buffers for A and two for C, in turn; events say when one is full or free. Where the device tells when
 * its commands ran, the program prints that, and how long a transfer and a product ran at once. On a device that is the
 * CPU both want the same processor; a GPU has engines for copies besides.
 *
 *     overlap [BACKEND [SIZE]]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <portmm/portmm.h>

enum { BLOCKS = 6, SLOTS = 2 };

static void check(portmm_status status) {
    if (status == PORTMM_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", portmm_status_text(status), portmm_last_error());
    exit(status == PORTMM_STATUS_UNAVAILABLE ? 77 : 1); /* 77: a test run counts it as skipped */
}

typedef struct pipeline {
    portmm_context *context;
    portmm_queue *in, *products, *out;
    portmm_buffer *a[SLOTS], *b, *c[SLOTS];
    portmm_event *arrived[BLOCKS], *made[BLOCKS], *left[BLOCKS];
    int is_timed;
} pipeline;

/* One whose events have times, where the backend has such queues. */
static portmm_queue *create_queue(pipeline *this) {
    portmm_queue *queue;
    portmm_status status = portmm_queue_create_timed(this->context, &queue);
    this->is_timed = status == PORTMM_STATUS_SUCCESS;
    if (status == PORTMM_STATUS_UNSUPPORTED)
        status = portmm_queue_create(this->context, &queue);
    check(status);
    return queue;
}

static void open_pipeline(pipeline *this, const char *backend, size_t bytes) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = backend;
    check(portmm_context_create(&options, &this->context));
    this->in = create_queue(this);
    this->products = create_queue(this);
    this->out = create_queue(this);
    check(portmm_buffer_create(this->context, bytes, &this->b));
    for (int i = 0; i < SLOTS; i++) {
        check(portmm_buffer_create(this->context, bytes, &this->a[i]));
        check(portmm_buffer_create(this->context, bytes, &this->c[i]));
    }
}

static void close_pipeline(pipeline *this) {
    for (int i = 0; i < BLOCKS; i++) {
        portmm_event_destroy(this->arrived[i]);
        portmm_event_destroy(this->made[i]);
        portmm_event_destroy(this->left[i]);
    }
    for (int i = 0; i < SLOTS; i++) {
        portmm_buffer_destroy(this->a[i]);
        portmm_buffer_destroy(this->c[i]);
    }
    portmm_buffer_destroy(this->b);
    portmm_queue_destroy(this->in);
    portmm_queue_destroy(this->products);
    portmm_queue_destroy(this->out);
    portmm_context_destroy(this->context);
}

/* Nothing here waits, unless the backend does every command at once. `a` and `c` are the library's until the end. */
static void start_block(pipeline *this, int block, int64_t n, const float *a, float *c) {
    int slot = block % SLOTS;
    size_t bytes = (size_t)(n * n) * sizeof(float);
    int reused = block >= SLOTS; /* then the block before in this slot has to be done with it */
    portmm_event *before[2] = {NULL, NULL};
    if (reused)
        before[0] = this->made[block - SLOTS];
    check(
        portmm_buffer_write_start(this->in, this->a[slot], 0, bytes, a, (size_t)reused, before, &this->arrived[block]));
    before[0] = this->arrived[block];
    if (reused)
        before[1] = this->left[block - SLOTS];
    check(portmm_sgemm(this->products, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, n, n, n, 1, this->a[slot], 0,
                       n, this->b, 0, n, 0, this->c[slot], 0, n, 1 + (size_t)reused, before, &this->made[block]));
    check(portmm_buffer_read_start(this->out, this->c[slot], 0, bytes, c, 1, &this->made[block], &this->left[block]));
}

/* ---- times ---- */

typedef struct interval {
    uint64_t begin, end;
} interval;

static interval take_times(portmm_event *event) {
    interval taken;
    check(portmm_event_get_times(event, &taken.begin, &taken.end));
    return taken;
}

static uint64_t measure_overlap(interval x, interval y) {
    uint64_t begin = x.begin > y.begin ? x.begin : y.begin, end = x.end < y.end ? x.end : y.end;
    return end > begin ? end - begin : 0;
}

static void print_times(const pipeline *this) {
    interval in[BLOCKS], products[BLOCKS], out[BLOCKS];
    uint64_t both = 0;
    printf("block   A comes in        product           C goes out   (ms)\n");
    for (int i = 0; i < BLOCKS; i++) {
        in[i] = take_times(this->arrived[i]);
        products[i] = take_times(this->made[i]);
        out[i] = take_times(this->left[i]);
        const interval shown[3] = {in[i], products[i], out[i]};
        printf("%5d", i);
        for (int j = 0; j < 3; j++)
            printf("   %6.2f to %6.2f", (double)(int64_t)(shown[j].begin - in[0].begin) * 1e-6,
                   (double)(int64_t)(shown[j].end - in[0].begin) * 1e-6);
        printf("\n");
    }
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j < BLOCKS; j++)
            both += measure_overlap(products[i], in[j]) + measure_overlap(products[i], out[j]);
    printf("a product and a transfer ran at once for %.2f ms\n", (double)both * 1e-6);
}

/* ---- data ---- */

static float *allocate(int64_t count) {
    float *made = malloc((size_t)count * sizeof *made);
    if (made == NULL)
        exit(1);
    return made;
}

/* B is twice the identity. */
static void make_data(float *a, float *b, int64_t n) {
    for (int64_t i = 0; i < BLOCKS * n * n; i++)
        a[i] = (float)(i % 13);
    for (int64_t i = 0; i < n * n; i++)
        b[i] = i % (n + 1) == 0 ? 2 : 0;
}

static int is_right(const float *a, const float *c, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (c[i] != 2 * a[i]) {
            fprintf(stderr, "element %lld is %g instead of %g\n", (long long)i, (double)c[i], (double)(2 * a[i]));
            return 0;
        }
    return 1;
}

int main(int argc, char **argv) {
    int64_t n = argc > 2 ? strtoll(argv[2], NULL, 10) : 512;
    if (n < 1 || n > 8192) {
        fprintf(stderr, "usage: overlap [BACKEND [SIZE]], SIZE from 1 to 8192\n");
        return 2;
    }
    float *a = allocate(BLOCKS * n * n), *b = allocate(n * n), *c = allocate(BLOCKS * n * n);
    pipeline this;
    make_data(a, b, n);
    open_pipeline(&this, argc > 1 ? argv[1] : NULL, (size_t)(n * n) * sizeof(float));
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.m = problem.n = problem.k = n;
    check(portmm_prewarm(this.context, &problem)); /* so that the first product does not hold up the others */
    check(portmm_buffer_write(this.products, this.b, 0, (size_t)(n * n) * sizeof(float), b));
    for (int block = 0; block < BLOCKS; block++)
        start_block(&this, block, n, a + block * n * n, c + block * n * n);
    check(portmm_event_wait(this.left[BLOCKS - 1])); /* the last command of an in-order queue */
    int right = is_right(a, c, BLOCKS * n * n);
    if (this.is_timed)
        print_times(&this);
    else
        printf("this backend does not tell when its commands ran\n");
    close_pipeline(&this);
    free(a);
    free(b);
    free(c);
    printf("%d blocks: %s\n", (int)BLOCKS, right ? "right" : "WRONG");
    return right ? 0 : 1;
}
