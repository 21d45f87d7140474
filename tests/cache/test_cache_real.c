/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real entries, as the OpenCL driver of this machine gives them: no changed byte and no cut passes the check, and each
 * field of the key, changed alone, is a miss.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/entry.h"
#include "cache/key.h"
#include "cache/upkeep.h"

static char directory[64];

enum { MOST_ENTRIES = 16, MOST_FIELDS = 32, KIND = 64, LABEL = 64 };

typedef struct real_entry {
    unsigned char *bytes, *key;
    size_t size, key_size, payload_size;
} real_entry;

static real_entry entries[MOST_ENTRIES];
static size_t entry_count;

static bool fill_cache(void) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    portmm_context *context;
    options.backend = "opencl";
    options.cache_dir = directory;
    options.cache_mode = PORTMM_CACHE_READ_WRITE;
    options.warmup = PORTMM_WARMUP_OFF;
    if (portmm_context_create(&options, &context) != PORTMM_STATUS_SUCCESS) {
        printf("skipped: %s\n", portmm_last_error());
        return false;
    }
    problem.m = problem.n = problem.k = 40;
    bool filled = portmm_prewarm(context, &problem) == PORTMM_STATUS_SUCCESS;
    portmm_context_destroy(context);
    return filled;
}

static void read_entry(const char *path) {
    real_entry *this = &entries[entry_count++];
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    this->size = (size_t)ftell(file);
    this->bytes = malloc(this->size);
    rewind(file);
    ck_assert_uint_eq(fread(this->bytes, 1, this->size, file), this->size);
    fclose(file);
    const unsigned char *key = pmm_entry_key(this->bytes, this->size, &this->key_size, &this->payload_size);
    ck_assert_ptr_nonnull(key);
    this->key = malloc(this->key_size);
    memcpy(this->key, key, this->key_size);
}

/* First: the others look at what it reads. */
START_TEST(test_entries_can_be_read) {
    char path[512];
    snprintf(path, sizeof path, "%s/" PMM_CACHE_ENTRIES, directory);
    DIR *listing = opendir(path);
    ck_assert_ptr_nonnull(listing);
    for (const struct dirent *item; (item = readdir(listing)) != NULL && entry_count < MOST_ENTRIES;) {
        snprintf(path, sizeof path, "%s/" PMM_CACHE_ENTRIES "/%s", directory, item->d_name);
        if (item->d_name[0] != '.')
            read_entry(path);
    }
    closedir(listing);
    ck_assert_uint_gt(entry_count, 1);
}
END_TEST

static bool passes(const real_entry *this, const unsigned char *bytes, size_t size) {
    void *payload = NULL;
    size_t payload_size = 0;
    pmm_entry_verdict verdict = pmm_entry_decode(bytes, size, this->key, this->key_size, &payload, &payload_size);
    free(payload);
    return verdict == PMM_ENTRY_GOOD;
}

START_TEST(test_every_byte_changed) {
    size_t changed = 0;
    for (size_t i = 0; i < entry_count; i++)
        for (size_t at = 0; at < entries[i].size; at++, changed++) {
            unsigned char flip = (unsigned char)(1 << at % 8);
            entries[i].bytes[at] ^= flip;
            ck_assert_msg(!passes(&entries[i], entries[i].bytes, entries[i].size), "entry %zu, byte %zu", i, at);
            entries[i].bytes[at] ^= flip;
        }
    for (size_t i = 0; i < entry_count; i++)
        ck_assert(passes(&entries[i], entries[i].bytes, entries[i].size));
    printf("%zu entries, %zu bytes: none passes changed\n", entry_count, changed);
}
END_TEST

START_TEST(test_cut_at_every_length) {
    for (size_t i = 0; i < entry_count; i++)
        for (size_t size = 0; size < entries[i].size; size++)
            ck_assert_msg(!passes(&entries[i], entries[i].bytes, size), "entry %zu, %zu bytes", i, size);
}
END_TEST

/* ---- keys ---- */

typedef struct real_key {
    char kind[KIND], labels[MOST_FIELDS][LABEL];
    pmm_key_field fields[MOST_FIELDS];
    size_t count;
} real_key;

static void read_key(const real_entry *entry, real_key *key) {
    pmm_key_part part;
    size_t at = 0;
    memset(key, 0, sizeof *key);
    ck_assert(pmm_key_next(entry->key, entry->key_size, &at, &part));
    snprintf(key->kind, sizeof key->kind, "%.*s", (int)part.size, (const char *)part.data);
    while (at < entry->key_size) {
        ck_assert_uint_lt(key->count, MOST_FIELDS);
        ck_assert(pmm_key_next(entry->key, entry->key_size, &at, &part));
        char *label = key->labels[key->count];
        snprintf(label, LABEL, "%.*s", (int)part.label_size, (const char *)part.label);
        key->fields[key->count++] = (pmm_key_field){label, part.data, part.size};
    }
}

