/* SPDX-License-Identifier: Apache-2.0 */
/* Which engine serves, under every policy, with engines and devices that misbehave. */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"

enum { N = 20 };

static fault_control *fault;
static char root[64], cache[96], module_path[512];
static char log_text[8192];
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;

static void keep_log(portmm_log_level level, const char *message, void *user_data) {
    (void)user_data, (void)level;
    pthread_mutex_lock(&log_mutex);
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s\n", message);
    pthread_mutex_unlock(&log_mutex);
}

static bool has_logged(const char *text) {
    pthread_mutex_lock(&log_mutex);
    bool found = strstr(log_text, text) != NULL;
    pthread_mutex_unlock(&log_mutex);
    return found;
}

static void set_up(void) {
    strcpy(root, "/tmp/portmm-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(cache, sizeof cache, "%s/cache", root);
    snprintf(module_path, sizeof module_path, "%s:%s", TEST_MODULES, TEST_BUILT_MODULES);
    log_text[0] = '\0';
    memset(fault, 0, sizeof *fault);
}

static void tear_down(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static portmm_context *open_context(portmm_start start, portmm_warmup warmup) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "cuda";
    options.module_path = module_path;
    options.cache_dir = cache;
    options.start = start;
    options.warmup = warmup;
    options.log = keep_log;
    options.log_level = PORTMM_LOG_INFO;
    portmm_context *context;
    portmm_status status = portmm_context_create(&options, &context);
    ck_assert_msg(status == PORTMM_STATUS_SUCCESS, "%s", portmm_last_error());
    return context;
}

/* Whether the product is right. */
static bool multiply(portmm_context *context) {
    float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 7);
        b[i] = i % (N + 1) == 0;
        c[i] = -1;
    }
    portmm_status status =
        portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, N, b, N, 0, c, N);
    ck_assert_msg(status == PORTMM_STATUS_SUCCESS, "%s", portmm_last_error());
    return memcmp(a, c, sizeof a) == 0;
}

static const char *get_engine(portmm_context *context) {
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    ck_assert_int_eq(portmm_context_get_info(context, &info), PORTMM_STATUS_SUCCESS);
    return info.engine;
}

static void rest(int milliseconds) {
    nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L}, NULL);
}

static size_t count_switches(portmm_context *context) {
    size_t count = 0;
    ck_assert_int_eq(portmm_switches_read(context, 0, NULL, &count), PORTMM_STATUS_SUCCESS);
    return count;
}

/* Goes on with right products until `engine` serves; fails after ten seconds. */
static void await_engine(portmm_context *context, const char *engine) {
    for (int i = 0; i < 1000; i++) {
        ck_assert(multiply(context));
        if (strcmp(get_engine(context), engine) == 0)
            return;
        rest(10);
    }
    ck_abort_msg("%s never served", engine);
}

/* Goes on until the log has the text. */
static void await_log(portmm_context *context, const char *text) {
    for (int i = 0; i < 1000 && !has_logged(text); i++) {
        multiply(context);
        rest(10);
    }
    ck_assert_msg(has_logged(text), "\"%s\" was not logged", text);
}

START_TEST(test_tuned_takes_over) {
    fault->engines[FAULT_STARTER].gemm_ms = 8;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    ck_assert(multiply(context));
    ck_assert_str_eq(get_engine(context), "starter");
    await_engine(context, "tuned");
    portmm_switch change;
    size_t count = 0;
    ck_assert_int_eq(portmm_switches_read(context, 1, &change, &count), PORTMM_STATUS_SUCCESS);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(change.from, "starter");
    ck_assert_str_eq(change.to, "tuned");
    ck_assert_int_eq(change.m, N);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_the_choice_is_remembered) {
    fault->engines[FAULT_STARTER].gemm_ms = 8;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    await_engine(context, "tuned");
    portmm_context_destroy(context);
    context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_OFF); /* nobody measures now */
    ck_assert(multiply(context));
    await_engine(context, "tuned");
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_slower_tuned_never_serves) {
    fault->engines[FAULT_TUNED].gemm_ms = 8;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    ck_assert(multiply(context));
    await_log(context, "engine tuned: right");
    rest(50);
    ck_assert(multiply(context));
    ck_assert_str_eq(get_engine(context), "starter");
    ck_assert_uint_eq(count_switches(context), 0);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_tuned_that_does_not_open) {
    fault->engines[FAULT_TUNED].open_fails = true;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    ck_assert(multiply(context));
    await_log(context, "engine tuned: not usable");
    ck_assert(multiply(context));
    ck_assert_str_eq(get_engine(context), "starter");
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_wrong_tuned_is_set_aside) {
    fault->engines[FAULT_TUNED].wrong = true;
    fault->engines[FAULT_STARTER].gemm_ms = 8;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    ck_assert(multiply(context));
    await_log(context, "engine tuned gives wrong results");
    rest(50);
    ck_assert(multiply(context));
    ck_assert_str_eq(get_engine(context), "starter");
    portmm_context_destroy(context);
}
END_TEST

