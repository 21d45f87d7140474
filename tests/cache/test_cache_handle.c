/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions on a cache without a device, on entries that a store of the core wrote. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <portmm/cache.h>

#include "cache/failure.h"
#include "cache/store.h"
#include "hooked_calls.h"

enum { ENTRIES = 5, PAYLOAD = 3000 };

static char top[64], directory[96], bundle[96];
static portmm_cache *cache;

static portmm_context_options get_options(void) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.cache_mode = PORTMM_CACHE_READ_WRITE;
    options.cache_dir = directory;
    return options;
}

static pmm_cache_key make_key(pmm_key_field fields[2], const int *number) {
    fields[0] = (pmm_key_field){"source", "text", 4};
    fields[1] = (pmm_key_field){"number", number, sizeof *number};
    return (pmm_cache_key){"program", fields, 2};
}

static void fill_payload(unsigned char payload[PAYLOAD], int number) {
    for (int i = 0; i < PAYLOAD; i++)
        payload[i] = (unsigned char)(i * i + number);
}

/* What a process with a context would leave. */
static void store_entries(int count) {
    const portmm_context_options options = get_options();
    pmm_config config;
    pmm_cache store;
    ck_assert_int_eq(pmm_config_init(&config, &options), PORTMM_STATUS_SUCCESS);
    ck_assert(pmm_cache_init(&store, &config));
    for (int i = 0; i < count; i++) {
        unsigned char payload[PAYLOAD];
        pmm_key_field fields[2];
        const pmm_cache_key key = make_key(fields, &i);
        fill_payload(payload, i);
        ck_assert(pmm_cache_put(&store, &key, payload, sizeof payload));
    }
    pmm_cache_fini(&store);
    pmm_config_fini(&config);
}

static void open_cache(const char *path_ro) {
    portmm_context_options options = get_options();
    options.cache_path_ro = path_ro;
    ck_assert_int_eq(portmm_cache_create(&options, &cache), PORTMM_STATUS_SUCCESS);
}

static void set_up(void) {
    strcpy(top, "/tmp/portmm-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    snprintf(directory, sizeof directory, "%s/cache", top);
    snprintf(bundle, sizeof bundle, "%s/some.bundle", top);
    cache = NULL;
}

static void tear_down(void) {
    char command[128];
    portmm_cache_destroy(cache);
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    ck_assert_int_eq(system(command), 0);
}

static portmm_cache_place get_place(size_t position) {
    portmm_cache_place place = PORTMM_CACHE_PLACE_INIT;
    ck_assert_int_eq(portmm_cache_get_place(cache, position, &place), PORTMM_STATUS_SUCCESS);
    return place;
}

static portmm_cache_totals get_totals(void) {
    portmm_cache_totals totals = PORTMM_CACHE_TOTALS_INIT;
    ck_assert_int_eq(portmm_cache_get_totals(cache, &totals), PORTMM_STATUS_SUCCESS);
    return totals;
}

static char names[16][PMM_KEY_NAME_SIZE];
static size_t name_count;

static int keep_name(const portmm_cache_entry *entry, void *user_data) {
    ck_assert_uint_lt(name_count, 16);
    ck_assert_str_eq(entry->kind, user_data != NULL ? (const char *)user_data : "program");
    snprintf(names[name_count++], sizeof names[0], "%s", entry->name);
    return 0;
}

static void list_names(size_t position, const char *kind) {
    name_count = 0;
    char text[64];
    snprintf(text, sizeof text, "%s", kind);
    ck_assert_int_eq(portmm_cache_visit_entries(cache, position, keep_name, text), PORTMM_STATUS_SUCCESS);
}

static void damage(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/entries/%s", directory, name);
    FILE *file = fopen(path, "r+b");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, -1, SEEK_END), 0);
    int last = fgetc(file);
    ck_assert_int_eq(fseek(file, -1, SEEK_END), 0);
    fputc(last ^ 1, file);
    fclose(file);
}

