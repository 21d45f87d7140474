/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/entry.h"
#include "cache/key.h"
#include "context.h"
#include "log.h"
#include "status.h"
#include "structs.h"

static char *join_path(const char *directory, const char *name) {
    size_t size = strlen(directory) + 1 + strlen(name) + 1;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s", directory, name);
    return path;
}

bool pmm_cache_init(pmm_cache *cache, const pmm_config *config) {
    memset(cache, 0, sizeof *cache);
    cache->config = config;
    snprintf(cache->reason, sizeof cache->reason, "%s", config->cache_reason);
    cache->identity = join_path(config->cache_mode == PORTMM_CACHE_READ_WRITE ? "rw" : "ro",
                                config->cache_dir != NULL ? config->cache_dir : "off");
    if (!pmm_mutex_init(&cache->mutex) || cache->identity == NULL)
        return false;
    if (config->cache_mode == PORTMM_CACHE_OFF)
        return true;
    cache->entries = join_path(config->cache_dir, "entries");
    cache->locks = join_path(config->cache_dir, "locks");
    return cache->entries != NULL && cache->locks != NULL;
}

void pmm_cache_fini(pmm_cache *cache) {
    free(cache->entries);
    free(cache->identity);
    free(cache->locks);
    pmm_mutex_fini(&cache->mutex);
}

bool pmm_cache_can_write(const pmm_cache *cache) {
    return cache->entries != NULL && cache->config->cache_mode == PORTMM_CACHE_READ_WRITE;
}

/* The first trouble is told, all are counted. */
static void note_fault(pmm_cache *cache, const char *why) {
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
    pmm_io result = pmm_file_remove(cache->entries, name, id, why);
    if (result == PMM_IO_OK)
        atomic_fetch_add(&cache->healed, 1);
    else if (result == PMM_IO_FAULT)
        note_fault(cache, why);
}

/* Whether the directory may be trusted; both the one that the user names and the one in it that we made. */
static bool check_directory(pmm_cache *cache) {
    char why[PMM_IO_TEXT];
    pmm_io result = pmm_directory_prepare(cache->config->cache_dir, false, why);
    if (result == PMM_IO_OK)
        result = pmm_directory_prepare(cache->entries, false, why);
    if (result == PMM_IO_REFUSED || result == PMM_IO_FAULT)
        note_fault(cache, why);
    return result == PMM_IO_OK;
}

static bool read_entry(pmm_cache *cache, const char *name, const unsigned char *encoded, size_t encoded_size,
                       void **data, size_t *size) {
    char why[PMM_IO_TEXT];
    pmm_file_id id;
    void *bytes = NULL;
    size_t file_size = 0;
    if (!check_directory(cache))
        return false;
    pmm_io result = pmm_file_read(cache->entries, name, PMM_ENTRY_MAX_FILE, &bytes, &file_size, &id, why);
    if (result == PMM_IO_REFUSED)
        remove_entry(cache, name, &id, "not a file of ours");
    if (result == PMM_IO_FAULT)
        note_fault(cache, why);
    if (result != PMM_IO_OK)
        return false;
    pmm_entry_verdict verdict = pmm_entry_decode(bytes, file_size, encoded, encoded_size, data, size);
    free(bytes);
    if (verdict != PMM_ENTRY_GOOD && verdict != PMM_ENTRY_NO_MEMORY)
        remove_entry(cache, name, &id, pmm_entry_verdict_text(verdict));
    return verdict == PMM_ENTRY_GOOD;
}

bool pmm_cache_peek(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size) {
    char name[PMM_KEY_NAME_SIZE];
    size_t encoded_size = 0;
    unsigned char *encoded = cache->entries != NULL ? pmm_key_encode(key, &encoded_size) : NULL;
    bool found = false;
    if (encoded != NULL) {
        pmm_key_name(encoded, encoded_size, name);
        found = read_entry(cache, name, encoded, encoded_size, data, size);
    }
    free(encoded);
    return found;
}

bool pmm_cache_get(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size) {
    if (cache->entries == NULL)
        return false;
    bool found = pmm_cache_peek(cache, key, data, size);
    pmm_log(cache->config, PORTMM_LOG_DEBUG, "cache: %s: %s", key->kind, found ? "hit" : "miss");
    atomic_fetch_add(found ? &cache->hits : &cache->misses, 1);
    if (found)
        atomic_fetch_add(&cache->bytes, *size);
    return found;
}

static bool write_entry(pmm_cache *cache, const unsigned char *encoded, size_t encoded_size, const void *data,
                        size_t size) {
    char why[PMM_IO_TEXT], name[PMM_KEY_NAME_SIZE];
    size_t file_size = 0;
    unsigned char *bytes = pmm_entry_encode(encoded, encoded_size, data, size, &file_size);
    if (bytes == NULL)
        return false;
    pmm_key_name(encoded, encoded_size, name);
    pmm_io result = pmm_directory_prepare(cache->config->cache_dir, true, why);
    if (result == PMM_IO_OK)
        result = pmm_file_write(cache->entries, name, bytes, file_size, why);
    free(bytes);
    if (result != PMM_IO_OK)
        note_fault(cache, why);
    else
        pmm_log(cache->config, PORTMM_LOG_DEBUG, "cache: stored %s, %zu bytes for %zu", name, file_size, size);
    return result == PMM_IO_OK;
}

bool pmm_cache_put(pmm_cache *cache, const pmm_cache_key *key, const void *data, size_t size) {
    if (!pmm_cache_can_write(cache))
        return false;
    size_t encoded_size = 0;
    unsigned char *encoded = pmm_key_encode(key, &encoded_size);
    bool stored = encoded != NULL && write_entry(cache, encoded, encoded_size, data, size);
    free(encoded);
    if (stored) {
        atomic_fetch_add(&cache->stores, 1);
        atomic_fetch_add(&cache->bytes, size);
    }
    return stored;
}

void pmm_cache_reject(pmm_cache *cache, const pmm_cache_key *key, const char *why_rejected) {
    size_t encoded_size = 0, size = 0;
    unsigned char *encoded = cache->entries != NULL ? pmm_key_encode(key, &encoded_size) : NULL;
    if (encoded == NULL)
        return;
    char name[PMM_KEY_NAME_SIZE], why[PMM_IO_TEXT];
    pmm_file_id id;
    void *bytes = NULL;
    pmm_key_name(encoded, encoded_size, name);
    if (pmm_file_read(cache->entries, name, PMM_ENTRY_MAX_FILE, &bytes, &size, &id, why) == PMM_IO_OK)
        remove_entry(cache, name, &id, why_rejected);
    free(bytes);
    free(encoded);
}

bool pmm_cache_lock(pmm_cache *cache, const pmm_cache_key *key, int *file) {
    char name[PMM_KEY_NAME_SIZE], why[PMM_IO_TEXT];
    size_t encoded_size = 0;
    unsigned char *encoded = pmm_cache_can_write(cache) ? pmm_key_encode(key, &encoded_size) : NULL;
    if (encoded == NULL)
        return false;
    pmm_key_name(encoded, encoded_size, name);
    free(encoded);
    pmm_io result = pmm_directory_prepare(cache->config->cache_dir, true, why);
    if (result == PMM_IO_OK)
        result = pmm_file_lock(cache->locks, name, file, why);
    if (result == PMM_IO_FAULT || result == PMM_IO_REFUSED)
        note_fault(cache, why);
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
    return context != NULL && context->runtime.cache.entries != NULL ? context->runtime.config.cache_dir : "";
}

const char *portmm_cache_get_reason(portmm_context *context) {
    return context != NULL ? context->runtime.cache.reason : "";
}
