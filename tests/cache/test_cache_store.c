/* SPDX-License-Identifier: Apache-2.0 */
/* The store on a real directory: what goes wrong ends in a miss, is counted and told, and heals. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/key.h"
#include "cache/store.h"
#include "hooked_calls.h"

static char root[64], directory[128];
static portmm_context_options options;
static pmm_config config;
static pmm_cache cache;
static int warnings;

static const char data[] = "a compiled program";
static const pmm_key_field fields[] = {{"source", "kernel", 6}, {"driver", "1.0", 3}};
static const pmm_cache_key key = {"program", fields, 2};

static void count_warning(portmm_log_level level, const char *message, void *user_data) {
    (void)message, (void)user_data;
    warnings += level <= PORTMM_LOG_WARNING;
}

static void open_cache(portmm_cache_mode mode, const char *path) {
    options = (portmm_context_options)PORTMM_CONTEXT_OPTIONS_INIT;
    options.cache_mode = mode;
    options.cache_dir = path;
    options.log = count_warning;
    options.log_level = PORTMM_LOG_WARNING;
    ck_assert_int_eq(pmm_config_init(&config, &options), PORTMM_STATUS_SUCCESS);
    ck_assert(pmm_cache_init(&cache, &config));
}

static void close_cache(void) {
    pmm_cache_fini(&cache);
    pmm_config_fini(&config);
}

static void reopen_cache(portmm_cache_mode mode) {
    close_cache();
    open_cache(mode, directory);
}

static void set_up(void) {
    strcpy(root, "/tmp/portmm-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(directory, sizeof directory, "%s/deep/cache", root);
    warnings = 0;
    open_cache(PORTMM_CACHE_READ_WRITE, directory);
}

static void tear_down(void) {
    char command[128];
    test_hook_calls(NULL);
    close_cache();
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

/* 1: a hit with the right bytes; 0: a miss. Anything else fails the test. */
static int look_up(void) {
    void *read = NULL;
    size_t size = 0;
    if (!pmm_cache_get(&cache, &key, &read, &size))
        return 0;
    ck_assert_uint_eq(size, sizeof data);
    ck_assert_mem_eq(read, data, sizeof data);
    free(read);
    return 1;
}

static bool store(void) {
    return pmm_cache_put(&cache, &key, data, sizeof data);
}

static void get_entry_path(char *path, size_t size) {
    size_t encoded_size = 0;
    char name[PMM_KEY_NAME_SIZE];
    unsigned char *encoded = pmm_key_encode(&key, &encoded_size);
    pmm_key_name(encoded, encoded_size, name);
    free(encoded);
    snprintf(path, size, "%s/entries/%s", directory, name);
}

static size_t count_files(const char *below) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, below);
    DIR *listing = opendir(path);
    size_t count = 0;
    if (listing == NULL)
        return 0;
    while (readdir(listing) != NULL)
        count++;
    closedir(listing);
    return count - 2;
}

START_TEST(test_miss_store_hit) {
    ck_assert_int_eq(look_up(), 0);
    ck_assert(store());
    ck_assert_int_eq(look_up(), 1);
    ck_assert_uint_eq(cache.hits, 1);
    ck_assert_uint_eq(cache.misses, 1);
    ck_assert_uint_eq(cache.stores, 1);
    ck_assert_uint_eq(cache.faults, 0);
    ck_assert_int_eq(warnings, 0);
    struct stat status;
    ck_assert_int_eq(stat(directory, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0700);
    ck_assert_uint_eq(count_files("entries"), 1); /* no temporary file stays */
}
END_TEST

START_TEST(test_off_touches_nothing) {
    reopen_cache(PORTMM_CACHE_OFF);
    ck_assert(!store());
    ck_assert_int_eq(look_up(), 0);
    ck_assert_int_ne(access(directory, F_OK), 0);
    ck_assert_str_ne(cache.reason, "");
}
END_TEST

START_TEST(test_read_only_reads_only) {
    ck_assert(store());
    reopen_cache(PORTMM_CACHE_READ_ONLY);
    ck_assert_int_eq(look_up(), 1);
    ck_assert(!store());
    ck_assert_uint_eq(cache.faults, 0);
}
END_TEST

static void damage_entry(void) {
    char path[256];
    get_entry_path(path, sizeof path);
    FILE *file = fopen(path, "r+b");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, -3, SEEK_END), 0);
    ck_assert_int_ne(fputc(0x55, file), EOF);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(test_damage_is_healed) {
    ck_assert(store());
    damage_entry();
    ck_assert_int_eq(look_up(), 0);
    ck_assert_uint_eq(cache.healed, 1);
    ck_assert_uint_eq(count_files("entries"), 0);
    ck_assert(store());
    ck_assert_int_eq(look_up(), 1);
}
END_TEST

START_TEST(test_damage_stays_when_read_only) {
    ck_assert(store());
    damage_entry();
    reopen_cache(PORTMM_CACHE_READ_ONLY);
    ck_assert_int_eq(look_up(), 0);
    ck_assert_uint_eq(count_files("entries"), 1);
}
END_TEST

START_TEST(test_zero_length_file) {
    char path[256];
    ck_assert(store());
    get_entry_path(path, sizeof path);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_eq(look_up(), 0);
    ck_assert(store());
    ck_assert_int_eq(look_up(), 1);
}
END_TEST

START_TEST(test_refused_by_driver) {
    ck_assert(store());
    pmm_cache_reject(&cache, &key, "refused");
    ck_assert_uint_eq(cache.healed, 1);
    ck_assert_int_eq(look_up(), 0);
}
END_TEST

