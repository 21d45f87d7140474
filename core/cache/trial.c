/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/trial.h"

#include <stdlib.h>
#include <string.h>

#include "cache/entry.h"
#include "cache/key.h"
#include "cache/upkeep.h"

/* An entry as its file holds it. */
struct pmm_trial {
    char name[PMM_KEY_NAME_SIZE];
    void *bytes;
    size_t size;
    pmm_trial *next;
};

static pmm_io write_trial(const pmm_cache *cache, const char *name, const void *bytes, size_t size,
                          char why[PMM_IO_TEXT]) {
    int directory;
    pmm_io result =
        pmm_directory_open(cache->config->cache_dir, PMM_CACHE_TRIALS, PMM_TRUST_USER, true, &directory, why);
    if (result != PMM_IO_OK)
        return result;
    result = pmm_file_write(directory, name, bytes, size, why);
    pmm_directory_close(directory);
    return result;
}

bool pmm_trial_put(pmm_cache *cache, const pmm_cache_key *key, const void *data, size_t size) {
    char name[PMM_KEY_NAME_SIZE], why[PMM_IO_TEXT] = "no memory for an entry";
    size_t key_size = 0, file_size = 0;
    if (!pmm_cache_can_write(cache))
        return false;
    unsigned char *encoded = pmm_key_encode(key, &key_size), *bytes = NULL;
    pmm_io result = PMM_IO_FAULT;
    if (encoded != NULL) {
        pmm_key_name(encoded, key_size, name);
        bytes = pmm_entry_encode(encoded, key_size, data, size, &file_size);
    }
    if (bytes != NULL)
        result = write_trial(cache, name, bytes, file_size, why);
    free(bytes);
    free(encoded);
    if (result != PMM_IO_OK) {
        pmm_cache_note_fault(cache, why);
        return false;
    }
    atomic_fetch_add(&cache->stores, 1);
    atomic_fetch_add(&cache->bytes, size);
    atomic_fetch_add(&cache->on_trial, 1);
    return true;
}

static pmm_io read_and_remove(const pmm_cache *cache, const char *name, void **bytes, size_t *size,
                              char why[PMM_IO_TEXT]) {
    int directory;
    pmm_file_id id;
    pmm_io result =
        pmm_directory_open(cache->config->cache_dir, PMM_CACHE_TRIALS, PMM_TRUST_USER, false, &directory, why);
    if (result != PMM_IO_OK)
        return result;
    result = pmm_file_read(directory, name, PMM_TRUST_USER, PMM_ENTRY_MAX_FILE, false, bytes, size, &id, why);
    if (result == PMM_IO_OK && (result = pmm_file_remove(directory, name, &id, why)) != PMM_IO_OK)
        free(*bytes);
    pmm_directory_close(directory);
    return result;
}

static bool remember(pmm_cache *cache, const char *name, void *bytes, size_t size) {
    pmm_trial *trial = malloc(sizeof *trial);
    if (trial == NULL)
        return false;
    memcpy(trial->name, name, sizeof trial->name);
    trial->bytes = bytes;
    trial->size = size;
    pmm_mutex_lock(&cache->mutex);
    trial->next = cache->trials;
    cache->trials = trial;
    pmm_mutex_unlock(&cache->mutex);
    return true;
}

bool pmm_trial_take(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size) {
    char name[PMM_KEY_NAME_SIZE], why[PMM_IO_TEXT];
    size_t key_size = 0, file_size = 0;
    void *bytes = NULL;
    unsigned char *encoded = pmm_key_encode(key, &key_size);
    if (encoded == NULL)
        return false;
    pmm_key_name(encoded, key_size, name);
    bool good = read_and_remove(cache, name, &bytes, &file_size, why) == PMM_IO_OK;
    if (good) {
        good = pmm_entry_decode(bytes, file_size, encoded, key_size, data, size) == PMM_ENTRY_GOOD;
        if (good && !remember(cache, name, bytes, file_size)) {
            free(*data);
            good = false;
        }
        if (!good)
            free(bytes);
    }
    free(encoded);
    return good;
}

static void free_trial(pmm_trial *trial) {
    free(trial->bytes);
    free(trial);
}

void pmm_trial_drop(pmm_cache *cache, const pmm_cache_key *key) {
    char name[PMM_KEY_NAME_SIZE] = "";
    size_t key_size = 0;
    unsigned char *encoded = pmm_key_encode(key, &key_size);
    if (encoded != NULL)
        pmm_key_name(encoded, key_size, name);
    free(encoded);
    pmm_mutex_lock(&cache->mutex);
    for (pmm_trial **link = &cache->trials; *link != NULL;) {
        pmm_trial *trial = *link;
        if (strcmp(trial->name, name) == 0 || encoded == NULL) {
            *link = trial->next;
            free_trial(trial);
        } else {
            link = &trial->next;
        }
    }
    pmm_mutex_unlock(&cache->mutex);
}

void pmm_trial_publish(pmm_cache *cache) {
    char why[PMM_IO_TEXT];
    pmm_mutex_lock(&cache->mutex);
    pmm_trial *trials = cache->trials;
    cache->trials = NULL;
    pmm_mutex_unlock(&cache->mutex);
    while (trials != NULL) {
        pmm_trial *trial = trials;
        trials = trial->next;
        if (pmm_cache_write(cache, trial->name, trial->bytes, trial->size, why) == PMM_IO_OK)
            atomic_fetch_add(&cache->stores, 1);
        else
            pmm_cache_note_fault(cache, why);
        free_trial(trial);
    }
    pmm_cache_evict(cache);
}

void pmm_trial_fini(pmm_cache *cache) {
    while (cache->trials != NULL) {
        pmm_trial *trial = cache->trials;
        cache->trials = trial->next;
        free_trial(trial);
    }
}
