/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries on trial. Some drivers hand out, with success, a binary that ends the next process that loads it: PoCL does
 * when its own files were removed meanwhile. So a binary that was taken from a driver lies in <cache_dir>/trials, where
 * no look-up finds it, until a process of its own, which may die of it, has loaded it and run a product with it.
 */
#ifndef PMM_CACHE_TRIAL_H
#define PMM_CACHE_TRIAL_H

#include "cache/store.h"

/* As pmm_cache_put. */
bool pmm_trial_put(pmm_cache *cache, const pmm_cache_key *key, const void *data, size_t size);

/* For the process that tries. Takes the entry out of the directory first, so that one that kills is gone. */
bool pmm_trial_take(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size);
/* The driver refused it. */
void pmm_trial_drop(pmm_cache *cache, const pmm_cache_key *key);
/* What was taken and not dropped becomes an entry like others. */
void pmm_trial_publish(pmm_cache *cache);

void pmm_trial_fini(pmm_cache *cache);

#endif
