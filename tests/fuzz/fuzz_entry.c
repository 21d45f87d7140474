/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of cache entries: whatever the bytes are it stays within them, and what it takes for good is an entry that
 * says the same when written again. */
#include "cache/entry.h"
#include "cache/key.h"
#include "fuzz.h"

unsigned long fuzz_accepted;

static void check_key(const unsigned char *key, size_t size) {
    pmm_key_part part;
    size_t at = 0, before = 0;
    while (pmm_key_next(key, size, &at, &part)) {
        FUZZ_REQUIRE(at > before && at <= size);
        FUZZ_REQUIRE(part.label >= key + before && part.label + part.label_size <= part.data);
        FUZZ_REQUIRE(part.data + part.size == key + at);
        before = at;
    }
    char name[PMM_KEY_NAME_SIZE];
    pmm_key_name(key, size, name);
    FUZZ_REQUIRE(strlen(name) == PMM_KEY_NAME_SIZE - 1);
}

static void check_round_trip(const unsigned char *key, size_t key_size, const void *payload, size_t payload_size) {
    size_t size = 0, again_size = 0;
    void *again = NULL;
    unsigned char *bytes = pmm_entry_encode(key, key_size, payload, payload_size, &size);
    FUZZ_REQUIRE(bytes != NULL);
    FUZZ_REQUIRE(pmm_entry_decode(bytes, size, key, key_size, &again, &again_size) == PMM_ENTRY_GOOD);
    FUZZ_REQUIRE(again_size == payload_size && memcmp(again, payload, payload_size) == 0);
    free(again);
    free(bytes);
}

static bool is_good(const unsigned char *bytes, size_t size) {
    size_t key_size = 0, stated_size = 0, payload_size = 0;
    void *payload = NULL;
    const unsigned char *key = pmm_entry_key(bytes, size, &key_size, &stated_size);
    if (key == NULL) {
        FUZZ_REQUIRE(pmm_entry_decode(bytes, size, "", 0, &payload, &payload_size) != PMM_ENTRY_GOOD);
        return false;
    }
    FUZZ_REQUIRE(key >= bytes && key_size <= size - (size_t)(key - bytes));
    check_key(key, key_size);
    pmm_entry_verdict verdict = pmm_entry_decode(bytes, size, key, key_size, &payload, &payload_size);
    FUZZ_REQUIRE(verdict != PMM_ENTRY_OTHER_KEY && pmm_entry_verdict_text(verdict)[0] != '\0');
    if (verdict != PMM_ENTRY_GOOD)
        return false;
    FUZZ_REQUIRE(payload_size == stated_size);
    check_round_trip(key, key_size, payload, payload_size);
    free(payload);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char *bytes = fuzz_copy(data, size);
    fuzz_accepted += is_good(bytes, size);
    if (size >= 48) {
        fuzz_seal(bytes, size);
        is_good(bytes, size);
    }
    free(bytes);
    return 0;
}
