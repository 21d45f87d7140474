/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads at once on what portmm.h says they may share: contexts, buffers and events; queues of their own; objects
 * that pass from thread to thread; batches, transfers, inventories and errors meanwhile. ThreadSanitizer watches it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/square.h"
#include "support/suite.h"

enum { THREADS = 8, WHY_SIZE = 256 };
#ifdef TEST_SANITIZED
enum { TURNS = 6 };
#else
enum { TURNS = 25 };
#endif

typedef struct worker worker;

/* Objects on their way to another thread. */
typedef struct parcel {
    portmm_buffer *c;
    portmm_event *done; /* of the product in C */
} parcel;

typedef struct mailbox {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_full;
    parcel content;
} mailbox;

typedef struct stage {
    const char *spec, *engine;
    portmm_context *context;
    portmm_buffer *a, *b;   /* everybody's */
    portmm_event *uploaded; /* everybody waits for it */
    mailbox boxes[THREADS];
    atomic_bool broken;
} stage;

struct worker {
    pthread_t thread;
    stage *stage;
    int number;
    portmm_queue *queue;
    char why[WHY_SIZE]; /* "" if all was right */
};

/* In a thread no assertion: false, and why. */
static bool good(worker *this, portmm_status status, const char *what) {
    if (status == PORTMM_STATUS_SUCCESS)
        return true;
    if (this->why[0] == '\0')
        snprintf(this->why, sizeof this->why, "thread %d: %s: %s", this->number, what, portmm_last_error());
    atomic_store(&this->stage->broken, true);
    return false;
}

static bool expect(worker *this, bool condition, const char *what) {
    if (!condition && this->why[0] == '\0')
        snprintf(this->why, sizeof this->why, "thread %d: %.200s", this->number, what);
    if (!condition)
        atomic_store(&this->stage->broken, true);
    return condition;
}

/* ---- passing on ---- */

static void send(mailbox *box, parcel content) {
    pthread_mutex_lock(&box->mutex);
    while (box->is_full)
        pthread_cond_wait(&box->changed, &box->mutex);
    box->content = content;
    box->is_full = true;
    pthread_cond_broadcast(&box->changed);
    pthread_mutex_unlock(&box->mutex);
}

static parcel receive(mailbox *box) {
    pthread_mutex_lock(&box->mutex);
    while (!box->is_full)
        pthread_cond_wait(&box->changed, &box->mutex);
    parcel content = box->content;
    box->is_full = false;
    pthread_cond_broadcast(&box->changed);
    pthread_mutex_unlock(&box->mutex);
    return content;
}

/* ---- what a thread does ---- */

/* A product of everybody's A and B, after everybody's event, into memory of its own. */
static parcel make_parcel(worker *this) {
    parcel made = {NULL, NULL};
    stage *on = this->stage;
    if (good(this, portmm_buffer_create(on->context, TEST_SQUARE_BYTES, &made.c), "a buffer"))
        good(this, test_square_multiply(this->queue, on->a, on->b, 0, made.c, 1, &on->uploaded, &made.done),
             "a product");
    return made;
}

/* Another thread's: read after its event, without a wait; then destroyed here. */
static void open_parcel(worker *this, parcel got) {
    float values[TEST_SQUARE_ELEMENTS];
    portmm_event *read = NULL;
    if (got.done != NULL &&
        good(this, portmm_buffer_read_start(this->queue, got.c, 0, TEST_SQUARE_BYTES, values, 1, &got.done, &read),
             "a download")) {
        good(this, portmm_event_wait(read), "a wait");
        expect(this, memcmp(values, test_square_product, TEST_SQUARE_BYTES) == 0, "another thread's product is wrong");
    }
    portmm_event_destroy(read);
    portmm_event_destroy(got.done);
    portmm_buffer_destroy(got.c);
}

/* Each product of a batch is A times B: strides of A and B are 0. */
static void multiply_batch(worker *this, int count) {
    enum { N = TEST_SQUARE };
    float *values = malloc((size_t)count * TEST_SQUARE_BYTES);
    portmm_buffer *c = NULL;
    portmm_event *done = NULL;
    stage *on = this->stage;
    if (good(this, portmm_buffer_create(on->context, (size_t)count * TEST_SQUARE_BYTES, &c), "a buffer") &&
        good(this,
             portmm_sgemm_strided_batched(this->queue, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1,
                                          on->a, 0, N, 0, on->b, 0, N, 0, 0, c, 0, N, TEST_SQUARE_ELEMENTS, count, 1,
                                          &on->uploaded, &done),
             "a batch") &&
        good(this, portmm_buffer_read(this->queue, c, 0, (size_t)count * TEST_SQUARE_BYTES, values), "a download"))
        for (int i = 0; i < count; i++)
            expect(this, memcmp(values + i * TEST_SQUARE_ELEMENTS, test_square_product, TEST_SQUARE_BYTES) == 0,
                   "a product of a batch is wrong");
    portmm_event_destroy(done);
    portmm_buffer_destroy(c);
    free(values);
}

static void multiply_on_host(worker *this) {
    enum { N = TEST_SQUARE };
    float c[TEST_SQUARE_ELEMENTS];
    if (good(this,
             portmm_sgemm_host(this->stage->context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1,
                               test_square_a, N, test_square_b, N, 0, c, N),
             "a product on host pointers"))
        expect(this, memcmp(c, test_square_product, TEST_SQUARE_BYTES) == 0, "a product on host pointers is wrong");
}

