/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that were looked for in vain, kept to tell why. */
#ifndef PMM_CACHE_EXPLAIN_H
#define PMM_CACHE_EXPLAIN_H

#include <stddef.h>

#define PMM_MAX_MISSED 16

typedef struct pmm_missed {
    unsigned char *keys[PMM_MAX_MISSED]; /* encoded, from malloc */
    size_t sizes[PMM_MAX_MISSED];
    size_t count;
} pmm_missed;

/* Takes `key` or frees it. */
void pmm_missed_add(pmm_missed *missed, unsigned char *key, size_t size);
void pmm_missed_fini(pmm_missed *missed);

#endif
