/* SPDX-License-Identifier: Apache-2.0 */
/* One entry as the bytes of its file. Pure functions on memory: nothing here trusts what it reads. */
#ifndef PMM_CACHE_ENTRY_H
#define PMM_CACHE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The file, integers little-endian:
 *
 *      0   8  magic "PMMCACHE"
 *      8   4  format
 *     12   4  size of the key
 *     16   8  size of the packed payload
 *     24   8  size of the payload
 *     32  16  XXH3-128 of all other bytes of the file
 *     48   .  key, as made by pmm_key_encode
 *      .   .  payload, packed by zstd
 */
#define PMM_ENTRY_FORMAT 1u
#define PMM_ENTRY_MAX_PAYLOAD ((size_t)1 << 30)
#define PMM_ENTRY_MAX_KEY ((size_t)64 << 20) /* the source text of a program is part of its key */
#define PMM_ENTRY_MAX_FILE (PMM_ENTRY_MAX_PAYLOAD + PMM_ENTRY_MAX_KEY + 64)

typedef enum pmm_entry_verdict {
    PMM_ENTRY_GOOD,
    PMM_ENTRY_DAMAGED,      /* cut, changed, or not an entry */
    PMM_ENTRY_OTHER_FORMAT, /* of another version of the library */
    PMM_ENTRY_OTHER_KEY,    /* renamed file or collision of names */
    PMM_ENTRY_NO_MEMORY
} pmm_entry_verdict;

/* "damaged" and so on. */
const char *pmm_entry_verdict_text(pmm_entry_verdict verdict);

/* From malloc; NULL when memory is out or a size is beyond the format. */
unsigned char *pmm_entry_encode(const void *key, size_t key_size, const void *payload, size_t payload_size,
                                size_t *size);

/* The key within the bytes, and the payload's size; not checked but for bounds. NULL: these are no entry. */
const unsigned char *pmm_entry_key(const unsigned char *bytes, size_t size, size_t *key_size, size_t *payload_size);

/* Checks everything, then unpacks. *payload is from malloc. */
pmm_entry_verdict pmm_entry_decode(const unsigned char *bytes, size_t size, const void *key, size_t key_size,
                                   void **payload, size_t *payload_size);

#endif
