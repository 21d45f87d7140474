/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/tier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/store.h"

static pmm_io tell_damage(const char *path, pmm_entry_verdict verdict, char why[PMM_IO_TEXT]) {
    snprintf(why, PMM_IO_TEXT, "bundle %.400s is %s; seal it again", path, pmm_entry_verdict_text(verdict));
    return PMM_IO_FAULT;
}

/* Header first: it says how long the head is. */
static pmm_io read_head(pmm_tier *tier, uint64_t file_size, size_t *head_size, char why[PMM_IO_TEXT]) {
    unsigned char header[PMM_BUNDLE_HEADER];
    if (file_size < sizeof header)
        return tell_damage(tier->path, PMM_ENTRY_DAMAGED, why);
    pmm_io result = pmm_file_read_at(tier->file, tier->path, 0, header, sizeof header, why);
    if (result != PMM_IO_OK)
        return result;
    *head_size = pmm_bundle_head_size(header, sizeof header, file_size);
    if (*head_size == 0)
        return tell_damage(tier->path, pmm_bundle_open(header, sizeof header, file_size, &tier->bundle), why);
    tier->head = malloc(*head_size);
    if (tier->head == NULL)
        return tell_damage(tier->path, PMM_ENTRY_NO_MEMORY, why);
    return pmm_file_read_at(tier->file, tier->path, 0, tier->head, *head_size, why);
}

static pmm_io open_bundle(pmm_tier *tier, char why[PMM_IO_TEXT]) {
    uint64_t file_size = 0;
    size_t head_size = 0;
    pmm_io result = pmm_file_open(tier->path, PMM_TRUST_SYSTEM, &tier->file, &file_size, why);
    if (result != PMM_IO_OK)
        return result;
    tier->is_bundle = true;
    result = read_head(tier, file_size, &head_size, why);
    if (result != PMM_IO_OK)
        return result;
    pmm_entry_verdict verdict = pmm_bundle_open(tier->head, head_size, file_size, &tier->bundle);
    return verdict == PMM_ENTRY_GOOD ? PMM_IO_OK : tell_damage(tier->path, verdict, why);
}

void pmm_tier_close(pmm_tier *tier) {
    if (tier->is_bundle)
        pmm_file_close(tier->file);
    free(tier->head);
    free(tier->path);
    free(tier->reason);
}

static char *copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

pmm_io pmm_tier_open_bundle(pmm_tier *tier, const char *path, char why[PMM_IO_TEXT]) {
    *tier = (pmm_tier){.path = copy_text(path)};
    return tier->path != NULL ? open_bundle(tier, why) : tell_damage(path, PMM_ENTRY_NO_MEMORY, why);
}

/* How tiers are added: the same for all of one search path. */
typedef struct adding {
    pmm_tiers *tiers;
    bool beside;
    pmm_tier_report report;
    void *user;
} adding;

/* Takes `path`. */
static pmm_tier *append_tier(const adding *this, char *path) {
    pmm_tiers *tiers = this->tiers;
    pmm_tier *items = path != NULL ? realloc(tiers->items, (tiers->count + 1) * sizeof *items) : NULL;
    if (items == NULL) {
        free(path);
        return NULL;
    }
    tiers->items = items;
    pmm_tier *tier = &items[tiers->count++];
    *tier = (pmm_tier){.path = path, .beside = this->beside};
    return tier;
}

static void settle_tier(const adding *this, pmm_tier *tier, pmm_io state, const char *why) {
    tier->state = state;
    if (state == PMM_IO_OK)
        return;
    tier->reason = copy_text(why);
    this->report(this->user, state, why);
}

/* Takes `path`. */
static bool add_bundle(const adding *this, char *path) {
    char why[PMM_IO_TEXT] = "";
    pmm_tier *tier = append_tier(this, path);
    if (tier != NULL)
        settle_tier(this, tier, open_bundle(tier, why), why);
    return tier != NULL;
}

static char *join_path(const char *directory, const char *name, size_t name_size) {
    size_t size = strlen(directory) + 1 + name_size + 1;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s%s%.*s", directory, directory[0] != '\0' ? "/" : "", (int)name_size, name);
    return path;
}

static int compare_names(const void *left, const void *right) {
    return strcmp(((const pmm_file_info *)left)->name, ((const pmm_file_info *)right)->name);
}

/* Sorted by name, so that every process looks in the same order. */
static bool add_bundles_of(const adding *this, const char *path, const pmm_file_info *files, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(files[i].name), suffix = strlen(PMM_BUNDLE_SUFFIX);
        if (length <= suffix || strcmp(files[i].name + length - suffix, PMM_BUNDLE_SUFFIX) != 0)
            continue;
        if (!add_bundle(this, join_path(path, files[i].name, length)))
            return false;
    }
    return true;
}

/* Takes `path`. */
static bool add_directory(const adding *this, char *path) {
    char why[PMM_IO_TEXT] = "";
    int directory;
    pmm_file_info *files = NULL;
    size_t count = 0;
    pmm_io result = pmm_directory_open(path, NULL, PMM_TRUST_SYSTEM, false, &directory, why);
    if (result == PMM_IO_OK) {
        result = pmm_directory_list(directory, &files, &count, why);
        pmm_directory_close(directory);
    }
    if (count > 1)
        qsort(files, count, sizeof *files, compare_names);
    pmm_tier *tier = append_tier(this, path);
    if (tier != NULL)
        settle_tier(this, tier, result, why);
    bool complete = tier != NULL && add_bundles_of(this, path, files, count);
    free(files);
    return complete;
}

