/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The on-disk store of one context: the user's directory, then tiers that are only read. No trouble of it reaches the
 * caller: it is counted, logged once, and a miss.
 *
 *     <cache_dir>/entries/<name>   one file for each entry (entry.h), named by its key (key.h)
 *     <cache_dir>/trials/<name>    entries that are not trusted yet (trial.h)
 *     <cache_dir>/locks/<name>     what one process at a time does
 *     <cache_dir>/statistics       see statistics.h
 */
#ifndef PMM_CACHE_STORE_H
#define PMM_CACHE_STORE_H

#include <stdatomic.h>

#include "cache/explain.h"
#include "cache/tier.h"
#include "config.h"
#include "platform.h"

#define PMM_CACHE_ENTRIES "entries"
#define PMM_CACHE_LOCKS "locks"
#define PMM_CACHE_TRIALS "trials"

typedef struct pmm_trial pmm_trial;
typedef struct pmm_flight pmm_flight;

typedef struct pmm_cache {
    const pmm_config *config; /* mode, directory, log */
    char *identity;           /* mode, directory and tiers */
    pmm_tiers tiers;          /* behind the user's directory */
    int64_t process;          /* that made it */
    pmm_mutex mutex;          /* of the reason, the trials, the flights and the misses */
    char reason[PMM_IO_TEXT];
    pmm_trial *trials;   /* taken by this process */
    pmm_flight *flights; /* held by this cache; see flight.h */
    atomic_int flight_count;
    atomic_uint_fast64_t waited_ns;
    atomic_uint_fast64_t hits, misses, stores, bypassed, healed, faults, bytes, helpers;
    atomic_uint_fast64_t memory_hits, evicted, compiled, waited, gave_up, remembered;
    atomic_uint_fast64_t on_trial; /* entries put there and not handed to a process that tries them */
    pmm_missed missed;             /* under the mutex */
    bool counts_nothing;           /* of a tool: not for the statistics */
} pmm_cache;

/* `config` outlives the cache. False: no memory. */
bool pmm_cache_init(pmm_cache *cache, const pmm_config *config);
void pmm_cache_fini(pmm_cache *cache);

/* Whether there is a directory to read, to write. */
bool pmm_cache_has_directory(const pmm_cache *cache);
bool pmm_cache_can_write(const pmm_cache *cache);
/* Whether this process tries what is on trial. */
bool pmm_cache_is_proving(const pmm_cache *cache);

/* See pmm_host. */
bool pmm_cache_get(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size);
/* As get, without counting: for who looks again and again. */
bool pmm_cache_peek(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size);
/* The two parts of get: what it finds, and what it counts and logs. */
bool pmm_cache_find(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size);
void pmm_cache_note_look(pmm_cache *cache, const pmm_cache_key *key, bool found, size_t size);
bool pmm_cache_put(pmm_cache *cache, const pmm_cache_key *key, const void *data, size_t size);
void pmm_cache_reject(pmm_cache *cache, const pmm_cache_key *key, const char *why);

/* One holder for each key among all processes. Does not wait; false: another has it, or there is no way to lock. The
 * lock lasts until every process that has *file open has closed it. */
bool pmm_cache_lock(pmm_cache *cache, const pmm_cache_key *key, int *file);

/* One trouble: the first is told, all are counted. */
void pmm_cache_note_fault(pmm_cache *cache, const char *why);

#endif
