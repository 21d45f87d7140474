/* SPDX-License-Identifier: Apache-2.0 */
/* What an entry depends on, as bytes, and the file name made from them. */
#ifndef PMM_CACHE_KEY_H
#define PMM_CACHE_KEY_H

#include <portmm/backend.h>

#define PMM_KEY_NAME_SIZE 33 /* 128 bits in hexadecimal, and the NUL */

/* All of a key: the kind, then each field, labelled and length-prefixed, so that no two keys give the same bytes.
 * From malloc; NULL when memory is out. */
unsigned char *pmm_key_encode(const pmm_cache_key *key, size_t *size);

/* One field of an encoded key; neither part ends with a NUL. */
typedef struct pmm_key_part {
    const unsigned char *label, *data;
    size_t label_size, size;
} pmm_key_part;

/* Reads the field at *at, from 0 on, and moves *at behind it. False: no field there. All is well at the end of the
 * key if *at is its size. */
bool pmm_key_next(const unsigned char *encoded, size_t size, size_t *at, pmm_key_part *part);

/* Whether fields fill it to its end. */
bool pmm_key_is_whole(const unsigned char *encoded, size_t size);

/* Whether it can be a name. */
bool pmm_key_is_name(const char *name);

void pmm_key_name(const unsigned char *encoded, size_t size, char name[PMM_KEY_NAME_SIZE]);

#endif