/* Takes `path`. */
static bool add_relative(const adding *this, char *path) {
    char why[PMM_IO_TEXT];
    pmm_tier *tier = append_tier(this, path);
    if (tier == NULL)
        return false;
    snprintf(why, sizeof why, "%.400s in PORTMM_CACHE_PATH_RO is not an absolute path and is passed over", path);
    settle_tier(this, tier, PMM_IO_REFUSED, why);
    return true;
}

static bool add_path(const adding *this, char *path) {
    if (path == NULL)
        return false;
    if (path[0] != '/')
        return add_relative(this, path);
    /* The installation's is a directory, also while it is missing. */
    return this->beside || pmm_is_directory(path) ? add_directory(this, path) : add_bundle(this, path);
}

bool pmm_tiers_add(pmm_tiers *tiers, const char *search_path, bool beside, pmm_tier_report report, void *user) {
    const adding this = {tiers, beside, report, user};
    bool complete = true;
    for (const char *at = search_path; complete && *at != '\0';) {
        size_t length = beside ? strlen(at) : strcspn(at, ":");
        if (length > 0)
            complete = add_path(&this, join_path("", at, length));
        at += length + (at[length] == ':');
    }
    return complete;
}

void pmm_tiers_fini(pmm_tiers *tiers) {
    for (size_t i = 0; i < tiers->count; i++)
        pmm_tier_close(&tiers->items[i]);
    free(tiers->items);
    *tiers = (pmm_tiers){0};
}

static pmm_io read_from_bundle(const pmm_tier *tier, const char *name, void **bytes, size_t *size,
                               char why[PMM_IO_TEXT]) {
    pmm_bundle_item item;
    if (!pmm_bundle_find(&tier->bundle, name, &item))
        return PMM_IO_MISSING;
    void *read = malloc(item.size > 0 ? item.size : 1);
    if (read == NULL)
        return tell_damage(tier->path, PMM_ENTRY_NO_MEMORY, why);
    pmm_io result = pmm_file_read_at(tier->file, tier->path, item.offset, read, item.size, why);
    if (result == PMM_IO_OK && !pmm_bundle_item_is_whole(&item, read))
        result = tell_damage(tier->path, PMM_ENTRY_DAMAGED, why);
    if (result != PMM_IO_OK) {
        free(read);
        return result;
    }
    *bytes = read;
    *size = item.size;
    return PMM_IO_OK;
}

pmm_io pmm_tier_read(const pmm_tier *tier, const char *name, void **bytes, size_t *size, char why[PMM_IO_TEXT]) {
    if (tier->state != PMM_IO_OK)
        return PMM_IO_MISSING;
    if (tier->is_bundle)
        return read_from_bundle(tier, name, bytes, size, why);
    pmm_file_id id;
    int directory;
    pmm_io result = pmm_directory_open(tier->path, PMM_CACHE_ENTRIES, PMM_TRUST_SYSTEM, false, &directory, why);
    if (result != PMM_IO_OK)
        return result;
    result = pmm_file_read(directory, name, PMM_TRUST_SYSTEM, PMM_ENTRY_MAX_FILE, false, bytes, size, &id, why);
    pmm_directory_close(directory);
    return result;
}

static pmm_io list_bundle(const pmm_bundle *bundle, pmm_file_info **files, size_t *count, char why[PMM_IO_TEXT]) {
    pmm_file_info *listed = calloc(bundle->count > 0 ? bundle->count : 1, sizeof *listed);
    if (listed == NULL) {
        snprintf(why, PMM_IO_TEXT, "no memory to list a bundle");
        return PMM_IO_FAULT;
    }
    for (size_t i = 0; i < bundle->count; i++) {
        pmm_bundle_item item = pmm_bundle_get(bundle, i);
        listed[i].size = item.size;
        memcpy(listed[i].name, item.name, sizeof item.name);
    }
    *files = listed;
    *count = bundle->count;
    return PMM_IO_OK;
}

size_t pmm_tier_keep_entries(pmm_file_info *files, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (pmm_key_is_name(files[i].name))
            files[kept++] = files[i];
    return kept;
}

pmm_io pmm_tier_list_entries(const pmm_tier *tier, pmm_file_info **files, size_t *count, char why[PMM_IO_TEXT]) {
    if (tier->state != PMM_IO_OK)
        return PMM_IO_MISSING;
    if (tier->is_bundle)
        return list_bundle(&tier->bundle, files, count, why);
    int directory;
    pmm_io result = pmm_directory_open(tier->path, PMM_CACHE_ENTRIES, PMM_TRUST_SYSTEM, false, &directory, why);
    if (result != PMM_IO_OK)
        return result;
    result = pmm_directory_list(directory, files, count, why);
    pmm_directory_close(directory);
    if (result == PMM_IO_OK)
        *count = pmm_tier_keep_entries(*files, *count);
    return result;
}
