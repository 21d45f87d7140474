/* SPDX-License-Identifier: Apache-2.0 */
/* A sealed bundle: many entries in one file that is never changed and may lie anywhere. Pure functions on memory:
 * nothing here trusts what it reads. */
#ifndef PMM_CACHE_BUNDLE_H
#define PMM_CACHE_BUNDLE_H

#include <stdint.h>

#include "cache/entry.h"
#include "cache/key.h"

/*
 * The file, integers little-endian:
 *
 *      0   8  magic "PMMBUNDL"
 *      8   4  format
 *     12   4  zero
 *     16   8  number of entries
 *     24   8  size of the file
 *     32  16  XXH3-128 of all other bytes of header and index
 *     48   .  index, 64 bytes for each entry, sorted by name:
 *                 0  32  name, as made by pmm_key_name
 *                32   8  offset in the file: where the entry before it ends
 *                40   8  size
 *                48  16  XXH3-128 of the entry
 *      .   .  entries, each as its own file would be
 *
 * The sum of the head covers every entry through that entry's sum, so opening reads and checks the head alone, and a
 * look-up one entry: which pmm_entry_decode checks again, key included.
 */
#define PMM_BUNDLE_FORMAT 1u
#define PMM_BUNDLE_HEADER 48
#define PMM_BUNDLE_MAX_ENTRIES ((size_t)1 << 20)
#define PMM_BUNDLE_MAX_HEAD (PMM_BUNDLE_HEADER + 64 * PMM_BUNDLE_MAX_ENTRIES)
#define PMM_BUNDLE_MAX_FILE ((uint64_t)1 << 40)

typedef struct pmm_bundle {
    const unsigned char *index; /* of the bytes that were opened */
    size_t count;
} pmm_bundle;

typedef struct pmm_bundle_item {
    char name[PMM_KEY_NAME_SIZE];
    uint64_t offset;
    size_t size;
    const unsigned char *sum;
} pmm_bundle_item;

/* How many bytes from the start of the file pmm_bundle_open needs; 0: this is no bundle of this format. `size` of
 * `bytes` is at least PMM_BUNDLE_HEADER, else 0. */
size_t pmm_bundle_head_size(const void *bytes, size_t size, uint64_t file_size);

/* `bytes` begin with the head of a file of `file_size` bytes (all of it may be there) and outlive the bundle. */
pmm_entry_verdict pmm_bundle_open(const void *bytes, size_t size, uint64_t file_size, pmm_bundle *bundle);

/* Both lie within the file. */
bool pmm_bundle_find(const pmm_bundle *bundle, const char *name, pmm_bundle_item *item);
pmm_bundle_item pmm_bundle_get(const pmm_bundle *bundle, size_t position); /* position < count */

/* Whether these item->size bytes are what was sealed. */
bool pmm_bundle_item_is_whole(const pmm_bundle_item *item, const void *bytes);

typedef struct pmm_bundle_part {
    char name[PMM_KEY_NAME_SIZE];
    const void *bytes;
    size_t size;
} pmm_bundle_part;

/* Sorts the parts and makes the bytes of a file, from malloc. NULL: no memory, beyond the format, or two parts of one
 * name. */
unsigned char *pmm_bundle_encode(pmm_bundle_part *parts, size_t count, size_t *size);

#endif
