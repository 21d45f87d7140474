/* SPDX-License-Identifier: Apache-2.0 */
/* Filling the cache behind the caller's back, in each way that there is, on the real OpenCL driver. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <portmm/portmm.h>

enum { N = 40, SECONDS = 150 };

static char root[64], cache_directory[128];
static char warning[512];
static volatile sig_atomic_t child_signals;

static void count_signal(int number) {
    (void)number;
    child_signals++;
}

static void keep_warning(portmm_log_level level, const char *message, void *user_data) {
    (void)user_data;
    if (level <= PORTMM_LOG_WARNING)
        snprintf(warning, sizeof warning, "%s", message);
}

static portmm_context *open_with(portmm_warmup warmup, portmm_start start) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "opencl";
    options.cache_dir = cache_directory;
    options.warmup = warmup;
    options.start = start;
    options.log = keep_warning;
    options.log_level = PORTMM_LOG_WARNING;
    portmm_context *context;
    portmm_status status = portmm_context_create(&options, &context);
    ck_assert_msg(status == PORTMM_STATUS_SUCCESS, "%s", portmm_last_error());
    return context;
}

/* One engine, one program: what is stored can be counted. */
static portmm_context *open_context(portmm_warmup warmup) {
    return open_with(warmup, PORTMM_START_TUNED);
}

static void multiply(portmm_context *context) {
    float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 5);
        b[i] = i % (N + 1) == 0; /* identity */
        c[i] = -1;
    }
    portmm_status status =
        portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, N, b, N, 0, c, N);
    ck_assert_msg(status == PORTMM_STATUS_SUCCESS, "%s", portmm_last_error());
    ck_assert_mem_eq(a, c, sizeof a);
}

static portmm_cache_stats get_stats(portmm_context *context) {
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    ck_assert_int_eq(portmm_cache_get_stats(context, &stats), PORTMM_STATUS_SUCCESS);
    return stats;
}

static size_t count_directory(const char *path) {
    size_t count = 0;
    DIR *listing = opendir(path);
    for (const struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;)
        count += entry->d_name[0] != '.';
    if (listing != NULL)
        closedir(listing);
    return count;
}

static size_t count_entries(void) {
    char path[160];
    snprintf(path, sizeof path, "%s/entries", cache_directory);
    return count_directory(path);
}

static void wait_for_entries(size_t count) {
    for (int tenth = 0; tenth < SECONDS * 10 && count_entries() < count; tenth++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    ck_assert_uint_eq(count_entries(), count);
}

static void set_up(void) {
    strcpy(root, "/tmp/portmm-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(cache_directory, sizeof cache_directory, "%s/cache", root);
    warning[0] = '\0';
    child_signals = 0;
}

static void tear_down(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s' 2>/dev/null", root);
    bool removed = false;
    for (int tenth = 0; tenth < SECONDS * 10 && !removed; tenth++) { /* a helper may be about to end, and still count */
        removed = system(command) == 0;
        if (!removed)
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    ck_assert(removed);
}

static void expect_hit(void) {
    portmm_context *context = open_context(PORTMM_WARMUP_HELPER);
    multiply(context);
    portmm_cache_stats stats = get_stats(context);
    ck_assert_uint_eq(stats.hits, 1);
    ck_assert_uint_eq(stats.misses, 0);
    ck_assert_uint_eq(stats.helpers, 0); /* the entry is complete */
    portmm_context_destroy(context);
}

/* The application has its own ideas about children; it must not see ours. */
START_TEST(test_helper) {
    signal(SIGCHLD, count_signal);
    portmm_context *context = open_context(PORTMM_WARMUP_HELPER);
    size_t files_before = count_directory("/proc/self/fd");
    multiply(context);
    ck_assert_uint_eq(get_stats(context).helpers, 1);
    ck_assert_str_eq(warning, "");
    ck_assert_uint_eq(count_directory("/proc/self/fd"), files_before);
    errno = 0;
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(child_signals, 0);
    multiply(context); /* does not start another */
    ck_assert_uint_eq(get_stats(context).helpers, 1);
    portmm_context_destroy(context);
    wait_for_entries(1);
    ck_assert_int_eq(child_signals, 0);
    signal(SIGCHLD, SIG_DFL);
    expect_hit();
}
END_TEST

START_TEST(test_thread) {
    portmm_context *context = open_context(PORTMM_WARMUP_THREAD);
    multiply(context);
    portmm_context_destroy(context); /* waits for the thread */
    ck_assert_uint_eq(count_entries(), 1);
    expect_hit();
}
END_TEST

START_TEST(test_off) {
    portmm_context *context = open_context(PORTMM_WARMUP_OFF);
    multiply(context);
    portmm_cache_stats stats = get_stats(context);
    ck_assert_uint_eq(stats.misses, 1);
    ck_assert_uint_eq(stats.helpers, 0);
    portmm_context_destroy(context);
    ck_assert_uint_eq(count_entries(), 0);
}
END_TEST

/* Process 1 of a container and other subreapers would become the helper's parent. */
START_TEST(test_subreaper_gets_a_thread) {
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    portmm_context *context = open_context(PORTMM_WARMUP_HELPER);
    multiply(context);
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
    ck_assert_uint_eq(get_stats(context).helpers, 0);
    ck_assert_ptr_nonnull(strstr(warning, "a thread fills the cache"));
    portmm_context_destroy(context);
    ck_assert_uint_eq(count_entries(), 1);
}
END_TEST

START_TEST(test_prewarm) {
    portmm_context *context = open_context(PORTMM_WARMUP_OFF);
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.m = problem.n = problem.k = N;
    ck_assert_int_eq(portmm_prewarm(context, &problem), PORTMM_STATUS_SUCCESS);
    ck_assert_uint_eq(get_stats(context).stores, 1);
    ck_assert_int_eq(portmm_prewarm(context, &problem), PORTMM_STATUS_SUCCESS);
    ck_assert_uint_eq(get_stats(context).stores, 1);
    portmm_context_destroy(context);
    expect_hit();
}
END_TEST

/* The helper finds out which engine serves, and stores the programs of both. */
START_TEST(test_fast) {
    portmm_context *context = open_with(PORTMM_WARMUP_HELPER, PORTMM_START_FAST);
    multiply(context);
    ck_assert_uint_eq(get_stats(context).helpers, 1);
    portmm_context_destroy(context);
    wait_for_entries(3);
    context = open_with(PORTMM_WARMUP_HELPER, PORTMM_START_FAST);
    multiply(context);
    ck_assert_uint_ge(get_stats(context).hits, 1);
    ck_assert_uint_eq(get_stats(context).misses, 0);
    ck_assert_uint_eq(get_stats(context).helpers, 0);
    portmm_context_destroy(context);
}
END_TEST

static bool has_opencl(void) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "opencl";
    options.cache_mode = PORTMM_CACHE_OFF;
    portmm_context *context;
    if (portmm_context_create(&options, &context) != PORTMM_STATUS_SUCCESS)
        return false;
    portmm_context_destroy(context);
    return true;
}

int main(void) {
    if (!has_opencl()) {
        printf("skipped: %s\n", portmm_last_error());
        const char *required = getenv("PORTMM_TEST_REQUIRE");
        return required != NULL && strstr(required, "opencl") != NULL ? 1 : 77;
    }
    Suite *suite = suite_create("warm-up");
    TCase *tests = tcase_create("ways");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_helper);
    tcase_add_test(tests, test_thread);
    tcase_add_test(tests, test_off);
    tcase_add_test(tests, test_subreaper_gets_a_thread);
    tcase_add_test(tests, test_prewarm);
    tcase_add_test(tests, test_fast);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