START_TEST(a_directory_that_is_missing_is_said_so) {
    open_cache(NULL);
    portmm_cache_place place = get_place(0);
    ck_assert_int_eq(place.tier, PORTMM_CACHE_TIER_USER);
    ck_assert_int_eq(place.trust, PORTMM_CACHE_MISSING);
    ck_assert_int_eq(place.writable, 1);
    ck_assert_ptr_nonnull(strstr(place.reason, "does not exist"));
    ck_assert_int_ne(access(directory, F_OK), 0); /* looking makes nothing */
}
END_TEST

START_TEST(places_say_what_they_are_and_hold) {
    char path[256], open_to_all[96];
    store_entries(ENTRIES);
    snprintf(open_to_all, sizeof open_to_all, "%s/open", top);
    ck_assert_int_eq(mkdir(open_to_all, 0700), 0);
    ck_assert_int_eq(chmod(open_to_all, 0777), 0);
    snprintf(path, sizeof path, "%s:relative:%s/nothing", open_to_all, top);
    open_cache(path);
    ck_assert_uint_eq(portmm_cache_place_count(cache), 5);
    portmm_cache_place user = get_place(0), open = get_place(1), relative = get_place(2), missing = get_place(3);
    portmm_cache_place installed = get_place(4);
    ck_assert_int_eq(user.trust, PORTMM_CACHE_TRUSTED);
    ck_assert_str_eq(user.reason, "");
    ck_assert_str_eq(user.path, directory);
    ck_assert_uint_eq(user.entries, ENTRIES);
    ck_assert_uint_gt(user.bytes, ENTRIES * 48);
    ck_assert_int_eq(open.tier, PORTMM_CACHE_TIER_SYSTEM);
    ck_assert_int_eq(open.trust, PORTMM_CACHE_REFUSED);
    ck_assert_ptr_nonnull(strstr(open.reason, "chmod go-w"));
    ck_assert_int_eq(open.writable, 0);
    ck_assert_int_eq(relative.trust, PORTMM_CACHE_REFUSED);
    ck_assert_int_eq(missing.trust, PORTMM_CACHE_MISSING);
    ck_assert_int_eq(installed.tier, PORTMM_CACHE_TIER_INSTALL);
    ck_assert_int_eq(chmod(directory, 0770), 0);
    user = get_place(0);
    ck_assert_int_eq(user.trust, PORTMM_CACHE_REFUSED);
    ck_assert_int_eq(user.writable, 0);
    ck_assert_ptr_nonnull(strstr(user.reason, "chmod go-w"));
    ck_assert_int_eq(chmod(directory, 0700), 0);
}
END_TEST

static int check_field(const char *label, const void *data, size_t size, void *user_data) {
    static const char *const labels[] = {"kind", "source", "number"};
    int *count = user_data;
    ck_assert_int_lt(*count, 3);
    ck_assert_str_eq(label, labels[*count]);
    if (*count == 0)
        ck_assert(size == 7 && memcmp(data, "program", 7) == 0);
    ++*count;
    return 0;
}

START_TEST(entries_are_listed_read_and_checked) {
    store_entries(ENTRIES);
    open_cache(NULL);
    list_names(0, "program");
    ck_assert_uint_eq(name_count, ENTRIES);
    for (size_t i = 0; i < name_count; i++) {
        int fields = 0;
        const char *problem = NULL;
        void *data;
        size_t size;
        ck_assert_int_eq(portmm_cache_visit_fields(cache, 0, names[i], check_field, &fields), PORTMM_STATUS_SUCCESS);
        ck_assert_int_eq(fields, 3);
        ck_assert_int_eq(portmm_cache_check_entry(cache, 0, names[i], &problem), PORTMM_STATUS_SUCCESS);
        ck_assert_str_eq(problem, "");
        ck_assert_int_eq(portmm_cache_read_payload(cache, 0, names[i], &data, &size), PORTMM_STATUS_SUCCESS);
        ck_assert_uint_eq(size, PAYLOAD);
        portmm_cache_free(data);
    }
    ck_assert_int_eq(portmm_cache_check_entry(cache, 0, "../../../../etc/passwd", &(const char *){NULL}),
                     PORTMM_STATUS_UNAVAILABLE);
}
END_TEST