static bool is_found(pmm_cache *cache, const real_key *key, size_t count) {
    const pmm_cache_key wanted = {key->kind, key->fields, count};
    void *data = NULL;
    size_t size = 0;
    bool found = pmm_cache_get(cache, &wanted, &data, &size);
    free(data);
    return found;
}

/* A byte changed at either end, one more, one less, and none at all. */
static void change_field(pmm_cache *cache, real_key *key, size_t number) {
    const pmm_key_field field = key->fields[number];
    unsigned char *bytes = calloc(1, field.size + 1);
    memcpy(bytes, field.data, field.size);
    key->fields[number].data = bytes;
    for (int way = 0; way < 5; way++) {
        static const int size_change[] = {0, 0, 1, -1, 0};
        if (field.size == 0 && way != 2)
            continue;
        size_t at = way == 0 ? 0 : field.size - 1;
        if (way < 2)
            bytes[at] ^= 1;
        key->fields[number].size = way == 4 ? 0 : field.size + (size_t)size_change[way];
        ck_assert_msg(!is_found(cache, key, key->count), "%s: field %s, change %d gives a hit", key->kind, field.label,
                      way);
        if (way < 2)
            bytes[at] ^= 1;
    }
    key->fields[number] = field;
    free(bytes);
}

static void open_cache(pmm_config *config, pmm_cache *cache) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.cache_dir = directory;
    options.cache_mode = PORTMM_CACHE_READ_ONLY;
    ck_assert_int_eq(pmm_config_init(config, &options), PORTMM_STATUS_SUCCESS);
    ck_assert(pmm_cache_init(cache, config));
}

START_TEST(test_every_field_changed_alone) {
    static real_key key;
    pmm_config config;
    pmm_cache cache;
    open_cache(&config, &cache);
    for (size_t i = 0; i < entry_count; i++) {
        read_key(&entries[i], &key);
        ck_assert(is_found(&cache, &key, key.count));
        for (size_t number = 0; number < key.count; number++)
            change_field(&cache, &key, number);
        ck_assert_msg(!is_found(&cache, &key, key.count - 1), "%s: a key without its last field gives a hit", key.kind);
        key.kind[0] ^= 1;
        ck_assert_msg(!is_found(&cache, &key, key.count), "another kind than %s gives a hit", key.kind);
    }
    pmm_cache_fini(&cache);
    pmm_config_fini(&config);
}
END_TEST

static void expect_field(const real_key *key, const char *label) {
    for (size_t i = 0; i < key->count; i++)
        if (strcmp(key->labels[i], label) == 0)
            return;
    ck_abort_msg("the key of a %s has no field %s", key->kind, label);
}

/* What decides the bytes that a driver makes, by name: none may be dropped. */
START_TEST(test_fields_are_there) {
    static const char *const of_programs[] = {"source",
                                              "options",
                                              "platform.name",
                                              "platform.version",
                                              "device.name",
                                              "device.vendor",
                                              "device.version",
                                              "device.driver",
                                              "device.extensions",
                                              "environment.pocl",
                                              "environment.clblast"};
    static const char *const of_choices[] = {"library", "platform", "platform.version", "device", "driver",
                                             "engines", "class"};
    static real_key key;
    size_t programs = 0, choices = 0;
    for (size_t i = 0; i < entry_count; i++) {
        read_key(&entries[i], &key);
        bool is_program = strcmp(key.kind, "opencl program") == 0, is_choice = strcmp(key.kind, "engine choice") == 0;
        programs += is_program;
        choices += is_choice;
        for (size_t n = 0; is_program && n < sizeof of_programs / sizeof *of_programs; n++)
            expect_field(&key, of_programs[n]);
        for (size_t n = 0; is_choice && n < sizeof of_choices / sizeof *of_choices; n++)
            expect_field(&key, of_choices[n]);
    }
    ck_assert_uint_gt(programs, 0);
    ck_assert_uint_gt(choices, 0);
}
END_TEST

int main(void) {
    char command[96];
    strcpy(directory, "/tmp/portmm-test-XXXXXX");
    if (mkdtemp(directory) == NULL || !fill_cache()) {
        const char *required = getenv("PORTMM_TEST_REQUIRE");
        return required != NULL && strstr(required, "opencl") != NULL ? 1 : 77;
    }
    Suite *suite = suite_create("real entries");
    TCase *tests = tcase_create("real entries");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, test_entries_can_be_read);
    tcase_add_test(tests, test_every_byte_changed);
    tcase_add_test(tests, test_cut_at_every_length);
    tcase_add_test(tests, test_every_field_changed_alone);
    tcase_add_test(tests, test_fields_are_there);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    for (size_t i = 0; i < entry_count; i++) {
        free(entries[i].bytes);
        free(entries[i].key);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command) == 0 && failed == 0 ? 0 : 1;
}
