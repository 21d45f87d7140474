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

static void close_tier(pmm_tier *tier) {
    if (tier->is_bundle)
        pmm_file_close(tier->file);
    free(tier->head);
    free(tier->path);
}

/* Takes `path`. */
static bool add_tier(pmm_tiers *tiers, char *path, bool is_directory, pmm_tier_report report, void *user) {
    pmm_tier *items = path != NULL ? realloc(tiers->items, (tiers->count + 1) * sizeof *items) : NULL;
    if (items == NULL) {
        free(path);
        return false;
    }
    char why[PMM_IO_TEXT] = "";
    tiers->items = items;
    pmm_tier *tier = &items[tiers->count];
    *tier = (pmm_tier){.path = path};
    pmm_io result = is_directory ? PMM_IO_OK : open_bundle(tier, why);
    if (result == PMM_IO_OK) {
        tiers->count++;
    } else {
        report(user, result, why);
        close_tier(tier);
    }
    return true;
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
static bool add_bundles_of(pmm_tiers *tiers, const char *path, const pmm_file_info *files, size_t count,
                           pmm_tier_report report, void *user) {
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(files[i].name), suffix = strlen(PMM_BUNDLE_SUFFIX);
        if (length <= suffix || strcmp(files[i].name + length - suffix, PMM_BUNDLE_SUFFIX) != 0)
            continue;
        if (!add_tier(tiers, join_path(path, files[i].name, length), false, report, user))
            return false;
    }
    return true;
}

static bool add_directory(pmm_tiers *tiers, const char *path, pmm_tier_report report, void *user) {
    char why[PMM_IO_TEXT] = "";
    int directory;
    pmm_file_info *files = NULL;
    size_t count = 0;
    pmm_io result = pmm_directory_open(path, NULL, PMM_TRUST_SYSTEM, false, &directory, why);
    if (result == PMM_IO_OK) {
        result = pmm_directory_list(directory, &files, &count, why);
        pmm_directory_close(directory);
    }
    if (result != PMM_IO_OK) {
        report(user, result, why);
        return true;
    }
    if (count > 1)
        qsort(files, count, sizeof *files, compare_names);
    bool complete = add_tier(tiers, join_path("", path, strlen(path)), true, report, user) &&
                    add_bundles_of(tiers, path, files, count, report, user);
    free(files);
    return complete;
}

static bool add_path(pmm_tiers *tiers, char *path, pmm_tier_report report, void *user) {
    if (path == NULL)
        return false;
    if (path[0] != '/') {
        char why[PMM_IO_TEXT];
        snprintf(why, sizeof why, "%.400s in PORTMM_CACHE_PATH_RO is not an absolute path and is passed over", path);
        report(user, PMM_IO_REFUSED, why);
        free(path);
        return true;
    }
    if (!pmm_is_directory(path))
        return add_tier(tiers, path, false, report, user);
    bool complete = add_directory(tiers, path, report, user);
    free(path);
    return complete;
}

bool pmm_tiers_add(pmm_tiers *tiers, const char *search_path, pmm_tier_report report, void *user) {
    bool complete = true;
    for (const char *at = search_path; complete && *at != '\0';) {
        size_t length = strcspn(at, ":");
        if (length > 0)
            complete = add_path(tiers, join_path("", at, length), report, user);
        at += length + (at[length] == ':');
    }
    return complete;
}

void pmm_tiers_fini(pmm_tiers *tiers) {
    for (size_t i = 0; i < tiers->count; i++)
        close_tier(&tiers->items[i]);
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

pmm_io pmm_tier_list(const pmm_tier *tier, pmm_file_info **files, size_t *count, char why[PMM_IO_TEXT]) {
    if (tier->is_bundle)
        return list_bundle(&tier->bundle, files, count, why);
    int directory;
    pmm_io result = pmm_directory_open(tier->path, PMM_CACHE_ENTRIES, PMM_TRUST_SYSTEM, false, &directory, why);
    if (result != PMM_IO_OK)
        return result;
    result = pmm_directory_list(directory, files, count, why);
    pmm_directory_close(directory);
    return result;
}
