/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: what they tell, two at once, many threads on one, and that nothing stays behind when they go. */
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/product.h"
#include "support/suite.h"

/* ---- what a context tells ---- */

START_TEST(a_context_tells_what_it_is) {
    const test_target *target = test_get_target(_i);
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    char spec[64];
    TEST_OK(portmm_context_get_info(test_get_context(_i), &info));
    snprintf(spec, sizeof spec, "%s:%d", info.backend, (int)info.device_index);
    ck_assert_str_eq(spec, target->spec);
    ck_assert_str_eq(info.engine, target->engine);
    ck_assert_str_ne(info.device_name, "");
    ck_assert_str_ne(info.reason, "");
    ck_assert_ptr_nonnull(info.platform_name);
    ck_assert_ptr_nonnull(info.driver_version);
    if (strcmp(info.backend, "opencl") == 0) {
        ck_assert_str_ne(info.platform_name, "");
        ck_assert_str_ne(info.driver_version, "");
    }
    TEST_OK(portmm_cache_get_stats(test_get_context(_i), &stats));
    ck_assert_ptr_nonnull(portmm_cache_get_path(test_get_context(_i)));
    ck_assert_str_eq(portmm_cache_get_reason(test_get_context(_i)), "");
}
END_TEST

START_TEST(the_inventory_and_the_context_agree) {
    const test_target *target = test_get_target(_i);
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_inventory *inventory;
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    portmm_device_info device = PORTMM_DEVICE_INFO_INIT;
    options.backend = target->spec;
    TEST_OK(portmm_inventory_create(&options, &inventory));
    TEST_OK(portmm_context_get_info(test_get_context(_i), &info));
    TEST_OK(portmm_inventory_get_device(inventory, (size_t)info.device_index, &device));
    ck_assert_int_eq(device.index, info.device_index);
    ck_assert_str_eq(device.name, info.device_name);
    ck_assert_str_eq(device.driver_version, info.driver_version);
    ck_assert_ptr_nonnull(strstr(device.engines, info.engine));
    ck_assert_int_gt(device.compute_units, 0);
    ck_assert_uint_gt(device.memory_size, 0);
    portmm_inventory_destroy(inventory);
}
END_TEST

/* ---- the log ---- */

typedef struct log_count {
    int lines, above; /* `above`: lines of a level that was not asked for */
    portmm_log_level asked;
} log_count;

static void count_line(portmm_log_level level, const char *message, void *user_data) {
    log_count *count = user_data;
    count->lines += message[0] != '\0' && strchr(message, '\n') == NULL;
    count->above += level > count->asked;
}

START_TEST(the_log_level_is_respected) {
    for (int level = PORTMM_LOG_ERROR; level <= PORTMM_LOG_DEBUG; level++) {
        log_count count = {.asked = (portmm_log_level)level};
        portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
        portmm_context *context;
        options.backend = test_get_target(_i)->spec;
        options.log = count_line;
        options.log_user_data = &count;
        options.log_level = count.asked;
        TEST_OK(portmm_context_create(&options, &context));
        portmm_context_destroy(context);
        ck_assert_int_eq(count.above, 0);
        if (level == PORTMM_LOG_ERROR)
            ck_assert_int_eq(count.lines, 0);
        if (level >= PORTMM_LOG_INFO)
            ck_assert_int_gt(count.lines, 0);
    }
}
END_TEST

/* ---- several at once ---- */

static test_product make_product(const test_reference *reference, int turn) {
    return (test_product){.reference = reference,
                          .form = test_get_form(turn % TEST_FORMS),
                          .alpha = 0.75,
                          .beta = turn % 3 - 1,
                          .places = &test_tight,
                          .on_buffers = turn % 2 != 0};
}

static portmm_context *open_context(int target) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = test_get_target(target)->spec;
    options.engine = test_get_target(target)->engine;
    TEST_OK(portmm_context_create(&options, &context));
    return context;
}

START_TEST(contexts_of_one_device_live_side_by_side) {
    test_reference reference;
    test_reference_init(&reference, test_get_target(_i)->dtype, TEST_INTEGERS, 33, 21, 45);
    for (int last_goes_first = 0; last_goes_first < 2; last_goes_first++) {
        portmm_context *contexts[3] = {open_context(_i), open_context(_i), open_context(_i)};
        for (int turn = 0; turn < 9; turn++) {
            test_product product = make_product(&reference, turn);
            test_product_check(contexts[turn % 3], &product);
        }
        for (int i = 0; i < 3; i++) { /* those that stay still work */
            portmm_context_destroy(contexts[last_goes_first ? 2 - i : i]);
            for (int j = i + 1; j < 3; j++) {
                test_product product = make_product(&reference, 2 * i + j);
                test_product_check(contexts[last_goes_first ? 2 - j : j], &product);
            }
        }
    }
    test_reference_fini(&reference);
}
END_TEST

