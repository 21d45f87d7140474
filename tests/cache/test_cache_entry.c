/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of the cache as bytes: what is written is read back, and nothing else is ever taken for it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cache/entry.h"
#include "cache/key.h"

static const char key[] = "some key fields";
static unsigned char payload[3000];
static unsigned char *entry;
static size_t entry_size;

static void make_entry(void) {
    uint32_t state = 12345;
    for (size_t i = 0; i < sizeof payload; i++) {
        state = state * 1664525u + 1013904223u;
        payload[i] = (unsigned char)(i % 7 == 0 ? state >> 24 : 'x'); /* neither constant nor noise */
    }
    entry = pmm_entry_encode(key, sizeof key, payload, sizeof payload, &entry_size);
    ck_assert_ptr_nonnull(entry);
}

static void free_entry(void) {
    free(entry);
}

static pmm_entry_verdict decode(const unsigned char *bytes, size_t size) {
    void *read = NULL;
    size_t read_size = 0;
    pmm_entry_verdict verdict = pmm_entry_decode(bytes, size, key, sizeof key, &read, &read_size);
    if (verdict == PMM_ENTRY_GOOD) {
        ck_assert_uint_eq(read_size, sizeof payload);
        ck_assert_mem_eq(read, payload, sizeof payload);
    }
    free(read);
    return verdict;
}

START_TEST(test_round_trip) {
    ck_assert_int_eq(decode(entry, entry_size), PMM_ENTRY_GOOD);
}
END_TEST

START_TEST(test_empty_payload) {
    size_t size = 0, read_size = 1;
    void *read = NULL;
    unsigned char *bytes = pmm_entry_encode(key, sizeof key, "", 0, &size);
    ck_assert_int_eq(pmm_entry_decode(bytes, size, key, sizeof key, &read, &read_size), PMM_ENTRY_GOOD);
    ck_assert_uint_eq(read_size, 0);
    free(read);
    free(bytes);
}
END_TEST

START_TEST(test_every_flipped_byte_is_seen) {
    for (size_t i = 0; i < entry_size; i++)
        for (int bit = 0; bit < 8; bit++) {
            entry[i] ^= (unsigned char)(1 << bit);
            ck_assert_msg(decode(entry, entry_size) != PMM_ENTRY_GOOD, "byte %zu bit %d", i, bit);
            entry[i] ^= (unsigned char)(1 << bit);
        }
    ck_assert_int_eq(decode(entry, entry_size), PMM_ENTRY_GOOD);
}
END_TEST

START_TEST(test_every_length_is_seen) {
    for (size_t size = 0; size < entry_size; size++) {
        unsigned char *cut = malloc(size > 0 ? size : 1); /* of its own, so that a tool sees a read beyond it */
        memcpy(cut, entry, size);
        ck_assert_msg(decode(cut, size) != PMM_ENTRY_GOOD, "length %zu", size);
        free(cut);
    }
    unsigned char *longer = calloc(1, entry_size + 1);
    memcpy(longer, entry, entry_size);
    ck_assert_int_ne(decode(longer, entry_size + 1), PMM_ENTRY_GOOD);
    free(longer);
}
END_TEST

START_TEST(test_other_key) {
    void *read = NULL;
    size_t size = 0;
    ck_assert_int_eq(pmm_entry_decode(entry, entry_size, "some key fieldz", sizeof key, &read, &size),
                     PMM_ENTRY_OTHER_KEY);
    ck_assert_int_eq(pmm_entry_decode(entry, entry_size, key, sizeof key - 1, &read, &size), PMM_ENTRY_OTHER_KEY);
}
END_TEST

START_TEST(test_other_format) {
    entry[8]++;
    ck_assert_int_eq(decode(entry, entry_size), PMM_ENTRY_OTHER_FORMAT);
}
END_TEST

static void name_key(const char *kind, const pmm_key_field *fields, size_t count, char name[PMM_KEY_NAME_SIZE]) {
    size_t size = 0;
    unsigned char *encoded = pmm_key_encode(&(pmm_cache_key){kind, fields, count}, &size);
    pmm_key_name(encoded, size, name);
    free(encoded);
}

/* No part may flow into the next one: ("ab", "c") is not ("a", "bc"). */
START_TEST(test_each_part_of_a_key_counts) {
    const pmm_key_field fields[][2] = {{{"l1", "ab", 2}, {"l2", "c", 1}}, {{"l1", "a", 1}, {"l2", "bc", 2}},
                                       {{"l1", "ab", 2}, {"l3", "c", 1}}, {{"l1", "ab", 2}, {"l2", "", 0}},
                                       {{"l1", "ab", 2}, {"l2", "d", 1}}, {{"l2", "c", 1}, {"l1", "ab", 2}}};
    enum { COUNT = sizeof fields / sizeof *fields };
    char names[COUNT + 2][PMM_KEY_NAME_SIZE];
    for (size_t i = 0; i < COUNT; i++)
        name_key("kind", fields[i], 2, names[i]);
    name_key("kinds", fields[0], 2, names[COUNT]);
    name_key("kind", fields[0], 1, names[COUNT + 1]);
    for (size_t i = 0; i < COUNT + 2; i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(names[i], names[j]);
    char again[PMM_KEY_NAME_SIZE];
    name_key("kind", fields[0], 2, again);
    ck_assert_str_eq(names[0], again);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cache entry");
    TCase *tests = tcase_create("bytes");
    tcase_add_checked_fixture(tests, make_entry, free_entry);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_round_trip);
    tcase_add_test(tests, test_empty_payload);
    tcase_add_test(tests, test_every_flipped_byte_is_seen);
    tcase_add_test(tests, test_every_length_is_seen);
    tcase_add_test(tests, test_other_key);
    tcase_add_test(tests, test_other_format);
    tcase_add_test(tests, test_each_part_of_a_key_counts);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
