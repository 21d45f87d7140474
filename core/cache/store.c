/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/entry.h"
#include "cache/flight.h"
#include "cache/key.h"
#include "cache/statistics.h"
#include "cache/trial.h"
#include "cache/upkeep.h"
#include "context.h"
#include "log.h"
#include "status.h"
#include "structs.h"

/* Where an installation may ship entries: from the directory of libportmm. */
#define PMM_CACHE_BESIDE "/portmm/cache"

/* A path that may be missing is nothing to tell; what is not trusted or damaged is. */
static void report_tier(void *user, pmm_io result, const char *why) {
    pmm_cache *cache = user;
    if (result == PMM_IO_MISSING)
        pmm_log(cache->config, PORTMM_LOG_DEBUG, "cache: %s", why);
    else
        pmm_cache_note_fault(cache, why);
}

static bool open_tiers(pmm_cache *cache) {
    static const char anchor;
    char own[4096];
    const char *path = cache->config->cache_path_ro;
    if (path != NULL && !pmm_tiers_add(&cache->tiers, path, false, report_tier, cache))
        return false;
    if (!pmm_directory_of(&anchor, own, sizeof own - sizeof PMM_CACHE_BESIDE))
        return true;
    strcat(own, PMM_CACHE_BESIDE);
    return pmm_tiers_add(&cache->tiers, own, true, report_tier, cache);
}

static char *make_identity(const pmm_config *config) {
    const char *const parts[] = {config->cache_mode == PORTMM_CACHE_READ_ONLY ? "ro" : "rw",
                                 config->cache_dir != NULL ? config->cache_dir : "none",
                                 config->cache_path_ro != NULL ? config->cache_path_ro : ""};
    size_t size = 3 + strlen(parts[0]) + strlen(parts[1]) + strlen(parts[2]);
    char *text = malloc(size);
    if (text != NULL)
        snprintf(text, size, "%s:%s:%s", parts[0], parts[1], parts[2]);
    return text;
}

bool pmm_cache_init(pmm_cache *cache, const pmm_config *config) {
    memset(cache, 0, sizeof *cache);
    cache->config = config;
    cache->process = pmm_process_number();
    snprintf(cache->reason, sizeof cache->reason, "%s", config->cache_reason);
    cache->identity = make_identity(config);
    if (!pmm_mutex_init(&cache->mutex) || cache->identity == NULL)
        return false;
    return config->cache_mode == PORTMM_CACHE_OFF || open_tiers(cache);
}

void pmm_cache_fini(pmm_cache *cache) {
    pmm_trial_fini(cache);
    pmm_flight_land(cache);
    if (cache->identity != NULL)
        pmm_statistics_add(cache);
    pmm_missed_fini(&cache->missed);
    pmm_tiers_fini(&cache->tiers);
    free(cache->identity);
    pmm_mutex_fini(&cache->mutex);
}

bool pmm_cache_has_directory(const pmm_cache *cache) {
    return cache->config->cache_mode != PORTMM_CACHE_OFF && cache->config->cache_dir != NULL;
}

bool pmm_cache_can_write(const pmm_cache *cache) {
    return pmm_cache_has_directory(cache) && cache->config->cache_mode != PORTMM_CACHE_READ_ONLY;
}

bool pmm_cache_is_proving(const pmm_cache *cache) {
    return pmm_cache_has_directory(cache) && cache->config->cache_mode == PORTMM_CACHE_PROVE;
}

void pmm_cache_note_fault(pmm_cache *cache, const char *why) {
    if (atomic_fetch_add(&cache->faults, 1) > 0)
        return;
    pmm_mutex_lock(&cache->mutex);
    snprintf(cache->reason, sizeof cache->reason, "%s", why);
    pmm_mutex_unlock(&cache->mutex);
    pmm_log(cache->config, PORTMM_LOG_WARNING, "cache: %s; programs are compiled instead", why);
}

static void remove_entry(pmm_cache *cache, const char *name, const pmm_file_id *id, const char *verdict) {
    char why[PMM_IO_TEXT];
    pmm_log(cache->config, PORTMM_LOG_WARNING, "cache: entry %s is %s", name, verdict);
    if (!pmm_cache_can_write(cache))
        return;
    pmm_io result = pmm_cache_remove(cache, name, id, why);
    if (result == PMM_IO_OK)
        atomic_fetch_add(&cache->healed, 1);
    else if (result == PMM_IO_FAULT || result == PMM_IO_REFUSED)
        pmm_cache_note_fault(cache, why);
}

/* ---- get ---- */