START_TEST(damage_is_told_and_removed) {
    store_entries(ENTRIES);
    open_cache(NULL);
    list_names(0, "program");
    damage(names[2]);
    const char *problem = NULL;
    int32_t removed = -1;
    ck_assert_int_eq(portmm_cache_check_entry(cache, 0, names[2], &problem), PORTMM_STATUS_SUCCESS);
    ck_assert_str_eq(problem, "damaged");
    ck_assert_int_eq(portmm_cache_remove_entry(cache, names[1], 1, &removed), PORTMM_STATUS_SUCCESS);
    ck_assert_int_eq(removed, 0); /* it is sound */
    ck_assert_int_eq(portmm_cache_remove_entry(cache, names[2], 1, &removed), PORTMM_STATUS_SUCCESS);
    ck_assert_int_eq(removed, 1);
    ck_assert_uint_eq(get_totals().entries, ENTRIES - 1);
}
END_TEST

START_TEST(trim_and_clear) {
    store_entries(ENTRIES);
    open_cache(NULL);
    uint64_t bytes = get_totals().bytes;
    portmm_cache_removed removed = PORTMM_CACHE_REMOVED_INIT;
    ck_assert_int_eq(portmm_cache_trim(cache, bytes / 2, 1, &removed), PORTMM_STATUS_SUCCESS);
    ck_assert_uint_gt(removed.entries, 0);
    ck_assert_uint_le(removed.kept_bytes, bytes / 2);
    ck_assert_uint_eq(get_totals().entries, ENTRIES); /* dry */
    ck_assert_int_eq(portmm_cache_trim(cache, bytes / 2, 0, &removed), PORTMM_STATUS_SUCCESS);
    ck_assert_uint_eq(get_totals().entries, removed.kept_entries);
    ck_assert_int_eq(portmm_cache_clear(cache, 0, &removed), PORTMM_STATUS_SUCCESS);
    portmm_cache_totals totals = get_totals();
    ck_assert_uint_eq(totals.entries, 0);
    ck_assert_uint_eq(totals.stores, 0);
}
END_TEST

START_TEST(counts_outlive_processes) {
    const uint64_t rounds = 700; /* enough for the file to be made one line on the way */
    for (uint64_t i = 0; i < rounds; i++)
        store_entries(2);
    open_cache(NULL);
    portmm_cache_totals totals = get_totals();
    ck_assert_uint_eq(totals.stores, 2 * rounds);
    ck_assert_uint_ge(totals.contexts, 1);
    char path[160];
    struct stat status;
    snprintf(path, sizeof path, "%s/statistics", directory);
    FILE *file = fopen(path, "ab");
    fputs("portmm 1 5 5 5\nportmm 1 torn", file); /* counts for nothing */
    fclose(file);
    ck_assert_uint_eq(get_totals().stores, 2 * rounds);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_lt(status.st_size, 70000);
}
END_TEST

START_TEST(a_seal_is_imported_elsewhere_and_read_in_place) {
    store_entries(ENTRIES);
    open_cache(NULL);
    list_names(0, "program");
    damage(names[0]);
    portmm_cache_moved moved = PORTMM_CACHE_MOVED_INIT;
    ck_assert_int_eq(portmm_cache_seal(cache, bundle, &moved), PORTMM_STATUS_SUCCESS);
    ck_assert_uint_eq(moved.entries, ENTRIES - 1);
    ck_assert_uint_eq(moved.passed_over, 1);
    portmm_cache_removed removed = PORTMM_CACHE_REMOVED_INIT;
    ck_assert_int_eq(portmm_cache_clear(cache, 0, &removed), PORTMM_STATUS_SUCCESS);
    ck_assert_int_eq(portmm_cache_import(cache, bundle, &moved), PORTMM_STATUS_SUCCESS);
    ck_assert_uint_eq(moved.entries, ENTRIES - 1);
    ck_assert_int_eq(portmm_cache_import(cache, bundle, &moved), PORTMM_STATUS_SUCCESS);
    ck_assert_uint_eq(moved.entries, 0);
    ck_assert_uint_eq(moved.already_there, ENTRIES - 1);
    portmm_cache_destroy(cache);
    open_cache(bundle);
    ck_assert_int_eq(get_place(1).tier, PORTMM_CACHE_TIER_BUNDLE);
    ck_assert_uint_eq(get_place(1).entries, ENTRIES - 1);
    ck_assert_int_eq(portmm_cache_seal(cache, "relative", &moved), PORTMM_STATUS_INVALID_ARGUMENT);
}
END_TEST

