/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What works in the child of a fork, as portmm.h states it: on the CPU backend everything; else what the parent made
 * can only be destroyed, every other call says why, and nothing hangs. A child of a process that has not used the
 * backend uses it as any process does.
 */
#define _POSIX_C_SOURCE 200809L /* fork, alarm */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/square.h"
#include "support/suite.h"

enum { CHILD_SECONDS = 100 }; /* a child that hangs is ended by its alarm */

static const char *spec; /* "opencl" */
static bool survives;    /* its backend */

typedef struct objects {
    portmm_context *context;
    portmm_queue *queue;
    portmm_buffer *a, *b, *c;
    portmm_event *event;
} objects;

static portmm_status open_context(const char *backend, portmm_start start, portmm_context **context) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = backend;
    options.start = start;
    return portmm_context_create(&options, context);
}

static portmm_status multiply(const objects *this, portmm_event **event) {
    return test_square_multiply(this->queue, this->a, this->b, 0, this->c, 0, NULL, event);
}

static objects make_objects(const char *backend, portmm_start start) {
    objects made;
    TEST_OK(open_context(backend, start, &made.context));
    TEST_OK(portmm_queue_create(made.context, &made.queue));
    TEST_OK(portmm_buffer_create(made.context, TEST_SQUARE_BYTES, &made.a));
    TEST_OK(portmm_buffer_create(made.context, TEST_SQUARE_BYTES, &made.b));
    TEST_OK(portmm_buffer_create(made.context, TEST_SQUARE_BYTES, &made.c));
    TEST_OK(portmm_buffer_write(made.queue, made.a, 0, TEST_SQUARE_BYTES, test_square_a));
    TEST_OK(portmm_buffer_write(made.queue, made.b, 0, TEST_SQUARE_BYTES, test_square_b));
    TEST_OK(multiply(&made, &made.event));
    return made;
}

static void destroy_objects(const objects *this) {
    portmm_event_destroy(this->event);
    portmm_buffer_destroy(this->a);
    portmm_buffer_destroy(this->b);
    portmm_buffer_destroy(this->c);
    portmm_queue_destroy(this->queue);
    portmm_context_destroy(this->context);
}

static void expect_right(const objects *this) {
    float got[TEST_SQUARE_ELEMENTS] = {0};
    TEST_OK(multiply(this, NULL));
    TEST_OK(portmm_buffer_read(this->queue, this->c, 0, TEST_SQUARE_BYTES, got));
    ck_assert_mem_eq(got, test_square_product, TEST_SQUARE_BYTES);
}

static portmm_status multiply_on_host(portmm_context *context, float *c) {
    enum { N = TEST_SQUARE };
    return portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, test_square_a, N,
                             test_square_b, N, 0, c, N);
}

/* Exit code of a child that does `what`: it leaves by a failed assertion (Check prints it), its alarm, or with 0. */
static void expect_child(void (*what)(const objects *inherited), const objects *inherited) {
    fflush(stdout);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(CHILD_SECONDS);
        what(inherited);
        _exit(0);
    }
    int how = -1;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert_msg(!WIFSIGNALED(how), "the child ends by signal %d", WTERMSIG(how));
    ck_assert_msg(WEXITSTATUS(how) == 0, "the child ends with %d", WEXITSTATUS(how));
}

/* Check ends the process at a failed assertion only where it has forked itself. */
#define IN_CHILD(condition, text)                                                                                      \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: in the child: %s: %s\n", __FILE__, __LINE__, #condition, text);                    \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)
#define IN_CHILD_OK(call) IN_CHILD((call) == PORTMM_STATUS_SUCCESS, portmm_last_error())
#define IN_CHILD_REFUSED(call)                                                                                         \
    IN_CHILD((call) == PORTMM_STATUS_UNAVAILABLE && strstr(portmm_last_error(), "fork") != NULL, portmm_last_error())

