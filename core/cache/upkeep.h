/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps the user's directory small and clean. */
#ifndef PMM_CACHE_UPKEEP_H
#define PMM_CACHE_UPKEEP_H

#include "cache/store.h"

typedef struct pmm_trimmed {
    uint64_t removed, removed_bytes; /* entries; with dry_run: that would be */
    uint64_t kept, kept_bytes;
    uint64_t leftovers; /* files of killed processes, removed besides */
    uint64_t failed;    /* could not be removed */
} pmm_trimmed;

/* What is to be said of the user's directory itself. */
pmm_io pmm_cache_look(const pmm_cache *cache, char why[PMM_IO_TEXT]);

/* The entries of the user's directory, the least recently used first. *files is from malloc. MISSING: no directory. */
pmm_io pmm_cache_list(const pmm_cache *cache, pmm_file_info **files, size_t *count, char why[PMM_IO_TEXT]);

/* Reads the bytes of an entry of the user's directory; unchecked, its stamp is left. *bytes is from malloc. */
pmm_io pmm_cache_read(const pmm_cache *cache, const char *name, void **bytes, size_t *size, pmm_file_id *id,
                      char why[PMM_IO_TEXT]);
/* Writes the bytes of an entry that was checked. */
pmm_io pmm_cache_write(const pmm_cache *cache, const char *name, const void *bytes, size_t size, char why[PMM_IO_TEXT]);
/* Removes it if it is still that file; else MISSING. */
pmm_io pmm_cache_remove(const pmm_cache *cache, const char *name, const pmm_file_id *id, char why[PMM_IO_TEXT]);

/* Removes the least recently used entries until at most `limit` bytes are left, and files that killed processes left.
 */
pmm_io pmm_cache_trim(pmm_cache *cache, uint64_t limit, bool dry_run, pmm_trimmed *trimmed, char why[PMM_IO_TEXT]);
/* Removes all entries, all leftovers and the statistics. */
pmm_io pmm_cache_clear(pmm_cache *cache, bool dry_run, pmm_trimmed *trimmed, char why[PMM_IO_TEXT]);

/* After a store: where the cache is larger than config->cache_max_size, trims it to 90 % of that. */
void pmm_cache_evict(pmm_cache *cache);

#endif
