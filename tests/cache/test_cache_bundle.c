/* SPDX-License-Identifier: Apache-2.0 */
/* Bundles as bytes: what was sealed is found, and no changed byte goes unseen. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "cache/bundle.h"
#include "cache/bytes.h"

enum { ENTRIES = 37 };

static pmm_bundle_part parts[ENTRIES];
static char *texts[ENTRIES];
static unsigned char *file;
static size_t file_size;
static pmm_bundle bundle;

static void make_bundle(void) {
    for (size_t i = 0; i < ENTRIES; i++) {
        char text[64];
        size_t size = (size_t)snprintf(text, sizeof text, "entry %zu%*s", i, (int)(i % 11), "");
        texts[i] = malloc(size);
        memcpy(texts[i], text, size);
        parts[i] = (pmm_bundle_part){.bytes = texts[i], .size = size};
        pmm_key_name((const unsigned char *)text, size, parts[i].name);
    }
    file = pmm_bundle_encode(parts, ENTRIES, &file_size);
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(pmm_bundle_open(file, file_size, file_size, &bundle), PMM_ENTRY_GOOD);
}

static void free_bundle(void) {
    free(file);
    for (size_t i = 0; i < ENTRIES; i++)
        free(texts[i]);
}

START_TEST(test_every_entry_is_found) {
    ck_assert_uint_eq(bundle.count, ENTRIES);
    for (size_t i = 0; i < ENTRIES; i++) {
        pmm_bundle_item item;
        ck_assert(pmm_bundle_find(&bundle, parts[i].name, &item));
        ck_assert_str_eq(item.name, parts[i].name);
        ck_assert_uint_eq(item.size, parts[i].size);
        ck_assert_mem_eq(file + item.offset, parts[i].bytes, item.size);
        ck_assert(pmm_bundle_item_is_whole(&item, file + item.offset));
    }
}
END_TEST

START_TEST(test_other_names_are_not_found) {
    pmm_bundle_item item;
    ck_assert(!pmm_bundle_find(&bundle, "00000000000000000000000000000000", &item));
    ck_assert(!pmm_bundle_find(&bundle, "ffffffffffffffffffffffffffffffff", &item));
    ck_assert(!pmm_bundle_find(&bundle, "", &item));
    char longer[PMM_KEY_NAME_SIZE + 1];
    snprintf(longer, sizeof longer, "%s0", parts[0].name);
    ck_assert(!pmm_bundle_find(&bundle, longer, &item));
}
END_TEST

START_TEST(test_head_alone_is_enough) {
    size_t head = pmm_bundle_head_size(file, PMM_BUNDLE_HEADER, file_size);
    ck_assert_uint_eq(head, PMM_BUNDLE_HEADER + 64 * ENTRIES);
    unsigned char *copy = malloc(head);
    memcpy(copy, file, head);
    pmm_bundle_item item;
    ck_assert_int_eq(pmm_bundle_open(copy, head, file_size, &bundle), PMM_ENTRY_GOOD);
    ck_assert(pmm_bundle_find(&bundle, parts[3].name, &item));
    ck_assert_int_eq(pmm_bundle_open(copy, head - 1, file_size, &bundle), PMM_ENTRY_DAMAGED);
    ck_assert_int_eq(pmm_bundle_open(copy, head, file_size + 1, &bundle), PMM_ENTRY_DAMAGED);
    ck_assert_uint_eq(pmm_bundle_head_size(file, PMM_BUNDLE_HEADER - 1, file_size), 0);
    free(copy);
}
END_TEST

static bool is_whole(void) {
    pmm_bundle opened;
    if (pmm_bundle_open(file, file_size, file_size, &opened) != PMM_ENTRY_GOOD)
        return false;
    for (size_t i = 0; i < opened.count; i++) {
        pmm_bundle_item item = pmm_bundle_get(&opened, i);
        if (!pmm_bundle_item_is_whole(&item, file + item.offset))
            return false;
    }
    return true;
}

START_TEST(test_every_flipped_byte_is_seen) {
    for (size_t i = 0; i < file_size; i++)
        for (int bit = 0; bit < 8; bit++) {
            file[i] ^= (unsigned char)(1 << bit);
            ck_assert_msg(!is_whole(), "byte %zu bit %d", i, bit);
            file[i] ^= (unsigned char)(1 << bit);
        }
    ck_assert(is_whole());
}
END_TEST

START_TEST(test_every_length_is_seen) {
    pmm_bundle opened;
    for (size_t size = 0; size < file_size; size++) {
        unsigned char *cut = malloc(size > 0 ? size : 1); /* of its own, so that a tool sees a read beyond it */
        memcpy(cut, file, size);
        ck_assert_msg(pmm_bundle_open(cut, size, size, &opened) != PMM_ENTRY_GOOD, "length %zu", size);
        free(cut);
    }
}
END_TEST