/* Its first products came before anybody knew; from the verdict on it does not serve, here or in the next process. */
START_TEST(test_wrong_starter_is_set_aside) {
    fault->engines[FAULT_STARTER].wrong = true;
    fault->engines[FAULT_TUNED].gemm_ms = 8;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    multiply(context);
    await_log(context, "engine starter gives wrong results");
    await_log(context, "tuned takes over");
    ck_assert(multiply(context));
    portmm_context_destroy(context);
    int before = fault->products[FAULT_STARTER];
    context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    ck_assert(multiply(context));
    ck_assert_int_eq(fault->products[FAULT_STARTER], before);
    portmm_context_destroy(context);
}
END_TEST

/* The first result does not wait for the known answer: every scratch product begins after it, and in another thread. */
START_TEST(test_the_check_is_behind_the_first_result) {
    fault->engines[FAULT_STARTER].gemm_ms = fault->engines[FAULT_TUNED].gemm_ms = 2;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    uint64_t begin = portmm_clock_ns();
    ck_assert(multiply(context));
    uint64_t end = portmm_clock_ns();
    await_log(context, "engine tuned: right");
    static portmm_span spans[4096];
    size_t count = 0;
    ck_assert_int_eq(portmm_timeline_read(context, 4096, spans, &count), PORTMM_STATUS_SUCCESS);
    int checks = 0;
    for (size_t i = 0; i < count && i < 4096; i++) {
        if (strcmp(spans[i].detail, "scratch product") != 0)
            continue;
        checks++;
        ck_assert_msg(spans[i].begin_ns >= end || spans[i].begin_ns < begin, "a check ran within the first call");
    }
    ck_assert_int_gt(checks, 0);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_refusing_starter_is_passed_over) {
    fault->engines[FAULT_STARTER].refuses = true;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_OFF);
    ck_assert(multiply(context));
    ck_assert_str_eq(get_engine(context), "tuned");
    ck_assert_str_eq(portmm_last_error(), "");
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_no_engine_works) {
    fault->engines[FAULT_STARTER].refuses = fault->engines[FAULT_TUNED].open_fails = true;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_OFF);
    float one = 1, result = 5;
    ck_assert_int_eq(portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, 1, 1, 1, 1, &one, 1,
                                       &one, 1, 0, &result, 1),
                     PORTMM_STATUS_UNAVAILABLE);
    ck_assert(result == 5);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_policy_tuned) {
    portmm_context *context = open_context(PORTMM_START_TUNED, PORTMM_WARMUP_THREAD);
    ck_assert(multiply(context));
    ck_assert_str_eq(get_engine(context), "tuned");
    ck_assert_int_eq(fault->products[FAULT_STARTER], 0);
    portmm_context_destroy(context);
}
END_TEST

/* No helper program lies beside this module: a thread must do, and it is said. */
START_TEST(test_no_helper_program) {
    fault->engines[FAULT_STARTER].gemm_ms = 8;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_HELPER);
    await_engine(context, "tuned");
    ck_assert(has_logged("no helper process"));
    portmm_context_destroy(context);
}
END_TEST

/* Of this process, by name. */
static int count_threads(const char *name) {
    char command[160], answer[16] = "";
    snprintf(command, sizeof command, "cat /proc/%ld/task/*/comm | grep -c '^%s$'", (long)getpid(), name);
    FILE *stream = popen(command, "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_ptr_nonnull(fgets(answer, sizeof answer, stream));
    pclose(stream);
    return atoi(answer);
}

START_TEST(test_one_thread_with_a_name) {
    fault->engines[FAULT_TUNED].open_ms = 300;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    ck_assert_int_eq(count_threads("portmm-warm-up"), 0);
    ck_assert(multiply(context));
    ck_assert(multiply(context));
    ck_assert_int_eq(count_threads("portmm-warm-up"), 1);
    portmm_context_destroy(context);
    ck_assert_int_eq(count_threads("portmm-warm-up"), 0);
    context = open_context(PORTMM_START_TUNED, PORTMM_WARMUP_THREAD);
    ck_assert(multiply(context));
    ck_assert_int_eq(count_threads("portmm-warm-up"), 0);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_destroyed_while_preparing) {
    fault->engines[FAULT_TUNED].open_ms = 200;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    ck_assert(multiply(context));
    rest(150);
    ck_assert(multiply(context)); /* is served meanwhile */
    portmm_context_destroy(context);
}
END_TEST

static void *multiply_often(void *context) {
    for (int i = 0; i < 50; i++)
        if (!multiply(context))
            return context;
    return NULL;
}

START_TEST(test_many_threads) {
    fault->engines[FAULT_STARTER].gemm_ms = 2;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, multiply_often, context), 0);
    for (int i = 0; i < 8; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
    portmm_context_destroy(context);
}
END_TEST

