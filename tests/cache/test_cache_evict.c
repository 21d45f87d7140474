/* SPDX-License-Identifier: Apache-2.0 */
/* What is removed when the cache grows beyond its limit: when, how much, in which order, and with clocks that jump. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/key.h"
#include "cache/upkeep.h"
#include "hooked_calls.h"

enum { PAYLOAD = 4000, MOST = 64 };

static const long long hour_ns = 3600000000000;

static char root[64], directory[96];
static portmm_context_options options;
static pmm_config config;
static pmm_cache cache;
static pmm_file_info *files; /* least recently used first */
static size_t count;

static void open_cache(uint64_t limit) {
    options = (portmm_context_options)PORTMM_CONTEXT_OPTIONS_INIT;
    options.cache_mode = PORTMM_CACHE_READ_WRITE;
    options.cache_dir = directory;
    ck_assert_int_eq(pmm_config_init(&config, &options), PORTMM_STATUS_SUCCESS);
    config.cache_max_size = limit;
    ck_assert(pmm_cache_init(&cache, &config));
}

static int pass_all(test_call call) {
    (void)call;
    return 0;
}

static void set_up(void) {
    strcpy(root, "/tmp/portmm-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(directory, sizeof directory, "%s/cache", root);
    open_cache(0);
    files = NULL;
    test_clock_offset_ns = 0;
}

static void tear_down(void) {
    char command[96];
    test_hook_calls(NULL);
    free(files);
    pmm_cache_fini(&cache);
    pmm_config_fini(&config);
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static pmm_cache_key make_key(const int *number, pmm_key_field *field) {
    *field = (pmm_key_field){"number", number, sizeof *number};
    return (pmm_cache_key){"program", field, 1};
}

static void get_name(int number, char name[PMM_KEY_NAME_SIZE]) {
    pmm_key_field field;
    const pmm_cache_key key = make_key(&number, &field);
    size_t size = 0;
    unsigned char *encoded = pmm_key_encode(&key, &size);
    pmm_key_name(encoded, size, name);
    free(encoded);
}

/* Bytes that do not pack, so that all entries are about as large. */
static bool store(int number) {
    unsigned char payload[PAYLOAD];
    unsigned state = (unsigned)number;
    pmm_key_field field;
    const pmm_cache_key key = make_key(&number, &field);
    for (int i = 0; i < PAYLOAD; i++) {
        state = state * 1664525u + 1013904223u;
        payload[i] = (unsigned char)(state >> 24);
    }
    return pmm_cache_put(&cache, &key, payload, PAYLOAD);
}

static bool look_up(int number) {
    pmm_key_field field;
    const pmm_cache_key key = make_key(&number, &field);
    void *data = NULL;
    size_t size = 0;
    bool found = pmm_cache_get(&cache, &key, &data, &size);
    free(data);
    return found;
}

/* As if it had been used so many hours before (or, negative, after) now, by the real clock. */
static void set_age(int number, double hours) {
    char path[256], name[PMM_KEY_NAME_SIZE];
    get_name(number, name);
    snprintf(path, sizeof path, "%s/entries/%s", directory, name);
    int64_t at = pmm_posix_file_calls.now() - (int64_t)(hours * (double)hour_ns);
    struct timespec times[2] = {{.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000}};
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Returns how many bytes the entries have. */
static uint64_t list(void) {
    char why[PMM_IO_TEXT];
    uint64_t total = 0;
    free(files);
    files = NULL;
    count = 0;
    ck_assert_int_eq(pmm_cache_list(&cache, &files, &count, why), PMM_IO_OK);
    for (size_t i = 0; i < count; i++)
        total += files[i].size;
    return total;
}

static bool is_there(int number) {
    char name[PMM_KEY_NAME_SIZE];
    get_name(number, name);
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].name, name) == 0)
            return true;
    return false;
}

/* Entries 1 to `last`, 1 used longest ago, an hour apart; returns the bytes of one. */
static uint64_t fill(int last) {
    for (int i = 1; i <= last; i++) {
        ck_assert(store(i));
        set_age(i, last - i + 2);
    }
    uint64_t total = list();
    ck_assert_uint_eq(count, (size_t)last);
    return total / (uint64_t)last;
}

START_TEST(nothing_goes_up_to_the_limit_and_then_a_tenth) {
    uint64_t one = fill(20);
    config.cache_max_size = 21 * one + one / 2;
    ck_assert(store(21));
    ck_assert_uint_eq((list(), count), 21);
    ck_assert_uint_eq(cache.evicted, 0);
    ck_assert(store(22)); /* beyond the limit */
    uint64_t total = list(), low = config.cache_max_size / 10 * 9;
    ck_assert_uint_le(total, low);
    ck_assert_uint_gt(total + one, low); /* and no more than is needed */
    ck_assert_uint_eq(cache.evicted, 22 - count);
    ck_assert_uint_eq(cache.faults, 0);
}
END_TEST

