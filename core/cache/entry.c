/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/entry.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>
#include <zstd.h>

#include "cache/bytes.h"

#define CHECKED_HEADER 32
#define HEADER 48
#define ZSTD_LEVEL 3
#define ZSTD_MAX_RATIO 32768 /* a block of 128 KiB takes 4 bytes or more */

static const unsigned char magic[8] = {'P', 'M', 'M', 'C', 'A', 'C', 'H', 'E'};

/* Of the header's first part and everything behind the sum itself. */
static XXH128_canonical_t sum_entry(const unsigned char *bytes, size_t size) {
    XXH128_hash_t header = XXH3_128bits(bytes, CHECKED_HEADER);
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits_withSeed(bytes + HEADER, size - HEADER, header.low64 ^ header.high64));
    return sum;
}

const char *pmm_entry_verdict_text(pmm_entry_verdict verdict) {
    static const char *const texts[] = {"good", "damaged", "of another format", "of another key",
                                        "too large for memory"};
    return texts[verdict];
}

unsigned char *pmm_entry_encode(const void *key, size_t key_size, const void *payload, size_t payload_size,
                                size_t *size) {
    if (key_size > PMM_ENTRY_MAX_KEY || payload_size > PMM_ENTRY_MAX_PAYLOAD)
        return NULL;
    size_t bound = ZSTD_compressBound(payload_size);
    unsigned char *bytes = malloc(HEADER + key_size + bound);
    if (bytes == NULL)
        return NULL;
    size_t packed = ZSTD_compress(bytes + HEADER + key_size, bound, payload, payload_size, ZSTD_LEVEL);
    if (ZSTD_isError(packed)) {
        free(bytes);
        return NULL;
    }
    memcpy(bytes, magic, sizeof magic);
    pmm_put_u32(bytes + 8, PMM_ENTRY_FORMAT);
    pmm_put_u32(bytes + 12, (uint32_t)key_size);
    pmm_put_u64(bytes + 16, packed);
    pmm_put_u64(bytes + 24, payload_size);
    memcpy(bytes + HEADER, key, key_size);
    *size = HEADER + key_size + packed;
    XXH128_canonical_t sum = sum_entry(bytes, *size);
    memcpy(bytes + CHECKED_HEADER, sum.digest, sizeof sum.digest);
    return bytes;
}

static pmm_entry_verdict check_entry(const unsigned char *bytes, size_t size, const void *key, size_t key_size) {
    if (size < HEADER || memcmp(bytes, magic, sizeof magic) != 0)
        return PMM_ENTRY_DAMAGED;
    if (pmm_get_u32(bytes + 8) != PMM_ENTRY_FORMAT)
        return PMM_ENTRY_OTHER_FORMAT;
    size_t rest = size - HEADER;
    uint32_t stored_key_size = pmm_get_u32(bytes + 12);
    if (stored_key_size > rest || pmm_get_u64(bytes + 16) != rest - stored_key_size ||
        pmm_get_u64(bytes + 24) > PMM_ENTRY_MAX_PAYLOAD)
        return PMM_ENTRY_DAMAGED;
    XXH128_canonical_t sum = sum_entry(bytes, size);
    if (memcmp(bytes + CHECKED_HEADER, sum.digest, sizeof sum.digest) != 0)
        return PMM_ENTRY_DAMAGED;
    if (stored_key_size != key_size || memcmp(bytes + HEADER, key, key_size) != 0)
        return PMM_ENTRY_OTHER_KEY;
    return PMM_ENTRY_GOOD;
}

const unsigned char *pmm_entry_key(const unsigned char *bytes, size_t size, size_t *key_size, size_t *payload_size) {
    if (size < HEADER || memcmp(bytes, magic, sizeof magic) != 0 || pmm_get_u32(bytes + 8) != PMM_ENTRY_FORMAT)
        return NULL;
    size_t stored_key_size = pmm_get_u32(bytes + 12);
    if (stored_key_size > size - HEADER || pmm_get_u64(bytes + 24) > PMM_ENTRY_MAX_PAYLOAD)
        return NULL;
    *key_size = stored_key_size;
    *payload_size = (size_t)pmm_get_u64(bytes + 24);
    return bytes + HEADER;
}

/* Before memory is taken for it: a small file must not ask for a gigabyte. */
static bool can_unpack(const unsigned char *packed, size_t packed_size, size_t unpacked) {
    return unpacked / ZSTD_MAX_RATIO <= packed_size && ZSTD_getFrameContentSize(packed, packed_size) == unpacked;
}

pmm_entry_verdict pmm_entry_decode(const unsigned char *bytes, size_t size, const void *key, size_t key_size,
                                   void **payload, size_t *payload_size) {
    pmm_entry_verdict verdict = check_entry(bytes, size, key, key_size);
    if (verdict != PMM_ENTRY_GOOD)
        return verdict;
    size_t packed = size - HEADER - key_size, unpacked = (size_t)pmm_get_u64(bytes + 24);
    if (!can_unpack(bytes + HEADER + key_size, packed, unpacked))
        return PMM_ENTRY_DAMAGED;
    void *data = malloc(unpacked > 0 ? unpacked : 1);
    if (data == NULL)
        return PMM_ENTRY_NO_MEMORY;
    if (ZSTD_decompress(data, unpacked, bytes + HEADER + key_size, packed) != unpacked) {
        free(data);
        return PMM_ENTRY_DAMAGED;
    }
    *payload = data;
    *payload_size = unpacked;
    return PMM_ENTRY_GOOD;
}