/* A key, encoded, and the name of its file. */
typedef struct encoded_key {
    unsigned char *bytes; /* NULL: no memory */
    size_t size;
    char name[PMM_KEY_NAME_SIZE];
} encoded_key;

static encoded_key encode_key(const pmm_cache_key *key) {
    encoded_key this = {.size = 0};
    this.bytes = pmm_key_encode(key, &this.size);
    if (this.bytes != NULL)
        pmm_key_name(this.bytes, this.size, this.name);
    return this;
}

static bool read_from_directory(pmm_cache *cache, const encoded_key *key, void **data, size_t *size) {
    char why[PMM_IO_TEXT];
    pmm_file_id id = {0};
    void *bytes = NULL;
    size_t file_size = 0;
    int directory;
    if (!pmm_cache_has_directory(cache))
        return false;
    pmm_io result =
        pmm_directory_open(cache->config->cache_dir, PMM_CACHE_ENTRIES, PMM_TRUST_USER, false, &directory, why);
    if (result == PMM_IO_OK) {
        result = pmm_file_read(directory, key->name, PMM_TRUST_USER, PMM_ENTRY_MAX_FILE, pmm_cache_can_write(cache),
                               &bytes, &file_size, &id, why);
        pmm_directory_close(directory);
        if (result == PMM_IO_REFUSED) {
            remove_entry(cache, key->name, &id, "not a file of ours");
            return false;
        }
    }
    if (result == PMM_IO_FAULT || result == PMM_IO_REFUSED)
        pmm_cache_note_fault(cache, why);
    if (result != PMM_IO_OK)
        return false;
    pmm_entry_verdict verdict = pmm_entry_decode(bytes, file_size, key->bytes, key->size, data, size);
    free(bytes);
    if (verdict != PMM_ENTRY_GOOD && verdict != PMM_ENTRY_NO_MEMORY)
        remove_entry(cache, key->name, &id, pmm_entry_verdict_text(verdict));
    return verdict == PMM_ENTRY_GOOD;
}

/* Damage there is told, and stays: it is not ours to heal. */
static bool read_from_tier(pmm_cache *cache, const pmm_tier *tier, const encoded_key *key, void **data, size_t *size) {
    char why[PMM_IO_TEXT];
    void *bytes = NULL;
    size_t file_size = 0;
    pmm_io result = pmm_tier_read(tier, key->name, &bytes, &file_size, why);
    if (result == PMM_IO_FAULT || result == PMM_IO_REFUSED)
        pmm_cache_note_fault(cache, why);
    if (result != PMM_IO_OK)
        return false;
    pmm_entry_verdict verdict = pmm_entry_decode(bytes, file_size, key->bytes, key->size, data, size);
    free(bytes);
    if (verdict != PMM_ENTRY_GOOD) {
        snprintf(why, sizeof why, "entry %s of %.300s is %s", key->name, tier->path, pmm_entry_verdict_text(verdict));
        pmm_cache_note_fault(cache, why);
    }
    return verdict == PMM_ENTRY_GOOD;
}

static bool read_entry(pmm_cache *cache, const encoded_key *key, void **data, size_t *size) {
    bool found = read_from_directory(cache, key, data, size);
    for (size_t i = 0; i < cache->tiers.count && !found; i++)
        found = read_from_tier(cache, &cache->tiers.items[i], key, data, size);
    return found;
}

bool pmm_cache_peek(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size) {
    if (cache->config->cache_mode == PORTMM_CACHE_OFF)
        return false;
    encoded_key encoded = encode_key(key);
    bool found = encoded.bytes != NULL && read_entry(cache, &encoded, data, size);
    free(encoded.bytes);
    return found;
}

/* The key is kept, to explain the miss. */
static void note_miss(pmm_cache *cache, const pmm_cache_key *key) {
    pmm_mutex_lock(&cache->mutex);
    if (cache->missed.count < PMM_MAX_MISSED) {
        encoded_key encoded = encode_key(key);
        if (encoded.bytes != NULL)
            pmm_missed_add(&cache->missed, encoded.bytes, encoded.size);
    }
    pmm_mutex_unlock(&cache->mutex);
}

bool pmm_cache_find(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size) {
    return (pmm_cache_is_proving(cache) && pmm_trial_take(cache, key, data, size)) ||
           pmm_cache_peek(cache, key, data, size);
}

void pmm_cache_note_look(pmm_cache *cache, const pmm_cache_key *key, bool found, size_t size) {
    if (cache->config->cache_mode == PORTMM_CACHE_OFF)
        return;
    pmm_log(cache->config, PORTMM_LOG_DEBUG, "cache: %s: %s", key->kind, found ? "hit" : "miss");
    atomic_fetch_add(found ? &cache->hits : &cache->misses, 1);
    atomic_fetch_add(&cache->bytes, size);
    if (!found)
        note_miss(cache, key);
}

