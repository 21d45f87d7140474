/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/key.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "cache/bytes.h"

static size_t measure_field(size_t label_size, size_t data_size) {
    return 4 + label_size + 8 + data_size;
}

static unsigned char *put_field(unsigned char *at, const char *label, const void *data, size_t size) {
    size_t label_size = strlen(label);
    pmm_put_u32(at, (uint32_t)label_size);
    memcpy(at + 4, label, label_size);
    at += 4 + label_size;
    pmm_put_u64(at, size);
    if (size > 0)
        memcpy(at + 8, data, size);
    return at + 8 + size;
}

unsigned char *pmm_key_encode(const pmm_cache_key *key, size_t *size) {
    static const char kind_label[] = "kind";
    size_t total = measure_field(strlen(kind_label), strlen(key->kind));
    for (size_t i = 0; i < key->count; i++)
        total += measure_field(strlen(key->fields[i].label), key->fields[i].size);
    unsigned char *encoded = malloc(total);
    if (encoded == NULL)
        return NULL;
    unsigned char *at = put_field(encoded, kind_label, key->kind, strlen(key->kind));
    for (size_t i = 0; i < key->count; i++)
        at = put_field(at, key->fields[i].label, key->fields[i].data, key->fields[i].size);
    *size = total;
    return encoded;
}

bool pmm_key_next(const unsigned char *encoded, size_t size, size_t *at, pmm_key_part *part) {
    size_t here = *at;
    if (size - here < 4)
        return false;
    size_t label_size = pmm_get_u32(encoded + here);
    here += 4;
    if (label_size > size - here || size - here - label_size < 8)
        return false;
    uint64_t data_size = pmm_get_u64(encoded + here + label_size);
    if (data_size > size - here - label_size - 8)
        return false;
    const unsigned char *data = encoded + here + label_size + 8;
    *part = (pmm_key_part){encoded + here, data, label_size, (size_t)data_size};
    *at = (size_t)(data - encoded) + (size_t)data_size;
    return true;
}

bool pmm_key_is_whole(const unsigned char *encoded, size_t size) {
    size_t at = 0;
    pmm_key_part part;
    while (pmm_key_next(encoded, size, &at, &part)) {
    }
    return at == size;
}

bool pmm_key_is_name(const char *name) {
    return strlen(name) == PMM_KEY_NAME_SIZE - 1 && strspn(name, "0123456789abcdef") == PMM_KEY_NAME_SIZE - 1;
}

void pmm_key_name(const unsigned char *encoded, size_t size, char name[PMM_KEY_NAME_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(encoded, size));
    for (size_t i = 0; i < sizeof hash.digest; i++) {
        name[2 * i] = digits[hash.digest[i] >> 4];
        name[2 * i + 1] = digits[hash.digest[i] & 15];
    }
    name[2 * sizeof hash.digest] = '\0';
}
