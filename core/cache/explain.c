/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/explain.h"

#include <portmm/cache.h>

#include <stdlib.h>
#include <string.h>

#include "cache/entry.h"
#include "cache/key.h"
#include "cache/upkeep.h"
#include "context.h"
#include "status.h"

void pmm_missed_add(pmm_missed *missed, unsigned char *key, size_t size) {
    if (missed->count == PMM_MAX_MISSED) {
        free(key);
        return;
    }
    missed->keys[missed->count] = key;
    missed->sizes[missed->count++] = size;
}

void pmm_missed_fini(pmm_missed *missed) {
    for (size_t i = 0; i < missed->count; i++)
        free(missed->keys[i]);
    missed->count = 0;
}

/* ---- comparing keys ---- */

/* Takes a field that differs: `theirs` lacks it if its data is NULL. Other than 0 ends. */
typedef int (*difference_function)(const pmm_key_part *ours, const pmm_key_part *theirs, void *user);

static bool are_equal(const unsigned char *a, size_t a_size, const unsigned char *b, size_t b_size) {
    return a_size == b_size && memcmp(a, b, a_size) == 0;
}

static bool find_field(const unsigned char *key, size_t size, const pmm_key_part *like, pmm_key_part *found) {
    size_t at = 0;
    while (pmm_key_next(key, size, &at, found))
        if (are_equal(found->label, found->label_size, like->label, like->label_size))
            return true;
    *found = (pmm_key_part){0};
    return false;
}

static void compare_keys(const unsigned char *wanted, size_t wanted_size, const unsigned char *found, size_t found_size,
                         difference_function tell, void *user) {
    size_t at = 0;
    int ended = 0;
    pmm_key_part ours, theirs;
    while (!ended && pmm_key_next(wanted, wanted_size, &at, &ours))
        if (!find_field(found, found_size, &ours, &theirs) ||
            !are_equal(ours.data, ours.size, theirs.data, theirs.size))
            ended = tell(&ours, &theirs, user);
}

static int count_difference(const pmm_key_part *ours, const pmm_key_part *theirs, void *user) {
    (void)ours, (void)theirs;
    ++*(size_t *)user;
    return 0;
}

/* ---- the nearest entry ---- */

typedef struct nearest_entry {
    char name[PMM_KEY_NAME_SIZE];
    unsigned char *bytes; /* NULL: there is none */
    const unsigned char *key;
    size_t key_size, differences;
} nearest_entry;

static bool has_kind(const unsigned char *key, size_t size, const pmm_key_part *kind) {
    size_t at = 0;
    pmm_key_part first;
    return pmm_key_next(key, size, &at, &first) && are_equal(first.data, first.size, kind->data, kind->size);
}

/* Takes `bytes`. */
static void consider(nearest_entry *best, const char *name, unsigned char *bytes, size_t size,
                     const unsigned char *wanted, size_t wanted_size, const pmm_key_part *kind) {
    size_t key_size = 0, payload_size, differences = 0;
    const unsigned char *key = pmm_entry_key(bytes, size, &key_size, &payload_size);
    if (key != NULL && has_kind(key, key_size, kind)) {
        compare_keys(wanted, wanted_size, key, key_size, count_difference, &differences);
        if (best->bytes == NULL || differences < best->differences) {
            free(best->bytes);
            *best = (nearest_entry){.bytes = bytes, .key = key, .key_size = key_size, .differences = differences};
            memcpy(best->name, name, sizeof best->name);
            return;
        }
    }
    free(bytes);
}

static nearest_entry find_nearest(const pmm_cache *cache, const unsigned char *wanted, size_t wanted_size,
                                  const pmm_key_part *kind) {
    nearest_entry best = {.bytes = NULL};
    char why[PMM_IO_TEXT];
    pmm_file_info *files = NULL;
    size_t count = 0;
    if (pmm_cache_list(cache, &files, &count, why) != PMM_IO_OK)
        return best;
    for (size_t i = 0; i < count; i++) {
        pmm_file_id id;
        void *bytes = NULL;
        size_t size = 0;
        if (pmm_cache_read(cache, files[i].name, &bytes, &size, &id, why) == PMM_IO_OK)
            consider(&best, files[i].name, bytes, size, wanted, wanted_size, kind);
    }
    free(files);
    return best;
}

/* ---- telling ---- */

typedef struct telling {
    portmm_cache_difference_callback callback;
    void *user;
    portmm_cache_difference difference;
    int ended;
} telling;

static void copy_part(char *text, size_t room, const unsigned char *data, size_t size) {
    size_t length = size < room - 1 ? size : room - 1;
    memcpy(text, data, length);
    text[length] = '\0';
}

static int tell_difference(const pmm_key_part *ours, const pmm_key_part *theirs, void *user) {
    telling *this = user;
    char label[64];
    copy_part(label, sizeof label, ours->label, ours->label_size);
    this->difference.label = label;
    this->difference.wanted = ours->data;
    this->difference.wanted_size = ours->size;
    this->difference.found = theirs->data;
    this->difference.found_size = theirs->size;
    this->ended = this->callback(&this->difference, this->user);
    return this->ended;
}

static void explain_key(const pmm_cache *cache, const unsigned char *key, size_t size, telling *this) {
    char name[PMM_KEY_NAME_SIZE], kind_text[64];
    size_t at = 0;
    pmm_key_part kind;
    pmm_key_name(key, size, name);
    if (!pmm_key_next(key, size, &at, &kind))
        return;
    copy_part(kind_text, sizeof kind_text, kind.data, kind.size);
    nearest_entry nearest = find_nearest(cache, key, size, &kind);
    this->difference = (portmm_cache_difference){
        .struct_size = sizeof this->difference, .name = name, .kind = kind_text, .nearest = nearest.name, .label = ""};
    if (nearest.bytes == NULL)
        this->ended = this->callback(&this->difference, this->user);
    else
        compare_keys(key, size, nearest.key, nearest.key_size, tell_difference, this);
    free(nearest.bytes);
}

portmm_status portmm_cache_explain(portmm_context *context, portmm_cache_difference_callback callback,
                                   void *user_data) {
    pmm_clear_error();
    if (context == NULL || callback == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_cache_explain: context or callback is NULL");
    pmm_cache *cache = &context->runtime.cache;
    telling this = {.callback = callback, .user = user_data};
    pmm_mutex_lock(&cache->mutex);
    size_t count = cache->missed.count; /* those that are there stay as they are */
    pmm_mutex_unlock(&cache->mutex);
    for (size_t i = 0; i < count && !this.ended; i++)
        explain_key(cache, cache->missed.keys[i], cache->missed.sizes[i], &this);
    return PORTMM_STATUS_SUCCESS;
}