static int pass_all(test_call call) {
    (void)call;
    return 0;
}

START_TEST(a_failed_build_is_remembered_for_its_time) {
    const portmm_context_options options = get_options();
    pmm_config config;
    pmm_cache store;
    pmm_key_field fields[2];
    int number = 7;
    char reason[PMM_FAILURE_TEXT + 1] = "";
    const pmm_cache_key key = make_key(fields, &number);
    ck_assert_int_eq(pmm_config_init(&config, &options), PORTMM_STATUS_SUCCESS);
    ck_assert(pmm_cache_init(&store, &config));
    ck_assert(!pmm_cache_recall_failure(&store, &key, reason, sizeof reason));
    pmm_cache_remember_failure(&store, &key, "no such type: half16");
    ck_assert(pmm_cache_recall_failure(&store, &key, reason, sizeof reason));
    ck_assert_str_eq(reason, "no such type: half16");
    number = 8; /* another program */
    ck_assert(!pmm_cache_recall_failure(&store, &key, reason, sizeof reason));
    number = 7;
    open_cache(NULL);
    list_names(0, "failed program");
    ck_assert_uint_eq(name_count, 1);
    test_clock_offset_ns = 25 * INT64_C(3600000000000);
    test_hook_calls(pass_all);
    bool late = pmm_cache_recall_failure(&store, &key, reason, sizeof reason);
    test_hook_calls(NULL);
    ck_assert(!late);
    ck_assert_uint_eq(get_totals().entries, 0); /* and is gone */
    pmm_cache_remember_failure(&store, &key, "again");
    test_clock_offset_ns = -48 * INT64_C(3600000000000); /* a clock that was wrong by days */
    test_hook_calls(pass_all);
    bool early = pmm_cache_recall_failure(&store, &key, reason, sizeof reason);
    test_hook_calls(NULL);
    ck_assert(!early);
    pmm_cache_fini(&store);
    pmm_config_fini(&config);
}
END_TEST

START_TEST(what_is_needed_is_said) {
    portmm_cache_totals totals = PORTMM_CACHE_TOTALS_INIT;
    portmm_cache_place place = PORTMM_CACHE_PLACE_INIT;
    portmm_cache_destroy(NULL);
    ck_assert_int_eq(portmm_cache_create(NULL, NULL), PORTMM_STATUS_INVALID_ARGUMENT);
    ck_assert_int_eq(portmm_cache_get_totals(NULL, &totals), PORTMM_STATUS_INVALID_ARGUMENT);
    ck_assert_int_eq(portmm_cache_explain(NULL, NULL, NULL), PORTMM_STATUS_INVALID_ARGUMENT);
    open_cache(NULL);
    ck_assert_int_eq(portmm_cache_get_place(cache, 99, &place), PORTMM_STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(portmm_last_error(), "99"));
    ck_assert_int_eq(portmm_cache_get_place(cache, 0, NULL), PORTMM_STATUS_INVALID_ARGUMENT);
    ck_assert_int_eq(portmm_cache_trim(cache, 1, 0, NULL), PORTMM_STATUS_INVALID_ARGUMENT);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cache handle");
    TCase *tests = tcase_create("handle");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_directory_that_is_missing_is_said_so);
    tcase_add_test(tests, places_say_what_they_are_and_hold);
    tcase_add_test(tests, entries_are_listed_read_and_checked);
    tcase_add_test(tests, damage_is_told_and_removed);
    tcase_add_test(tests, trim_and_clear);
    tcase_add_test(tests, counts_outlive_processes);
    tcase_add_test(tests, a_seal_is_imported_elsewhere_and_read_in_place);
    tcase_add_test(tests, a_failed_build_is_remembered_for_its_time);
    tcase_add_test(tests, what_is_needed_is_said);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