/* ---- in children ---- */

static void use_all(const objects *this) {
    float got[TEST_SQUARE_ELEMENTS] = {0};
    portmm_event *event;
    IN_CHILD_OK(portmm_event_wait(this->event));
    IN_CHILD_OK(multiply(this, &event));
    IN_CHILD_OK(portmm_event_wait(event));
    IN_CHILD_OK(portmm_buffer_read(this->queue, this->c, 0, TEST_SQUARE_BYTES, got));
    IN_CHILD(memcmp(got, test_square_product, TEST_SQUARE_BYTES) == 0, "the product is wrong");
    memset(got, 0, sizeof got);
    IN_CHILD_OK(multiply_on_host(this->context, got));
    IN_CHILD(memcmp(got, test_square_product, TEST_SQUARE_BYTES) == 0, "the product is wrong");
    portmm_event_destroy(event);
    destroy_objects(this);
}

static void be_refused(const objects *this) {
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    portmm_queue *queue;
    portmm_buffer *buffer;
    portmm_event *event;
    void *pointer;
    uint64_t times[2];
    float got[TEST_SQUARE_ELEMENTS] = {0};
    problem.m = problem.n = problem.k = TEST_SQUARE;
    IN_CHILD_REFUSED(portmm_context_get_info(this->context, &info));
    IN_CHILD_REFUSED(multiply_on_host(this->context, got));
    IN_CHILD_REFUSED(multiply(this, &event));
    IN_CHILD(event == NULL, "an output is left");
    IN_CHILD_REFUSED(portmm_prewarm(this->context, &problem));
    IN_CHILD_REFUSED(portmm_queue_create(this->context, &queue));
    IN_CHILD_REFUSED(portmm_queue_create_timed(this->context, &queue));
    IN_CHILD_REFUSED(portmm_queue_borrow(this->context, got, &queue));
    IN_CHILD_REFUSED(portmm_queue_finish(this->queue));
    IN_CHILD_REFUSED(portmm_queue_barrier(this->queue, 0, NULL, &event));
    IN_CHILD_REFUSED(portmm_buffer_create(this->context, 64, &buffer));
    IN_CHILD_REFUSED(portmm_buffer_share(this->context, got, sizeof got, &buffer));
    IN_CHILD_REFUSED(portmm_buffer_borrow(this->context, got, &buffer));
    IN_CHILD_REFUSED(portmm_buffer_write(this->queue, this->a, 0, 4, got));
    IN_CHILD_REFUSED(portmm_buffer_read(this->queue, this->a, 0, 4, got));
    IN_CHILD_REFUSED(portmm_buffer_write_start(this->queue, this->a, 0, 4, got, 0, NULL, &event));
    IN_CHILD_REFUSED(portmm_buffer_read_start(this->queue, this->a, 0, 4, got, 0, NULL, &event));
    IN_CHILD(portmm_buffer_map(this->queue, this->a, &pointer) != PORTMM_STATUS_SUCCESS, "a buffer is mapped");
    IN_CHILD_REFUSED(portmm_event_wait(this->event));
    IN_CHILD_REFUSED(portmm_event_get_times(this->event, &times[0], &times[1]));
    IN_CHILD_REFUSED(portmm_event_get_native(this->event, &pointer));
    for (int i = 0; i < TEST_SQUARE_ELEMENTS; i++)
        IN_CHILD(got[i] == 0, "a refused call has written");
    destroy_objects(this);
}

