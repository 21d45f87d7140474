/* SPDX-License-Identifier: Apache-2.0 */
/* <portmm/cache.h>: the cache without a device. */
#include "cache/handle.h"

#include <stdlib.h>
#include <string.h>

#include "cache/entry.h"
#include "cache/failure.h"
#include "cache/key.h"
#include "cache/statistics.h"
#include "cache/upkeep.h"
#include "status.h"
#include "structs.h"

portmm_status portmm_cache_create(const portmm_context_options *options, portmm_cache **cache) {
    pmm_clear_error();
    if (cache == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_cache_create: cache is NULL");
    *cache = NULL;
    portmm_cache *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for a cache");
    portmm_status status = pmm_config_init(&made->config, options);
    if (status == PORTMM_STATUS_SUCCESS && !pmm_cache_init(&made->cache, &made->config))
        status = pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for a cache");
    if (status != PORTMM_STATUS_SUCCESS) {
        portmm_cache_destroy(made);
        return status;
    }
    made->cache.counts_nothing = true;
    *cache = made;
    return PORTMM_STATUS_SUCCESS;
}

void portmm_cache_destroy(portmm_cache *cache) {
    if (cache == NULL)
        return;
    pmm_cache_fini(&cache->cache);
    pmm_config_fini(&cache->config);
    free(cache);
}

void portmm_cache_free(void *data) {
    free(data);
}

/* ---- places ---- */

static size_t count_user_places(const portmm_cache *cache) {
    return pmm_cache_has_directory(&cache->cache) ? 1 : 0;
}

size_t portmm_cache_place_count(const portmm_cache *cache) {
    return cache != NULL ? count_user_places(cache) + cache->cache.tiers.count : 0;
}

const char *portmm_cache_why_off(const portmm_cache *cache) {
    return cache != NULL ? cache->config.cache_reason : "there is no handle";
}

/* NULL: the user's directory. The position was checked. */
static const pmm_tier *get_tier(const portmm_cache *cache, size_t position) {
    size_t before = count_user_places(cache);
    return position < before ? NULL : &cache->cache.tiers.items[position - before];
}

static portmm_status check_position(const portmm_cache *cache, size_t position, const char *function) {
    pmm_clear_error();
    if (cache == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: cache is NULL", function);
    size_t count = portmm_cache_place_count(cache);
    if (position >= count)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: position = %zu, but the cache has %zu places", function,
                        position, count);
    return PORTMM_STATUS_SUCCESS;
}

static pmm_io list_place(const portmm_cache *cache, size_t position, pmm_file_info **files, size_t *count,
                         char why[PMM_IO_TEXT]) {
    const pmm_tier *tier = get_tier(cache, position);
    return tier == NULL ? pmm_cache_list(&cache->cache, files, count, why)
                        : pmm_tier_list_entries(tier, files, count, why);
}

static portmm_cache_trust get_trust(pmm_io state) {
    static const portmm_cache_trust trusts[] = {[PMM_IO_OK] = PORTMM_CACHE_TRUSTED,
                                                [PMM_IO_MISSING] = PORTMM_CACHE_MISSING,
                                                [PMM_IO_BUSY] = PORTMM_CACHE_FAULTY,
                                                [PMM_IO_REFUSED] = PORTMM_CACHE_REFUSED,
                                                [PMM_IO_FAULT] = PORTMM_CACHE_FAULTY};
    return trusts[state];
}

static portmm_cache_tier get_tier_kind(const pmm_tier *tier) {
    if (tier == NULL)
        return PORTMM_CACHE_TIER_USER;
    if (tier->is_bundle)
        return PORTMM_CACHE_TIER_BUNDLE;
    return tier->beside ? PORTMM_CACHE_TIER_INSTALL : PORTMM_CACHE_TIER_SYSTEM;
}

/* A directory without entries is one all the same. */
static pmm_io look_at_place(portmm_cache *cache, size_t position, portmm_cache_place *place) {
    const pmm_tier *tier = get_tier(cache, position);
    pmm_file_info *files = NULL;
    size_t count = 0;
    pmm_io state = tier == NULL ? pmm_cache_look(&cache->cache, cache->place_reason) : tier->state;
    pmm_io listed = state == PMM_IO_OK ? list_place(cache, position, &files, &count, cache->place_reason) : state;
    if (state == PMM_IO_OK && listed != PMM_IO_OK && listed != PMM_IO_MISSING)
        state = listed;
    for (size_t i = 0; i < count; i++)
        place->bytes += files[i].size;
    place->entries = count;
    free(files);
    return state;
}

portmm_status portmm_cache_get_place(portmm_cache *cache, size_t position, portmm_cache_place *place) {
    portmm_status status = check_position(cache, position, "portmm_cache_get_place");
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (place == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_cache_get_place: place is NULL");
    const pmm_tier *tier = get_tier(cache, position);
    portmm_cache_place ours = {.struct_size = sizeof ours,
                               .path = tier == NULL ? cache->config.cache_dir : tier->path,
                               .tier = get_tier_kind(tier),
                               .reason = ""};
    pmm_mutex_lock(&cache->cache.mutex);
    pmm_io state = look_at_place(cache, position, &ours);
    ours.trust = get_trust(state);
    ours.writable = tier == NULL && pmm_cache_can_write(&cache->cache) &&
                    (ours.trust == PORTMM_CACHE_TRUSTED || ours.trust == PORTMM_CACHE_MISSING);
    if (ours.trust != PORTMM_CACHE_TRUSTED)
        ours.reason = tier != NULL && tier->reason != NULL ? tier->reason : cache->place_reason;
    pmm_mutex_unlock(&cache->cache.mutex);
    return pmm_struct_out(place, &ours, sizeof ours, "place");
}

portmm_status portmm_cache_get_totals(portmm_cache *cache, portmm_cache_totals *totals) {
    pmm_clear_error();
    if (cache == NULL || totals == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_cache_get_totals: cache or totals is NULL");
    portmm_cache_totals ours = {.struct_size = sizeof ours, .max_size = cache->config.cache_max_size};
    pmm_statistics_read(&cache->cache, &ours);
    if (count_user_places(cache) > 0) {
        char why[PMM_IO_TEXT];
        pmm_file_info *files = NULL;
        size_t count = 0;
        if (pmm_cache_list(&cache->cache, &files, &count, why) == PMM_IO_OK)
            for (size_t i = 0; i < count; i++)
                ours.bytes += files[i].size;
        ours.entries = count;
        free(files);
    }
    return pmm_struct_out(totals, &ours, sizeof ours, "totals");
}

/* ---- entries ---- */

typedef struct loaded_entry {
    void *bytes;
    size_t size;
    pmm_file_id id; /* of the user's */
} loaded_entry;

static pmm_io load_entry(const portmm_cache *cache, size_t position, const char *name, loaded_entry *entry,
                         char why[PMM_IO_TEXT]) {
    const pmm_tier *tier = get_tier(cache, position);
    *entry = (loaded_entry){0};
    if (!pmm_key_is_name(name))
        return PMM_IO_MISSING;
    return tier == NULL ? pmm_cache_read(&cache->cache, name, &entry->bytes, &entry->size, &entry->id, why)
                        : pmm_tier_read(tier, name, &entry->bytes, &entry->size, why);
}

/* Kind and sizes as the file states them: a list does not check sums. */
static void describe_entry(const loaded_entry *loaded, char kind[64], portmm_cache_entry *entry) {
    size_t key_size = 0, payload_size = 0, at = 0;
    pmm_key_part part;
    const unsigned char *key =
        loaded->bytes != NULL ? pmm_entry_key(loaded->bytes, loaded->size, &key_size, &payload_size) : NULL;
    kind[0] = '\0';
    if (key == NULL || !pmm_key_next(key, key_size, &at, &part))
        return;
    size_t length = part.size < 63 ? part.size : 63;
    memcpy(kind, part.data, length);
    kind[length] = '\0';
    entry->payload_bytes = payload_size;
    void *payload = NULL;
    if (strncmp(kind, PMM_FAILURE_KIND, strlen(PMM_FAILURE_KIND)) == 0 &&
        pmm_entry_decode(loaded->bytes, loaded->size, key, key_size, &payload, &payload_size) == PMM_ENTRY_GOOD)
        entry->expires_ns = pmm_failure_expiry(payload, payload_size);
    free(payload);
}

portmm_status portmm_cache_visit_entries(portmm_cache *cache, size_t position, portmm_cache_entry_callback callback,
                                         void *user_data) {
    portmm_status status = check_position(cache, position, "portmm_cache_visit_entries");
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (callback == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_cache_visit_entries: callback is NULL");
    char why[PMM_IO_TEXT], kind[64];
    pmm_file_info *files = NULL;
    size_t count = 0;
    int ended = 0;
    if (list_place(cache, position, &files, &count, why) != PMM_IO_OK)
        return PORTMM_STATUS_SUCCESS; /* get_place says why */
    for (size_t i = 0; i < count && !ended; i++) {
        loaded_entry loaded;
        portmm_cache_entry entry = {.struct_size = sizeof entry,
                                    .name = files[i].name,
                                    .kind = kind,
                                    .bytes = files[i].size,
                                    .used_ns = files[i].stamp_ns};
        if (load_entry(cache, position, files[i].name, &loaded, why) == PMM_IO_MISSING)
            continue; /* removed meanwhile */
        describe_entry(&loaded, kind, &entry);
        ended = callback(&entry, user_data);
        free(loaded.bytes);
    }
    free(files);
    return PORTMM_STATUS_SUCCESS;
}

/* What is wrong with it; NULL: nothing. *payload is from malloc. */
static const char *find_problem(const char *name, const loaded_entry *loaded, void **payload, size_t *payload_size) {
    size_t key_size = 0, stated = 0;
    const unsigned char *key = pmm_entry_key(loaded->bytes, loaded->size, &key_size, &stated);
    char own_name[PMM_KEY_NAME_SIZE];
    pmm_entry_verdict verdict =
        pmm_entry_decode(loaded->bytes, loaded->size, key, key != NULL ? key_size : 0, payload, payload_size);
    if (verdict != PMM_ENTRY_GOOD)
        return pmm_entry_verdict_text(verdict);
    pmm_key_name(key, key_size, own_name);
    if (strcmp(own_name, name) == 0 && pmm_key_is_whole(key, key_size))
        return NULL;
    free(*payload);
    *payload = NULL;
    return pmm_entry_verdict_text(PMM_ENTRY_OTHER_KEY);
}

static portmm_status begin_entry(portmm_cache *cache, size_t position, const char *name, const char *function,
                                 loaded_entry *loaded) {
    char why[PMM_IO_TEXT] = "there is none";
    portmm_status status = check_position(cache, position, function);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (name == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: name is NULL", function);
    pmm_io result = load_entry(cache, position, name, loaded, why);
    return result == PMM_IO_OK ? PORTMM_STATUS_SUCCESS
                               : pmm_fail(PORTMM_STATUS_UNAVAILABLE, "%s: entry %.64s: %s", function, name,
                                          result == PMM_IO_MISSING ? "there is none" : why);
}

portmm_status portmm_cache_visit_fields(portmm_cache *cache, size_t position, const char *name,
                                        portmm_cache_field_callback callback, void *user_data) {
    loaded_entry loaded;
    portmm_status status = begin_entry(cache, position, name, "portmm_cache_visit_fields", &loaded);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    void *payload = NULL;
    size_t payload_size = 0, key_size = 0, at = 0;
    const char *problem = find_problem(name, &loaded, &payload, &payload_size);
    const unsigned char *key = pmm_entry_key(loaded.bytes, loaded.size, &key_size, &payload_size);
    pmm_key_part part;
    int ended = 0;
    free(payload);
    if (problem != NULL || key == NULL)
        status = pmm_fail(PORTMM_STATUS_UNAVAILABLE, "entry %s is %s", name, problem);
    else if (callback == NULL)
        status = pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_cache_visit_fields: callback is NULL");
    else
        while (!ended && pmm_key_next(key, key_size, &at, &part)) {
            char label[64];
            size_t length = part.label_size < sizeof label - 1 ? part.label_size : sizeof label - 1;
            memcpy(label, part.label, length);
            label[length] = '\0';
            ended = callback(label, part.data, part.size, user_data);
        }
    free(loaded.bytes);
    return status;
}

portmm_status portmm_cache_check_entry(portmm_cache *cache, size_t position, const char *name, const char **problem) {
    loaded_entry loaded;
    portmm_status status = begin_entry(cache, position, name, "portmm_cache_check_entry", &loaded);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (problem == NULL) {
        status = pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_cache_check_entry: problem is NULL");
    } else {
        void *payload = NULL;
        size_t size;
        const char *found = find_problem(name, &loaded, &payload, &size);
        free(payload);
        *problem = found != NULL ? found : "";
    }
    free(loaded.bytes);
    return status;
}

portmm_status portmm_cache_read_payload(portmm_cache *cache, size_t position, const char *name, void **data,
                                        size_t *size) {
    loaded_entry loaded;
    portmm_status status = begin_entry(cache, position, name, "portmm_cache_read_payload", &loaded);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    void *payload = NULL;
    size_t payload_size = 0;
    const char *problem = find_problem(name, &loaded, &payload, &payload_size);
    free(loaded.bytes);
    if (problem != NULL)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "entry %s is %s", name, problem);
    if (data == NULL || size == NULL) {
        free(payload);
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_cache_read_payload: data or size is NULL");
    }
    *data = payload;
    *size = payload_size;
    return PORTMM_STATUS_SUCCESS;
}

/* ---- upkeep ---- */

portmm_status pmm_handle_check_writable(const portmm_cache *cache, const char *function) {
    pmm_clear_error();
    if (cache == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: cache is NULL", function);
    if (!pmm_cache_can_write(&cache->cache))
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "%s: %s", function,
                        pmm_cache_has_directory(&cache->cache) ? "the cache is opened for reading only"
                                                               : cache->config.cache_reason);
    return PORTMM_STATUS_SUCCESS;
}

typedef pmm_io (*trim_function)(pmm_cache *cache, uint64_t limit, bool dry_run, pmm_trimmed *trimmed,
                                char why[PMM_IO_TEXT]);

static portmm_status reduce(portmm_cache *cache, const char *function, trim_function trim, uint64_t limit,
                            int32_t dry_run, portmm_cache_removed *removed) {
    portmm_status status = pmm_handle_check_writable(cache, function);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (removed == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: removed is NULL", function);
    char why[PMM_IO_TEXT] = "";
    pmm_trimmed trimmed = {0};
    pmm_io result = trim(&cache->cache, limit, dry_run != 0, &trimmed, why);
    portmm_cache_removed ours = {.struct_size = sizeof ours,
                                 .entries = trimmed.removed,
                                 .bytes = trimmed.removed_bytes,
                                 .kept_entries = trimmed.kept,
                                 .kept_bytes = trimmed.kept_bytes,
                                 .leftovers = trimmed.leftovers,
                                 .failed = trimmed.failed};
    status = pmm_struct_out(removed, &ours, sizeof ours, "removed");
    if (status == PORTMM_STATUS_SUCCESS && result != PMM_IO_OK)
        status = pmm_fail(PORTMM_STATUS_UNAVAILABLE, "%s: %s", function, why);
    return status;
}

static pmm_io clear(pmm_cache *cache, uint64_t limit, bool dry_run, pmm_trimmed *trimmed, char why[PMM_IO_TEXT]) {
    (void)limit;
    return pmm_cache_clear(cache, dry_run, trimmed, why);
}

portmm_status portmm_cache_trim(portmm_cache *cache, uint64_t max_bytes, int32_t dry_run,
                                portmm_cache_removed *removed) {
    return reduce(cache, "portmm_cache_trim", pmm_cache_trim, max_bytes, dry_run, removed);
}

portmm_status portmm_cache_clear(portmm_cache *cache, int32_t dry_run, portmm_cache_removed *removed) {
    return reduce(cache, "portmm_cache_clear", clear, 0, dry_run, removed);
}

portmm_status portmm_cache_remove_entry(portmm_cache *cache, const char *name, int32_t problem_only, int32_t *removed) {
    loaded_entry loaded;
    char why[PMM_IO_TEXT] = "";
    portmm_status status = pmm_handle_check_writable(cache, "portmm_cache_remove_entry");
    if (status == PORTMM_STATUS_SUCCESS)
        status = begin_entry(cache, 0, name, "portmm_cache_remove_entry", &loaded);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    void *payload = NULL;
    size_t size;
    bool wanted = problem_only == 0 || find_problem(name, &loaded, &payload, &size) != NULL;
    pmm_io result = wanted ? pmm_cache_remove(&cache->cache, name, &loaded.id, why) : PMM_IO_MISSING;
    free(payload);
    free(loaded.bytes);
    if (result != PMM_IO_OK && result != PMM_IO_MISSING)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "portmm_cache_remove_entry: %s", why);
    if (removed != NULL)
        *removed = result == PMM_IO_OK;
    return PORTMM_STATUS_SUCCESS;
}
