/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver whose own files vanish between a build and the capture: PoCL then hands out a binary that lacks most of the
 * program, says that all is well, and ends the process that loads it. It must not come into the cache; a later capture
 * must. This program starts itself again as that next process.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <portmm/portmm.h>

enum { N = 40 };

static const char *program;
static char root[] = "/tmp/portmm-test-XXXXXX";
static const char *const engines[] = {"starter", "clblast"};

static portmm_context *open_context(const char *engine) {
    char directory[64];
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    snprintf(directory, sizeof directory, "%s/cache", root);
    options.backend = "opencl";
    options.engine = engine;
    options.cache_dir = directory;
    options.warmup = PORTMM_WARMUP_OFF;
    portmm_context *context;
    portmm_context_create(&options, &context); /* NULL on failure; later calls tell */
    return context;
}

static portmm_status multiply(portmm_context *context) {
    static float a[N * N], b[N * N], c[N * N];
    return portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, N, b, N, 0, c,
                             N);
}

/* The exit code of the next process: 0, or 3 where it had to compile. */
static int run_next_process(const char *engine) {
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, root, engine, (char *)NULL);
        _exit(127);
    }
    int end = -1;
    ck_assert_int_eq(waitpid(child, &end, 0), child);
    ck_assert_msg(WIFEXITED(end), "the next process was ended by signal %d", WTERMSIG(end));
    return WEXITSTATUS(end);
}

static int be_next_process(const char *engine) {
    portmm_context *context = open_context(engine);
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    if (multiply(context) != PORTMM_STATUS_SUCCESS || portmm_cache_get_stats(context, &stats) != PORTMM_STATUS_SUCCESS)
        return 1;
    portmm_context_destroy(context);
    return stats.hits == 1 && stats.misses == 0 ? 0 : 3;
}

static portmm_status prewarm(portmm_context *context) {
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.m = problem.n = problem.k = N;
    return portmm_prewarm(context, &problem);
}

static void remove_driver_files(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/driver && mkdir %s/driver", root, root);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(test_is_not_published) {
    const char *engine = engines[_i];
    remove_driver_files();
    portmm_context *context = open_context(engine);
    ck_assert_int_eq(multiply(context), PORTMM_STATUS_SUCCESS);
    remove_driver_files();
    ck_assert_int_eq(prewarm(context), PORTMM_STATUS_SUCCESS);
    portmm_context_destroy(context);
    remove_driver_files();
    ck_assert_int_eq(run_next_process(engine), 3);
}
END_TEST

/* In a process of its own: this one's driver may go on missing its files. */
static int publish(const char *engine) {
    portmm_context *context = open_context(engine);
    portmm_status status = prewarm(context);
    portmm_context_destroy(context);
    return status == PORTMM_STATUS_SUCCESS ? 0 : 1;
}

START_TEST(test_a_later_one_is) {
    const char *engine = engines[_i];
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, root, engine, "publish", (char *)NULL);
        _exit(127);
    }
    int end = -1;
    ck_assert_int_eq(waitpid(child, &end, 0), child);
    ck_assert_int_eq(end, 0);
    remove_driver_files();
    ck_assert_int_eq(run_next_process(engine), 0);
}
END_TEST

static bool is_pocl(void) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "opencl";
    options.cache_mode = PORTMM_CACHE_OFF;
    portmm_context *context;
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    if (portmm_context_create(&options, &context) != PORTMM_STATUS_SUCCESS)
        return false;
    bool found = portmm_context_get_info(context, &info) == PORTMM_STATUS_SUCCESS &&
                 strstr(info.platform_name, "Portable Computing Language") != NULL;
    portmm_context_destroy(context);
    return found;
}

int main(int argc, char **argv) {
    char files[64];
    program = argv[0];
    if (argc > 2)
        snprintf(root, sizeof root, "%s", argv[1]);
    else if (mkdtemp(root) == NULL)
        return 1;
    snprintf(files, sizeof files, "%s/driver", root);
    setenv("POCL_CACHE_DIR", files, 1);
    if (argc > 3)
        return publish(argv[2]);
    if (argc > 2)
        return be_next_process(argv[2]);
    int failed = 77;
    if (is_pocl()) {
        Suite *suite = suite_create("short binary");
        TCase *tests = tcase_create("capture");
        tcase_set_timeout(tests, 300);
        tcase_add_loop_test(tests, test_is_not_published, 0, 2);
        tcase_add_loop_test(tests, test_a_later_one_is, 0, 2);
        suite_add_tcase(suite, tests);
        SRunner *runner = srunner_create(suite);
        srunner_set_fork_status(runner, CK_NOFORK);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner) == 0 ? 0 : 1;
        srunner_free(runner);
    } else {
        printf("skipped: the OpenCL driver taken here is not PoCL\n");
    }
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) == 0 ? failed : 1;
}