static void open_anew(const objects *inherited) {
    portmm_context *context;
    portmm_inventory *inventory;
    float got[TEST_SQUARE_ELEMENTS] = {0};
    (void)inherited;
    if (survives)
        IN_CHILD_OK(open_context(spec, PORTMM_START_DEFAULT, &context));
    else
        IN_CHILD_REFUSED(open_context(spec, PORTMM_START_DEFAULT, &context));
    portmm_context_destroy(context);
    IN_CHILD_OK(portmm_inventory_create(NULL, &inventory)); /* says why a backend is missing */
    portmm_inventory_destroy(inventory);
    if (open_context("cpu", PORTMM_START_DEFAULT, &context) != PORTMM_STATUS_SUCCESS)
        return;
    IN_CHILD_OK(multiply_on_host(context, got));
    IN_CHILD(memcmp(got, test_square_product, TEST_SQUARE_BYTES) == 0, "the product is wrong");
    portmm_context_destroy(context);
}

static void use_first(const objects *none) {
    portmm_context *context;
    float got[TEST_SQUARE_ELEMENTS] = {0};
    (void)none;
    portmm_status status = open_context(spec, PORTMM_START_DEFAULT, &context);
    if (status == PORTMM_STATUS_UNAVAILABLE) { /* the parent will find none either, and skip */
        IN_CHILD(strstr(portmm_last_error(), "fork") == NULL, portmm_last_error());
        return;
    }
    IN_CHILD_OK(status);
    IN_CHILD_OK(multiply_on_host(context, got));
    IN_CHILD(memcmp(got, test_square_product, TEST_SQUARE_BYTES) == 0, "the product is wrong");
    portmm_context_destroy(context);
}

/* ---- in the parent ---- */

/* Before a device was opened in this process. Children one after the other, and the parent is no worse for them. */
START_TEST(a_child_uses_what_its_parent_has_not) {
    for (int i = 0; i < 2; i++)
        expect_child(use_first, NULL);
}
END_TEST

START_TEST(what_is_inherited) {
    static const portmm_start starts[] = {PORTMM_START_DEFAULT, PORTMM_START_TUNED, PORTMM_START_HYBRID};
    objects made = make_objects(spec, starts[_i]);
    expect_child(survives ? use_all : be_refused, &made);
    expect_child(open_anew, &made);
    expect_right(&made); /* what the children did is nothing here */
    destroy_objects(&made);
}
END_TEST

static void leave_unopened(const objects *this) {
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    float got[TEST_SQUARE_ELEMENTS] = {0};
    if (!survives) {
        IN_CHILD_REFUSED(portmm_context_get_info(this->context, &info));
        IN_CHILD_REFUSED(multiply_on_host(this->context, got));
    }
    portmm_context_destroy(this->context);
}

/* A context whose device a thread is opening while the process forks: the child does not wait for that thread. */
START_TEST(a_fork_while_a_device_opens) {
    for (int turn = 0; turn < 8; turn++) {
        objects made = {NULL, NULL, NULL, NULL, NULL, NULL};
        TEST_OK(open_context(spec, PORTMM_START_HYBRID, &made.context));
        nanosleep(&(struct timespec){.tv_nsec = 7000000L * turn}, NULL);
        expect_child(leave_unopened, &made);
        portmm_context_destroy(made.context);
    }
}
END_TEST

int main(int argc, char **argv) {
    spec = argc > 1 ? argv[1] : "cpu";
    survives = strcmp(spec, "cpu") == 0;
    test_square_fill();
    Suite *before = suite_create("fork");
    TCase *first = tcase_create("first");
    tcase_add_test(first, a_child_uses_what_its_parent_has_not);
    suite_add_tcase(before, first);
    int code = test_main(before);
    portmm_context *context;
    if (open_context(spec, PORTMM_START_DEFAULT, &context) != PORTMM_STATUS_SUCCESS) {
        printf("skipped: %s\n", portmm_last_error());
        return test_skip(spec);
    }
    portmm_context_destroy(context);
    Suite *suite = suite_create("fork");
    TCase *cases = tcase_create("fork");
    tcase_add_loop_test(cases, what_is_inherited, 0, 3);
    tcase_add_test(cases, a_fork_while_a_device_opens);
    suite_add_tcase(suite, cases);
    int more = test_main(suite);
    return code != 0 ? code : more;
}