START_TEST(a_context_on_the_cpu_lives_beside) {
    test_reference reference;
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *cpu;
    options.backend = "cpu";
    TEST_OK(portmm_context_create(&options, &cpu));
    test_reference_init(&reference, test_get_target(_i)->dtype, TEST_INTEGERS, 33, 21, 45);
    for (int turn = 0; turn < 6; turn++) {
        test_product product = make_product(&reference, turn);
        test_product_check(turn % 2 ? cpu : test_get_context(_i), &product);
    }
    test_reference_fini(&reference);
    portmm_context_destroy(cpu);
}
END_TEST

/* ---- threads ---- */

#define THREADS 4
#define PRODUCTS 40

typedef struct worker {
    portmm_context *context;
    portmm_dtype dtype;
    int number;
    pthread_t thread;
    char why[TEST_WHY_SIZE]; /* "" if all was right */
} worker;

/* Shapes differ, so that kernels are made and scratch memory grows while others compute; every third product only
 * scales C. */
static void *multiply_many(void *argument) {
    worker *this = argument;
    for (int turn = 0; turn < PRODUCTS && this->why[0] == '\0'; turn++) {
        test_reference reference;
        int64_t m = 5 + 7 * turn % 90, n = 3 + 11 * (turn + this->number) % 80,
                k = turn % 3 == 2 ? 0 : 1 + 13 * turn % 70;
        test_reference_init(&reference, this->dtype, TEST_INTEGERS, m, n, k);
        test_product product = make_product(&reference, turn + 5 * this->number);
        if (!test_product_run(this->context, &product, this->why) && this->why[0] == '\0')
            snprintf(this->why, sizeof this->why, "a product is wrong");
        test_reference_fini(&reference);
    }
    return NULL;
}

/* A fresh context, so that also the first product, which opens the engine, comes from all threads at once. */
START_TEST(threads_share_a_context) {
    worker workers[THREADS];
    portmm_context *context = open_context(_i);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.context = context, .dtype = test_get_target(_i)->dtype, .number = i};
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, multiply_many, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        ck_assert_msg(workers[i].why[0] == '\0', "thread %d: %s", i, workers[i].why);
    portmm_context_destroy(context);
}
END_TEST

/* Many threads that only scale, each time a little more than any before: scratch memory of the context grows while
 * others use it. */
#define STEPS 200
#define STEP 16

static portmm_status scale_growing(worker *this, portmm_queue *queue, portmm_buffer *c) {
    test_call call = {.dtype = this->dtype, .form = test_get_form(1), .n = 1, .beta = -1, .ldb = 1};
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (int step = 0; step < STEPS && status == PORTMM_STATUS_SUCCESS; step++) {
        call.m = call.lda = call.ldc = STEP * step + this->number + 1;
        status = test_call_buffers(queue, &call, c, c, c, 0, NULL, NULL);
    }
    return status;
}

/* Element i was negated by every step that has more than i rows. */
static bool is_scaled_right(const worker *this, const test_stored *stored) {
    for (int64_t row = 0; row < stored->rows; row++) {
        int64_t reached = row <= this->number ? STEPS : STEPS - (row - this->number + STEP - 1) / STEP;
        if (test_stored_get(stored, row, 0) != (reached % 2 == 0 ? 7 : -7))
            return false;
    }
    return true;
}

static void *scale_many(void *argument) {
    worker *this = argument;
    portmm_queue *queue = NULL;
    portmm_buffer *c = NULL;
    test_stored stored;
    test_stored_init(&stored, this->dtype, PORTMM_COL_MAJOR, PORTMM_NO_TRANS, STEP * STEPS, 1, (test_place){0});
    test_stored_put_everywhere(&stored, 7);
    portmm_status status = portmm_queue_create(this->context, &queue);
    if (status == PORTMM_STATUS_SUCCESS)
        status = portmm_buffer_create(this->context, stored.size, &c);
    if (status == PORTMM_STATUS_SUCCESS)
        status = portmm_buffer_write(queue, c, 0, stored.size, stored.bytes);
    if (status == PORTMM_STATUS_SUCCESS)
        status = scale_growing(this, queue, c);
    if (status == PORTMM_STATUS_SUCCESS)
        status = portmm_buffer_read(queue, c, 0, stored.size, stored.bytes);
    if (status != PORTMM_STATUS_SUCCESS)
        snprintf(this->why, sizeof this->why, "%s", portmm_last_error());
    else if (!is_scaled_right(this, &stored))
        snprintf(this->why, sizeof this->why, "a scaling is wrong");
    portmm_buffer_destroy(c);
    portmm_queue_destroy(queue);
    test_stored_fini(&stored);
    return NULL;
}