bool pmm_cache_get(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size) {
    bool found = pmm_cache_find(cache, key, data, size);
    pmm_cache_note_look(cache, key, found, found ? *size : 0);
    return found;
}

/* ---- put ---- */

static bool write_entry(pmm_cache *cache, const encoded_key *key, const void *data, size_t size) {
    char why[PMM_IO_TEXT];
    size_t file_size = 0;
    unsigned char *bytes = pmm_entry_encode(key->bytes, key->size, data, size, &file_size);
    if (bytes == NULL)
        return false;
    uint64_t limit = cache->config->cache_max_size;
    pmm_io result = PMM_IO_MISSING;
    if (limit == 0 || file_size <= limit / 10 * 9)
        result = pmm_cache_write(cache, key->name, bytes, file_size, why);
    else
        pmm_log(cache->config, PORTMM_LOG_INFO, "cache: an entry of %zu bytes is too large for the limit of %llu",
                file_size, (unsigned long long)limit);
    free(bytes);
    if (result == PMM_IO_OK)
        pmm_log(cache->config, PORTMM_LOG_DEBUG, "cache: stored %s, %zu bytes for %zu", key->name, file_size, size);
    else if (limit == 0 || file_size <= limit / 10 * 9)
        pmm_cache_note_fault(cache, why);
    return result == PMM_IO_OK;
}

bool pmm_cache_put(pmm_cache *cache, const pmm_cache_key *key, const void *data, size_t size) {
    if (!pmm_cache_can_write(cache))
        return false;
    encoded_key encoded = encode_key(key);
    bool stored = encoded.bytes != NULL && write_entry(cache, &encoded, data, size);
    free(encoded.bytes);
    if (stored) {
        atomic_fetch_add(&cache->stores, 1);
        atomic_fetch_add(&cache->bytes, size);
        pmm_cache_evict(cache);
    }
    return stored;
}

void pmm_cache_reject(pmm_cache *cache, const pmm_cache_key *key, const char *why_rejected) {
    encoded_key encoded = encode_key(key);
    size_t size = 0;
    char why[PMM_IO_TEXT];
    pmm_file_id id;
    void *bytes = NULL;
    pmm_trial_drop(cache, key);
    if (encoded.bytes != NULL && pmm_cache_read(cache, encoded.name, &bytes, &size, &id, why) == PMM_IO_OK)
        remove_entry(cache, encoded.name, &id, why_rejected);
    free(bytes);
    free(encoded.bytes);
}

/* ---- lock ---- */

bool pmm_cache_lock(pmm_cache *cache, const pmm_cache_key *key, int *file) {
    char why[PMM_IO_TEXT];
    int directory;
    encoded_key encoded = pmm_cache_can_write(cache) ? encode_key(key) : (encoded_key){.bytes = NULL};
    if (encoded.bytes == NULL)
        return false;
    free(encoded.bytes);
    pmm_io result =
        pmm_directory_open(cache->config->cache_dir, PMM_CACHE_LOCKS, PMM_TRUST_USER, true, &directory, why);
    if (result == PMM_IO_OK) {
        result = pmm_file_lock(directory, encoded.name, false, file, why);
        pmm_directory_close(directory);
    }
    if (result == PMM_IO_FAULT || result == PMM_IO_REFUSED)
        pmm_cache_note_fault(cache, why);
    return result == PMM_IO_OK;
}

portmm_status portmm_cache_get_stats(portmm_context *context, portmm_cache_stats *stats) {
    pmm_clear_error();
    if (context == NULL || stats == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_cache_get_stats: context or stats is NULL");
    pmm_cache *cache = &context->runtime.cache;
    portmm_cache_stats ours = {.struct_size = sizeof ours,
                               .hits = atomic_load(&cache->hits),
                               .misses = atomic_load(&cache->misses),
                               .stores = atomic_load(&cache->stores),
                               .bypassed = atomic_load(&cache->bypassed),
                               .healed = atomic_load(&cache->healed),
                               .faults = atomic_load(&cache->faults),
                               .bytes = atomic_load(&cache->bytes),
                               .helpers = atomic_load(&cache->helpers)};
    return pmm_struct_out(stats, &ours, sizeof ours, "stats");
}

const char *portmm_cache_get_path(portmm_context *context) {
    return context != NULL && pmm_cache_has_directory(&context->runtime.cache) ? context->runtime.config.cache_dir : "";
}

const char *portmm_cache_get_reason(portmm_context *context) {
    return context != NULL ? context->runtime.cache.reason : "";
}
