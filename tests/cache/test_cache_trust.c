/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache entry is code, so a place that others could have written to is not used: through the public functions, as an
 * application sees it, with a real cache that would serve. Each time the product is right, nothing of the place is
 * used, and one line says what to do.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <portmm/portmm.h>

enum { N = 40 };

static char root[64], filled[96], place[96], entries[128];
static char warning[512];
static int warnings;

static void keep_warning(portmm_log_level level, const char *message, void *user_data) {
    (void)user_data;
    if (level > PORTMM_LOG_WARNING)
        return;
    snprintf(warning, sizeof warning, "%s", message);
    warnings++;
}

static portmm_context_options get_options(void) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "opencl";
    options.engine = "starter";
    options.warmup = PORTMM_WARMUP_OFF;
    options.log = keep_warning;
    options.log_level = PORTMM_LOG_WARNING;
    return options;
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

/* A product with these options; what the cache counted for it. *reason is kept. */
static portmm_cache_stats serve(const portmm_context_options *options, char reason[512]) {
    portmm_context *context;
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    warnings = 0;
    portmm_status status = portmm_context_create(options, &context);
    ck_assert_msg(status == PORTMM_STATUS_SUCCESS, "%s", portmm_last_error());
    multiply(context);
    multiply(context);
    ck_assert_int_eq(portmm_cache_get_stats(context, &stats), PORTMM_STATUS_SUCCESS);
    snprintf(reason, 512, "%s", portmm_cache_get_reason(context));
    portmm_context_destroy(context);
    return stats;
}

/* A cache with the program that the product needs. */
static void fill_cache(void) {
    portmm_context_options options = get_options();
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    portmm_context *context;
    snprintf(filled, sizeof filled, "%s/filled", root);
    snprintf(place, sizeof place, "%s/place", root);
    snprintf(entries, sizeof entries, "%s/entries", place);
    options.cache_dir = filled;
    problem.m = problem.n = problem.k = N;
    ck_assert_int_eq(portmm_context_create(&options, &context), PORTMM_STATUS_SUCCESS);
    ck_assert_int_eq(portmm_prewarm(context, &problem), PORTMM_STATUS_SUCCESS);
    portmm_context_destroy(context);
}

static void set_up(void) {
    umask(022);
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s' && cp -a '%s' '%s'", place, filled, place);
    ck_assert_int_eq(system(command), 0);
}

/* ---- what makes a place untrusted ---- */

static void open_to_group(void) {
    ck_assert_int_eq(chmod(place, 0770), 0);
}

static void open_to_world(void) {
    ck_assert_int_eq(chmod(place, 0707), 0);
}

static void open_below(void) {
    ck_assert_int_eq(chmod(entries, 0770), 0);
}

static void give_away(void) {
    ck_assert_int_eq(chown(place, 12345, 12345), 0);
}

static void replace_by_link(void) {
    char moved[128], command[512];
    snprintf(moved, sizeof moved, "%s/moved", root);
    snprintf(command, sizeof command, "rm -rf '%s' && mv '%s' '%s'", moved, place, moved);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(symlink(moved, place), 0);
}

static const struct {
    const char *what;
    void (*spoil)(void);
    const char *advice;
    bool needs_root;
} spoilt[] = {{"a directory that its group can write", open_to_group, "chmod go-w", false},
              {"a directory that everybody can write", open_to_world, "chmod go-w", false},
              {"entries that their group can write", open_below, "chmod go-w", false},
              {"another user's directory", give_away, "belongs to another user; name a directory of your own", true},
              {"a symbolic link", replace_by_link, "symbolic link", false}};
enum { WAYS = sizeof spoilt / sizeof *spoilt };

static void expect_refused(const portmm_context_options *options, int way) {
    char reason[512];
    const portmm_cache_stats stats = serve(options, reason);
    ck_assert_msg(stats.hits == 0, "%s was used", spoilt[way].what);
    ck_assert_msg(warnings == 1, "%s: %d lines", spoilt[way].what, warnings);
    ck_assert_msg(strstr(warning, spoilt[way].advice) != NULL, "%s: %s", spoilt[way].what, warning);
    ck_assert_msg(strstr(reason, spoilt[way].advice) != NULL, "%s: %s", spoilt[way].what, reason);
}

START_TEST(the_users_directory) {
    portmm_context_options options = get_options();
    char reason[512];
    options.cache_dir = place;
    ck_assert_uint_eq(serve(&options, reason).hits, 1); /* as it is, it serves */
    ck_assert_int_eq(warnings, 0);
    if (spoilt[_i].needs_root && geteuid() != 0)
        return;
    spoilt[_i].spoil();
    expect_refused(&options, _i);
}
END_TEST

START_TEST(a_directory_that_is_only_read) {
    portmm_context_options options = get_options();
    char reason[512], own[96];
    snprintf(own, sizeof own, "%s/own", root);
    options.cache_dir = own;
    options.cache_path_ro = place;
    ck_assert_uint_eq(serve(&options, reason).hits, 1);
    ck_assert_int_eq(warnings, 0);
    if (spoilt[_i].needs_root && geteuid() != 0)
        return;
    spoilt[_i].spoil();
    expect_refused(&options, _i);
}
END_TEST

static bool has_opencl(void) {
    portmm_context_options options = get_options();
    portmm_context *context;
    options.cache_mode = PORTMM_CACHE_OFF;
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
    strcpy(root, "/tmp/portmm-test-XXXXXX");
    if (mkdtemp(root) == NULL)
        return 1;
    Suite *suite = suite_create("trust");
    TCase *tests = tcase_create("trust");
    tcase_add_unchecked_fixture(tests, fill_cache, NULL);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_loop_test(tests, the_users_directory, 0, WAYS);
    tcase_add_loop_test(tests, a_directory_that_is_only_read, 0, WAYS);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0)
        return 1;
    return failed == 0 ? 0 : 1;
}
