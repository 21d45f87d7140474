/* SPDX-License-Identifier: Apache-2.0 */
/* A build that failed, as an entry: when it may be tried again, then the reason. */
#ifndef PMM_CACHE_FAILURE_H
#define PMM_CACHE_FAILURE_H

#include "cache/store.h"

/* The kind of such an entry is this before the program's kind. */
#define PMM_FAILURE_KIND "failed "
#define PMM_FAILURE_TEXT 512
#define PMM_FAILURE_LIFETIME_NS INT64_C(600000000000) /* ten minutes */

/* Nanoseconds since 1970; 0: these bytes are none. */
int64_t pmm_failure_expiry(const void *payload, size_t size);

/* See pmm_host.cache_failed and cache_fail. */
bool pmm_cache_recall_failure(pmm_cache *cache, const pmm_cache_key *key, char *reason, size_t size);
void pmm_cache_remember_failure(pmm_cache *cache, const pmm_cache_key *key, const char *reason);

#endif