START_TEST(test_planted_link_is_not_followed) {
    char path[256], target[256];
    ck_assert(store());
    get_entry_path(path, sizeof path);
    snprintf(target, sizeof target, "%s/elsewhere", root);
    ck_assert_int_eq(rename(path, target), 0);
    ck_assert_int_eq(symlink(target, path), 0);
    ck_assert_int_eq(look_up(), 0);
    ck_assert_int_eq(access(target, F_OK), 0);
}
END_TEST

START_TEST(test_planted_fifo_does_not_hang) {
    char path[256];
    ck_assert(store());
    get_entry_path(path, sizeof path);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(look_up(), 0);
}
END_TEST

static void expect_refused(const char *advice) {
    ck_assert_int_eq(look_up(), 0);
    ck_assert(!store());
    ck_assert_ptr_nonnull(strstr(cache.reason, advice));
    ck_assert_int_eq(warnings, 1);
}

START_TEST(test_directory_open_to_others) {
    ck_assert(store());
    ck_assert_int_eq(chmod(directory, 0777), 0);
    expect_refused("chmod go-w");
}
END_TEST

START_TEST(test_entries_open_to_group) {
    char path[256];
    ck_assert(store());
    snprintf(path, sizeof path, "%s/entries", directory);
    ck_assert_int_eq(chmod(path, 0770), 0);
    expect_refused("chmod go-w");
}
END_TEST

START_TEST(test_directory_is_a_link) {
    char moved[256];
    ck_assert(store());
    snprintf(moved, sizeof moved, "%s/moved", root);
    ck_assert_int_eq(rename(directory, moved), 0);
    ck_assert_int_eq(symlink(moved, directory), 0);
    expect_refused("symbolic link");
}
END_TEST

START_TEST(test_directory_is_a_file) {
    char path[256];
    snprintf(path, sizeof path, "%s/deep", root);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    int file = open(directory, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(file, 0);
    close(file);
    expect_refused("not a directory");
}
END_TEST

START_TEST(test_directory_of_another_user) {
    if (geteuid() != 0)
        return; /* only root can make one */
    ck_assert(store());
    ck_assert_int_eq(chown(directory, 12345, 12345), 0);
    expect_refused("belongs to another user");
}
END_TEST

START_TEST(test_directory_deleted_meanwhile) {
    char command[256];
    ck_assert(store());
    snprintf(command, sizeof command, "rm -rf '%s/deep'", root);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(look_up(), 0);
    ck_assert(store());
    ck_assert_int_eq(look_up(), 1);
}
END_TEST

/* ---- every system call fails once with each errno ---- */

static int failing_call, failing_errno, countdown;

static int fail_once(test_call call) {
    return (int)call != failing_call || countdown < 0 || countdown-- > 0 ? 0 : failing_errno;
}

static const int errors[] = {EINTR, ENOSPC, EDQUOT, EIO, EROFS, EACCES, EMFILE, ESTALE, ENAMETOOLONG, ENOENT};

/* The lock may be had or not; it is given back. */
static void try_to_lock(void) {
    int file = -1;
    if (pmm_cache_lock(&cache, &key, &file))
        pmm_file_unlock(file);
}

static void run_with_fault(int call, int error, int nth) {
    failing_call = call;
    failing_errno = error;
    countdown = nth;
    store();
    look_up(); /* a hit or a miss, never wrong bytes */
    try_to_lock();
    countdown = -1;
    ck_assert_msg(store(), "call %d errno %d occurrence %d: cannot store afterwards", call, error, nth);
    ck_assert_msg(look_up() == 1, "call %d errno %d occurrence %d: no hit afterwards", call, error, nth);
}

START_TEST(test_every_call_fails_with_every_errno) {
    test_hook_calls(fail_once);
    for (int call = 0; call < TEST_CALL_COUNT; call++)
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
            for (int nth = 0; nth < 6; nth++)
                run_with_fault(call, errors[i], nth);
    /* A temporary file may stay only where its removal was what failed: never, then, more than those occasions. */
    ck_assert_uint_le(count_files("entries"), 1 + sizeof errors / sizeof *errors * 6);
    ck_assert_int_le(warnings, 1); /* told once */
}
END_TEST

START_TEST(test_no_descriptor_is_lost) {
    int before = dup(0);
    close(before);
    test_hook_calls(fail_once);
    for (int call = 0; call < TEST_CALL_COUNT; call++)
        for (int nth = 0; nth < 6; nth++)
            run_with_fault(call, EIO, nth);
    int after = dup(0);
    close(after);
    ck_assert_int_eq(before, after);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cache store");
    TCase *tests = tcase_create("directory");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_miss_store_hit);
    tcase_add_test(tests, test_off_touches_nothing);
    tcase_add_test(tests, test_read_only_reads_only);
    tcase_add_test(tests, test_damage_is_healed);
    tcase_add_test(tests, test_damage_stays_when_read_only);
    tcase_add_test(tests, test_zero_length_file);
    tcase_add_test(tests, test_refused_by_driver);
    tcase_add_test(tests, test_planted_link_is_not_followed);
    tcase_add_test(tests, test_planted_fifo_does_not_hang);
    tcase_add_test(tests, test_directory_open_to_others);
    tcase_add_test(tests, test_entries_open_to_group);
    tcase_add_test(tests, test_directory_is_a_link);
    tcase_add_test(tests, test_directory_is_a_file);
    tcase_add_test(tests, test_directory_of_another_user);
    tcase_add_test(tests, test_directory_deleted_meanwhile);
    tcase_add_test(tests, test_every_call_fails_with_every_errno);
    tcase_add_test(tests, test_no_descriptor_is_lost);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