/* The child has no background thread to wait for. */
START_TEST(test_fork) {
    fault->engines[FAULT_STARTER].gemm_ms = 2;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_THREAD);
    await_engine(context, "tuned");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL); /* Check's would end the whole group */
        alarm(10);
        portmm_context_destroy(context);
        _exit(0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_prewarm_settles) {
    fault->engines[FAULT_STARTER].gemm_ms = 8;
    portmm_context *context = open_context(PORTMM_START_FAST, PORTMM_WARMUP_OFF);
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.m = problem.n = problem.k = N;
    ck_assert_int_eq(portmm_prewarm(context, &problem), PORTMM_STATUS_SUCCESS);
    ck_assert(multiply(context));
    ck_assert_str_eq(get_engine(context), "tuned");
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_hybrid) {
    fault->device_open_ms = 2000;
    portmm_context *context = open_context(PORTMM_START_HYBRID, PORTMM_WARMUP_OFF);
    ck_assert(multiply(context));
    ck_assert_msg(count_switches(context) == 0, "the first result waited for the device");
    ck_assert_int_eq(fault->products[FAULT_STARTER], 0);
    await_engine(context, "starter");
    portmm_switch change;
    size_t count = 0;
    ck_assert_int_eq(portmm_switches_read(context, 1, &change, &count), PORTMM_STATUS_SUCCESS);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(change.from, "cpu");
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_hybrid_whose_device_fails) {
    fault->device_fails = true;
    portmm_context *context = open_context(PORTMM_START_HYBRID, PORTMM_WARMUP_OFF);
    ck_assert(multiply(context));
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    ck_assert_int_eq(portmm_context_get_info(context, &info), PORTMM_STATUS_SUCCESS);
    ck_assert_str_eq(info.backend, "cpu");
    ck_assert_ptr_nonnull(strstr(info.reason, "the device does not open"));
    portmm_queue *queue;
    ck_assert_int_eq(portmm_queue_create(context, &queue), PORTMM_STATUS_SUCCESS);
    portmm_queue_destroy(queue);
    ck_assert(multiply(context));
    portmm_context_destroy(context);
}
END_TEST

START_TEST(test_hybrid_destroyed_while_opening) {
    fault->device_open_ms = 200;
    portmm_context_destroy(open_context(PORTMM_START_HYBRID, PORTMM_WARMUP_OFF));
    portmm_context *context = open_context(PORTMM_START_HYBRID, PORTMM_WARMUP_OFF);
    ck_assert(multiply(context));
    portmm_context_destroy(context);
}
END_TEST

int main(void) {
    void *module = dlopen(TEST_MODULE, RTLD_NOW | RTLD_LOCAL);
    fault = module != NULL ? dlsym(module, "fault") : NULL;
    if (fault == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    Suite *suite = suite_create("engines");
    TCase *tests = tcase_create("policies");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_tuned_takes_over);
    tcase_add_test(tests, test_the_choice_is_remembered);
    tcase_add_test(tests, test_slower_tuned_never_serves);
    tcase_add_test(tests, test_tuned_that_does_not_open);
    tcase_add_test(tests, test_wrong_tuned_is_set_aside);
    tcase_add_test(tests, test_wrong_starter_is_set_aside);
    tcase_add_test(tests, test_the_check_is_behind_the_first_result);
    tcase_add_test(tests, test_refusing_starter_is_passed_over);
    tcase_add_test(tests, test_no_engine_works);
    tcase_add_test(tests, test_policy_tuned);
    tcase_add_test(tests, test_no_helper_program);
    tcase_add_test(tests, test_one_thread_with_a_name);
    tcase_add_test(tests, test_destroyed_while_preparing);
    tcase_add_test(tests, test_many_threads);
    tcase_add_test(tests, test_fork);
    tcase_add_test(tests, test_prewarm_settles);
    tcase_add_test(tests, test_hybrid);
    tcase_add_test(tests, test_hybrid_whose_device_fails);
    tcase_add_test(tests, test_hybrid_destroyed_while_opening);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
