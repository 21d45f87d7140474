/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/bundle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "cache/bytes.h"

#define CHECKED_HEADER 32
#define RECORD 64
#define NAME (PMM_KEY_NAME_SIZE - 1)

static const unsigned char magic[8] = {'P', 'M', 'M', 'B', 'U', 'N', 'D', 'L'};

static XXH128_canonical_t sum_bytes(const void *bytes, size_t size) {
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes, size));
    return sum;
}

/* Of the header's first part and the index. */
static XXH128_canonical_t sum_head(const unsigned char *bytes, size_t size) {
    XXH128_hash_t header = XXH3_128bits(bytes, CHECKED_HEADER);
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(
        &sum, XXH3_128bits_withSeed(bytes + PMM_BUNDLE_HEADER, size - PMM_BUNDLE_HEADER, header.low64 ^ header.high64));
    return sum;
}

static bool is_bundle(const unsigned char *bytes, size_t size) {
    return size >= PMM_BUNDLE_HEADER && memcmp(bytes, magic, sizeof magic) == 0;
}

size_t pmm_bundle_head_size(const void *bytes, size_t size, uint64_t file_size) {
    const unsigned char *header = bytes;
    if (!is_bundle(header, size) || pmm_get_u32(header + 8) != PMM_BUNDLE_FORMAT ||
        pmm_get_u64(header + 24) != file_size || file_size > PMM_BUNDLE_MAX_FILE)
        return 0;
    uint64_t count = pmm_get_u64(header + 16);
    if (count > PMM_BUNDLE_MAX_ENTRIES || PMM_BUNDLE_HEADER + RECORD * count > file_size)
        return 0;
    return (size_t)(PMM_BUNDLE_HEADER + RECORD * count);
}

pmm_bundle_item pmm_bundle_get(const pmm_bundle *bundle, size_t position) {
    assert(position < bundle->count);
    const unsigned char *record = bundle->index + RECORD * position;
    pmm_bundle_item item = {.offset = pmm_get_u64(record + NAME),
                            .size = (size_t)pmm_get_u64(record + NAME + 8),
                            .sum = record + NAME + 16};
    memcpy(item.name, record, NAME);
    return item;
}

/* Names rise, and entries fill the file without a gap. */
static bool check_index(const pmm_bundle *bundle, uint64_t file_size) {
    uint64_t end = PMM_BUNDLE_HEADER + RECORD * bundle->count;
    for (size_t i = 0; i < bundle->count; i++) {
        const unsigned char *record = bundle->index + RECORD * i;
        uint64_t size = pmm_get_u64(record + NAME + 8);
        if (i > 0 && memcmp(record - RECORD, record, NAME) >= 0)
            return false;
        if (pmm_get_u64(record + NAME) != end || size > file_size - end || size > PMM_ENTRY_MAX_FILE)
            return false;
        end += size;
    }
    return end == file_size;
}

pmm_entry_verdict pmm_bundle_open(const void *bytes, size_t size, uint64_t file_size, pmm_bundle *bundle) {
    const unsigned char *header = bytes;
    if (is_bundle(header, size) && pmm_get_u32(header + 8) != PMM_BUNDLE_FORMAT)
        return PMM_ENTRY_OTHER_FORMAT;
    size_t head = pmm_bundle_head_size(bytes, size, file_size);
    if (head == 0 || head > size)
        return PMM_ENTRY_DAMAGED;
    XXH128_canonical_t sum = sum_head(header, head);
    pmm_bundle opened = {header + PMM_BUNDLE_HEADER, (head - PMM_BUNDLE_HEADER) / RECORD};
    if (memcmp(header + CHECKED_HEADER, sum.digest, sizeof sum.digest) != 0 || !check_index(&opened, file_size))
        return PMM_ENTRY_DAMAGED;
    *bundle = opened;
    return PMM_ENTRY_GOOD;
}

bool pmm_bundle_find(const pmm_bundle *bundle, const char *name, pmm_bundle_item *item) {
    size_t low = 0, high = bundle->count;
    if (strlen(name) != NAME)
        return false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(name, bundle->index + RECORD * middle, NAME);
        if (order == 0) {
            *item = pmm_bundle_get(bundle, middle);
            return true;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

bool pmm_bundle_item_is_whole(const pmm_bundle_item *item, const void *bytes) {
    XXH128_canonical_t sum = sum_bytes(bytes, item->size);
    return memcmp(item->sum, sum.digest, sizeof sum.digest) == 0;
}

static int compare_parts(const void *left, const void *right) {
    return memcmp(((const pmm_bundle_part *)left)->name, ((const pmm_bundle_part *)right)->name, NAME);
}

/* 0: beyond the format, or a name twice. */
static size_t measure(const pmm_bundle_part *parts, size_t count) {
    if (count > PMM_BUNDLE_MAX_ENTRIES)
        return 0;
    size_t total = PMM_BUNDLE_HEADER + RECORD * count;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size > PMM_ENTRY_MAX_FILE || parts[i].size > PMM_BUNDLE_MAX_FILE - total ||
            (i > 0 && compare_parts(parts + i - 1, parts + i) == 0))
            return 0;
        total += parts[i].size;
    }
    return total;
}

unsigned char *pmm_bundle_encode(pmm_bundle_part *parts, size_t count, size_t *size) {
    if (count > 1)
        qsort(parts, count, sizeof *parts, compare_parts);
    size_t total = measure(parts, count);
    unsigned char *bytes = total > 0 ? calloc(1, total) : NULL;
    if (bytes == NULL)
        return NULL;
    memcpy(bytes, magic, sizeof magic);
    pmm_put_u32(bytes + 8, PMM_BUNDLE_FORMAT);
    pmm_put_u64(bytes + 16, count);
    pmm_put_u64(bytes + 24, total);
    size_t head = PMM_BUNDLE_HEADER + RECORD * count, at = head;
    for (size_t i = 0; i < count; i++) {
        unsigned char *record = bytes + PMM_BUNDLE_HEADER + RECORD * i;
        XXH128_canonical_t sum = sum_bytes(parts[i].bytes, parts[i].size);
        memcpy(record, parts[i].name, NAME);
        pmm_put_u64(record + NAME, at);
        pmm_put_u64(record + NAME + 8, parts[i].size);
        memcpy(record + NAME + 16, sum.digest, sizeof sum.digest);
        memcpy(bytes + at, parts[i].bytes, parts[i].size);
        at += parts[i].size;
    }
    XXH128_canonical_t sum = sum_head(bytes, head);
    memcpy(bytes + CHECKED_HEADER, sum.digest, sizeof sum.digest);
    *size = total;
    return bytes;
}