START_TEST(threads_scale_more_and_more) {
    worker workers[THREADS];
    portmm_context *context = open_context(_i);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.context = context, .dtype = test_get_target(_i)->dtype, .number = i};
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, scale_many, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        ck_assert_msg(workers[i].why[0] == '\0', "thread %d: %s", i, workers[i].why);
    portmm_context_destroy(context);
}
END_TEST

/* Its own context in each thread: opened, used and closed while others do the same. */
static void *open_and_multiply(void *argument) {
    worker *this = argument;
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = test_get_target(this->number)->spec;
    test_reference reference;
    test_reference_init(&reference, this->dtype, TEST_INTEGERS, 21, 33, 17);
    for (int turn = 0; turn < 6 && this->why[0] == '\0'; turn++) {
        if (portmm_context_create(&options, &this->context) != PORTMM_STATUS_SUCCESS) {
            snprintf(this->why, sizeof this->why, "no context: %s", portmm_last_error());
            break;
        }
        test_product product = make_product(&reference, turn);
        if (!test_product_run(this->context, &product, this->why) && this->why[0] == '\0')
            snprintf(this->why, sizeof this->why, "a product is wrong");
        portmm_context_destroy(this->context);
    }
    test_reference_fini(&reference);
    return NULL;
}

START_TEST(threads_have_contexts_of_their_own) {
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.dtype = test_get_target(_i)->dtype, .number = _i};
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, open_and_multiply, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        ck_assert_msg(workers[i].why[0] == '\0', "thread %d: %s", i, workers[i].why);
}
END_TEST

/* ---- memory ---- */

/* After WARM contexts with one product each, COUNTED more may add so many bytes each, on average: less than any matrix,
 * queue or driver context. CLBlast's programs alone, if they stayed, would be 1.6 MB each time. The allocator takes and
 * gives back memory as it likes, so a growth counts only if it comes in every round. */
#define WARM 30
#define COUNTED 100
#define ROUNDS 3
#define BYTES_EACH 4096

static long read_resident_bytes(void) {
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%ld %ld", &all, &resident) != 2)
        resident = -1;
    fclose(file);
    return resident < 0 ? -1 : resident * sysconf(_SC_PAGESIZE);
}

static void open_multiply_close(int target, const test_reference *reference, int count) {
    for (int turn = 0; turn < count; turn++) {
        portmm_context *context = open_context(target);
        test_product product = make_product(reference, turn % 2); /* both forms, one kernel */
        product.form = test_get_form(0);
        test_product_check(context, &product);
        portmm_context_destroy(context);
    }
}

START_TEST(contexts_leave_no_memory_behind) {
    test_reference reference;
    const portmm_problem problem = {.struct_size = sizeof problem,
                                    .dtype = test_get_target(_i)->dtype,
                                    .layout = PORTMM_ROW_MAJOR,
                                    .transa = PORTMM_NO_TRANS,
                                    .transb = PORTMM_NO_TRANS,
                                    .m = 65,
                                    .n = 67,
                                    .k = 63,
                                    .batch_count = 1};
    portmm_context *context = open_context(_i);
    TEST_OK(portmm_prewarm(context, &problem)); /* so that the loop takes binaries from the cache */
    portmm_context_destroy(context);
    test_reference_init(&reference, problem.dtype, TEST_INTEGERS, problem.m, problem.n, problem.k);
    open_multiply_close(_i, &reference, WARM);
    long each = LONG_MAX;
    for (int round = 0; round < ROUNDS && each > BYTES_EACH; round++) {
        long before = read_resident_bytes();
        ck_assert_int_ge(before, 0);
        open_multiply_close(_i, &reference, COUNTED);
        each = (read_resident_bytes() - before) / COUNTED;
        printf("%s: %ld bytes for each context\n", test_get_target(_i)->spec, each);
    }
    test_reference_fini(&reference);
#ifndef TEST_SANITIZED /* there, freed memory is kept for a while */
    ck_assert_msg(each <= BYTES_EACH, "each context leaves %ld bytes", each);
#endif
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("contexts");
    TCase *cases = tcase_create("contexts");
    int targets = test_target_count();
    /* First, while no context of the program holds the driver's. */
    tcase_add_loop_test(cases, contexts_leave_no_memory_behind, 0, targets);
    tcase_add_loop_test(cases, a_context_tells_what_it_is, 0, targets);
    tcase_add_loop_test(cases, the_inventory_and_the_context_agree, 0, targets);
    tcase_add_loop_test(cases, the_log_level_is_respected, 0, targets);
    tcase_add_loop_test(cases, contexts_of_one_device_live_side_by_side, 0, targets);
    tcase_add_loop_test(cases, a_context_on_the_cpu_lives_beside, 0, targets);
    tcase_add_loop_test(cases, threads_share_a_context, 0, targets);
    tcase_add_loop_test(cases, threads_scale_more_and_more, 0, targets);
    tcase_add_loop_test(cases, threads_have_contexts_of_their_own, 0, targets);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