/* All that only looks. */
static void ask(worker *this) {
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    uint64_t totals[PORTMM_PHASE_COUNT];
    portmm_span spans[4];
    portmm_switch switches[2];
    size_t count;
    portmm_context *context = this->stage->context;
    good(this, portmm_context_get_info(context, &info), "info");
    good(this, portmm_cache_get_stats(context, &stats), "statistics");
    good(this, portmm_timeline_totals(context, totals), "totals");
    good(this, portmm_timeline_read(context, 4, spans, &count), "the timeline");
    good(this, portmm_switches_read(context, 2, switches, &count), "switches");
}

/* The text is this thread's, whatever the others do meanwhile. */
static void ask_wrongly(worker *this) {
    char number[32];
    snprintf(number, sizeof number, "offset = %d,", 1000000 + this->number);
    portmm_status status = portmm_buffer_read(this->queue, this->stage->a, (size_t)(1000000 + this->number), 1, number);
    expect(this, status == PORTMM_STATUS_INVALID_ARGUMENT && strstr(portmm_last_error(), number) != NULL,
           "the last error is another's");
}

static void open_and_close(worker *this) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_inventory *inventory = NULL;
    portmm_context *context = NULL;
    options.backend = this->stage->spec;
    options.engine = this->stage->engine;
    if (this->number % 2 == 0) {
        good(this, portmm_inventory_create(&options, &inventory), "an inventory");
        portmm_inventory_destroy(inventory);
        return;
    }
    if (!good(this, portmm_context_create(&options, &context), "a context"))
        return;
    worker other = {.stage = &(stage){.context = context}, .number = this->number};
    multiply_on_host(&other);
    expect(this, other.why[0] == '\0', other.why);
    portmm_context_destroy(context);
}

static void *work(void *user) {
    worker *this = user;
    stage *on = this->stage;
    good(this, portmm_queue_create(on->context, &this->queue), "a queue");
    for (int turn = 0; turn < TURNS; turn++) {
        /* Every thread sends and receives in every turn, also a broken one: nobody waits for ever. */
        parcel made = {NULL, NULL};
        if (!atomic_load(&on->broken))
            made = make_parcel(this);
        send(&on->boxes[(this->number + 1) % THREADS], made);
        open_parcel(this, receive(&on->boxes[this->number]));
        if (atomic_load(&on->broken))
            continue;
        switch ((turn + this->number) % 5) {
        case 0:
            multiply_batch(this, 1 + turn % 4);
            break;
        case 1:
            multiply_on_host(this);
            break;
        case 2:
            ask(this);
            break;
        case 3:
            open_and_close(this);
            break;
        default:
            good(this, portmm_event_wait(on->uploaded), "everybody's event");
            ask_wrongly(this);
        }
    }
    portmm_queue_destroy(this->queue);
    return NULL;
}

static void run_threads(stage *on, worker workers[THREADS]) {
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_init(&on->boxes[i].mutex, NULL);
        pthread_cond_init(&on->boxes[i].changed, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.stage = on, .number = i};
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_destroy(&on->boxes[i].mutex);
        pthread_cond_destroy(&on->boxes[i].changed);
    }
}

/* A fresh context: the first product, too, comes from all threads at once. */
static void stress(const test_target *target, const char *engine, portmm_start start) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    stage on = {.spec = target->spec, .engine = engine};
    worker workers[THREADS];
    portmm_queue *queue;
    options.backend = target->spec;
    options.engine = engine;
    options.start = start;
    TEST_OK(portmm_context_create(&options, &on.context));
    TEST_OK(portmm_queue_create(on.context, &queue));
    TEST_OK(portmm_buffer_create(on.context, TEST_SQUARE_BYTES, &on.a));
    TEST_OK(portmm_buffer_create(on.context, TEST_SQUARE_BYTES, &on.b));
    TEST_OK(portmm_buffer_write(queue, on.a, 0, TEST_SQUARE_BYTES, test_square_a));
    TEST_OK(portmm_buffer_write_start(queue, on.b, 0, TEST_SQUARE_BYTES, test_square_b, 0, NULL, &on.uploaded));
    run_threads(&on, workers);
    portmm_event_destroy(on.uploaded);
    portmm_buffer_destroy(on.a);
    portmm_buffer_destroy(on.b);
    portmm_queue_destroy(queue);
    portmm_context_destroy(on.context);
    for (int i = 0; i < THREADS; i++)
        ck_assert_msg(workers[i].why[0] == '\0', "%s", workers[i].why);
}

START_TEST(threads_share_what_they_may) {
    if (test_get_target(_i)->dtype == PORTMM_F32)
        stress(test_get_target(_i), test_get_target(_i)->engine, PORTMM_START_DEFAULT);
}
END_TEST

START_TEST(threads_share_what_they_may_while_engines_change) {
    stress(test_get_target(0), NULL, _i == 0 ? PORTMM_START_FAST : PORTMM_START_HYBRID);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("threads");
    TCase *cases = tcase_create("threads");
    test_square_fill();
    tcase_add_loop_test(cases, threads_share_what_they_may, 0, test_target_count());
    tcase_add_loop_test(cases, threads_share_what_they_may_while_engines_change, 0, 2);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
