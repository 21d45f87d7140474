/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of sealed bundles: whatever the bytes are, every entry of one that it opens lies within the file, behind
 * the entry before it, and is found under its name. */
#include "cache/bundle.h"
#include "fuzz.h"

unsigned long fuzz_accepted;

static void check_item(const pmm_bundle *bundle, const unsigned char *bytes, size_t size, const pmm_bundle_item *item) {
    pmm_bundle_item found;
    FUZZ_REQUIRE(item->offset <= size && item->size <= size - item->offset);
    /* A name may hold any byte in a bundle that someone made; one with a NUL is never asked for. */
    if (strlen(item->name) == PMM_KEY_NAME_SIZE - 1) {
        FUZZ_REQUIRE(pmm_bundle_find(bundle, item->name, &found));
        FUZZ_REQUIRE(found.offset == item->offset && found.size == item->size);
    }
    unsigned char *entry = fuzz_copy(bytes + item->offset, item->size);
    size_t key_size = 0, payload_size = 0;
    void *payload = NULL;
    const unsigned char *key = pmm_entry_key(entry, item->size, &key_size, &payload_size);
    if (pmm_bundle_item_is_whole(item, entry) && key != NULL &&
        pmm_entry_decode(entry, item->size, key, key_size, &payload, &payload_size) == PMM_ENTRY_GOOD)
        free(payload);
    free(entry);
}

static bool is_good(const unsigned char *bytes, size_t size) {
    pmm_bundle bundle;
    size_t head = pmm_bundle_head_size(bytes, size, size);
    FUZZ_REQUIRE(head <= size);
    if (pmm_bundle_open(bytes, size, size, &bundle) != PMM_ENTRY_GOOD)
        return false;
    FUZZ_REQUIRE(head >= PMM_BUNDLE_HEADER);
    uint64_t end = head;
    for (size_t i = 0; i < bundle.count; i++) {
        pmm_bundle_item item = pmm_bundle_get(&bundle, i);
        FUZZ_REQUIRE(item.offset == end);
        end += item.size;
        check_item(&bundle, bytes, size, &item);
    }
    FUZZ_REQUIRE(end == size);
    unsigned char *alone = fuzz_copy(bytes, head); /* the head is all that opening may need */
    FUZZ_REQUIRE(pmm_bundle_open(alone, head, size, &bundle) == PMM_ENTRY_GOOD);
    free(alone);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char *bytes = fuzz_copy(data, size);
    fuzz_accepted += is_good(bytes, size);
    size_t head = pmm_bundle_head_size(bytes, size, size);
    if (head > 0) {
        fuzz_seal(bytes, head);
        is_good(bytes, size);
    }
    free(bytes);
    return 0;
}