START_TEST(what_was_used_least_recently_goes_first) {
    uint64_t one = fill(20);
    config.cache_max_size = 20 * one + one / 2;
    ck_assert(look_up(1)); /* a use: its stamp is renewed */
    ck_assert(store(21));
    list();
    ck_assert(is_there(1));
    ck_assert(!is_there(2) && !is_there(3));
    for (int i = 22 - (int)count + 1; i <= 21; i++) /* all but 1 are the latest ones */
        ck_assert_msg(is_there(i), "%d of %zu", i, count);
}
END_TEST

START_TEST(no_limit_and_an_entry_beyond_it) {
    fill(10);
    ck_assert(store(11)); /* limit 0: none */
    ck_assert_uint_eq((list(), count), 11);
    config.cache_max_size = PAYLOAD; /* its entry has more */
    ck_assert(!store(12));
    ck_assert_uint_eq((list(), count), 11); /* nothing went for what does not fit */
    ck_assert_uint_eq(cache.faults, 0);
}
END_TEST

/* Set back by a day: every stamp is of the future. What is used now must not be taken for older than those. */
START_TEST(clock_set_back) {
    uint64_t one = fill(20);
    config.cache_max_size = 20 * one + one / 2;
    test_clock_offset_ns = -24 * hour_ns;
    test_hook_calls(pass_all);
    ck_assert(store(21));
    uint64_t total = list();
    ck_assert_uint_le(total, config.cache_max_size / 10 * 9);
    ck_assert_uint_gt(total + one, config.cache_max_size / 10 * 9);
    ck_assert_uint_eq(cache.faults, 0);
}
END_TEST

/* It was a day ahead while one entry was used. That one must not stay for ever because of it. */
START_TEST(clock_that_was_ahead) {
    uint64_t one = fill(20);
    config.cache_max_size = 20 * one + one / 2;
    set_age(7, -24);
    ck_assert(look_up(7)); /* gives it a stamp of today */
    list();
    for (size_t i = 0; i < count; i++)
        ck_assert_int_le(files[i].stamp_ns, pmm_posix_file_calls.now());
    set_age(7, 30);
    ck_assert(store(21));
    list();
    ck_assert(!is_there(7));
}
END_TEST

START_TEST(clock_set_forward) {
    uint64_t one = fill(20);
    config.cache_max_size = 20 * one + one / 2;
    test_clock_offset_ns = 24 * hour_ns;
    test_hook_calls(pass_all);
    ck_assert(store(21)); /* the order is the same */
    list();
    ck_assert(!is_there(1) && !is_there(2));
    ck_assert(is_there(20) && is_there(21));
    ck_assert_uint_eq(cache.faults, 0);
}
END_TEST

START_TEST(only_the_file_that_was_looked_at_is_removed) {
    char why[PMM_IO_TEXT];
    fill(1);
    pmm_file_info before = files[0];
    ck_assert(store(1)); /* another process's, meanwhile */
    ck_assert_int_eq(pmm_cache_remove(&cache, before.name, &before.id, why), PMM_IO_MISSING);
    ck_assert(look_up(1));
}
END_TEST

START_TEST(no_link_is_followed) {
    char target[128], link[256], name[PMM_KEY_NAME_SIZE];
    uint64_t one = fill(20);
    snprintf(target, sizeof target, "%s/of-the-user", root);
    int file = open(target, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(file, 0);
    close(file);
    get_name(99, name);
    snprintf(link, sizeof link, "%s/entries/%s", directory, name);
    ck_assert_int_eq(symlink(target, link), 0);
    config.cache_max_size = 20 * one + one / 2;
    ck_assert(store(21));
    ck_assert_uint_gt(cache.evicted, 0);
    ck_assert_int_eq(access(target, F_OK), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cache eviction");
    TCase *tests = tcase_create("eviction");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, nothing_goes_up_to_the_limit_and_then_a_tenth);
    tcase_add_test(tests, what_was_used_least_recently_goes_first);
    tcase_add_test(tests, no_limit_and_an_entry_beyond_it);
    tcase_add_test(tests, clock_set_back);
    tcase_add_test(tests, clock_that_was_ahead);
    tcase_add_test(tests, clock_set_forward);
    tcase_add_test(tests, only_the_file_that_was_looked_at_is_removed);
    tcase_add_test(tests, no_link_is_followed);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