/* Makes the sum right again, as someone would who plants a bundle. */
static pmm_entry_verdict open_resealed(size_t at, uint64_t value) {
    unsigned char *changed = malloc(file_size);
    memcpy(changed, file, file_size);
    pmm_put_u64(changed + at, value);
    XXH128_hash_t header = XXH3_128bits(changed, 32);
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(
        &sum, XXH3_128bits_withSeed(changed + PMM_BUNDLE_HEADER, 64 * ENTRIES, header.low64 ^ header.high64));
    memcpy(changed + 32, sum.digest, sizeof sum.digest);
    pmm_bundle opened;
    pmm_entry_verdict verdict = pmm_bundle_open(changed, file_size, file_size, &opened);
    free(changed);
    return verdict;
}

START_TEST(test_impossible_numbers_are_refused) {
    ck_assert_int_eq(open_resealed(16, ENTRIES), PMM_ENTRY_GOOD); /* the sum is made as it should be */
    static const uint64_t numbers[] = {0, 1, UINT64_MAX, UINT64_MAX / 64, (uint64_t)1 << 58, (uint64_t)1 << 20};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ck_assert_int_ne(open_resealed(16, numbers[i]), PMM_ENTRY_GOOD);
        ck_assert_int_ne(open_resealed(24, numbers[i]), PMM_ENTRY_GOOD);
        ck_assert_int_ne(open_resealed(PMM_BUNDLE_HEADER + 32, numbers[i]), PMM_ENTRY_GOOD);
        ck_assert_int_ne(open_resealed(PMM_BUNDLE_HEADER + 40, numbers[i]), PMM_ENTRY_GOOD);
    }
    pmm_put_u32(file + 8, PMM_BUNDLE_FORMAT + 1);
    ck_assert_int_eq(pmm_bundle_open(file, file_size, file_size, &bundle), PMM_ENTRY_OTHER_FORMAT);
}
END_TEST

START_TEST(test_order_of_parts_does_not_matter) {
    pmm_bundle_part turned[ENTRIES];
    for (size_t i = 0; i < ENTRIES; i++)
        turned[i] = parts[ENTRIES - 1 - i];
    size_t size = 0;
    unsigned char *again = pmm_bundle_encode(turned, ENTRIES, &size);
    ck_assert_uint_eq(size, file_size);
    ck_assert_mem_eq(again, file, size);
    free(again);
}
END_TEST

START_TEST(test_no_entry_and_a_name_twice) {
    size_t size = 0;
    unsigned char *empty = pmm_bundle_encode(NULL, 0, &size);
    ck_assert_uint_eq(size, PMM_BUNDLE_HEADER);
    ck_assert_int_eq(pmm_bundle_open(empty, size, size, &bundle), PMM_ENTRY_GOOD);
    pmm_bundle_item item;
    ck_assert(!pmm_bundle_find(&bundle, parts[0].name, &item));
    free(empty);
    pmm_bundle_part twice[2] = {parts[0], parts[0]};
    ck_assert_ptr_null(pmm_bundle_encode(twice, 2, &size));
}
END_TEST

START_TEST(test_key_fields_are_read_back) {
    const pmm_key_field fields[] = {{"source", "text", 4}, {"empty", "", 0}};
    size_t size = 0, at = 0;
    unsigned char *key = pmm_key_encode(&(pmm_cache_key){"program", fields, 2}, &size);
    static const char *const expected[][2] = {{"kind", "program"}, {"source", "text"}, {"empty", ""}};
    pmm_key_part part;
    for (size_t i = 0; i < 3; i++) {
        ck_assert(pmm_key_next(key, size, &at, &part));
        ck_assert_uint_eq(part.label_size, strlen(expected[i][0]));
        ck_assert_mem_eq(part.label, expected[i][0], part.label_size);
        ck_assert_uint_eq(part.size, strlen(expected[i][1]));
        ck_assert_mem_eq(part.data, expected[i][1], part.size);
    }
    ck_assert_uint_eq(at, size);
    ck_assert(!pmm_key_next(key, size, &at, &part));
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *shorter = malloc(cut > 0 ? cut : 1);
        memcpy(shorter, key, cut);
        for (at = 0; pmm_key_next(shorter, cut, &at, &part);)
            continue;
        ck_assert_uint_le(at, cut);
        free(shorter);
    }
    free(key);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cache bundle");
    TCase *tests = tcase_create("bundle");
    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, make_bundle, free_bundle);
    tcase_add_test(tests, test_every_entry_is_found);
    tcase_add_test(tests, test_other_names_are_not_found);
    tcase_add_test(tests, test_head_alone_is_enough);
    tcase_add_test(tests, test_every_flipped_byte_is_seen);
    tcase_add_test(tests, test_every_length_is_seen);
    tcase_add_test(tests, test_impossible_numbers_are_refused);
    tcase_add_test(tests, test_order_of_parts_does_not_matter);
    tcase_add_test(tests, test_no_entry_and_a_name_twice);
    tcase_add_test(tests, test_key_fields_are_read_back);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
