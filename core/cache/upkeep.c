/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/upkeep.h"

#include <stdlib.h>
#include <string.h>

#include "cache/entry.h"
#include "cache/key.h"
#include "cache/statistics.h"
#include "log.h"

static const int64_t hour_ns = 3600000000000;

static pmm_io open_below(const pmm_cache *cache, const char *below, bool create, int *directory,
                         char why[PMM_IO_TEXT]) {
    if (!pmm_cache_has_directory(cache))
        return PMM_IO_MISSING;
    return pmm_directory_open(cache->config->cache_dir, below, PMM_TRUST_USER, create, directory, why);
}

static int compare_stamps(const void *left, const void *right) {
    const pmm_file_info *a = left, *b = right;
    if (a->stamp_ns != b->stamp_ns)
        return a->stamp_ns < b->stamp_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Stamps of the future, from before a clock was set back, count as now. */
static void sort_by_use(pmm_file_info *files, size_t count) {
    int64_t now = pmm_wall_clock_ns();
    for (size_t i = 0; i < count; i++)
        if (files[i].stamp_ns > now)
            files[i].stamp_ns = now;
    if (count > 1)
        qsort(files, count, sizeof *files, compare_stamps);
}

pmm_io pmm_cache_look(const pmm_cache *cache, char why[PMM_IO_TEXT]) {
    int directory;
    pmm_io result = open_below(cache, NULL, false, &directory, why);
    if (result == PMM_IO_OK)
        pmm_directory_close(directory);
    return result;
}

pmm_io pmm_cache_list(const pmm_cache *cache, pmm_file_info **files, size_t *count, char why[PMM_IO_TEXT]) {
    int directory;
    pmm_io result = open_below(cache, PMM_CACHE_ENTRIES, false, &directory, why);
    if (result != PMM_IO_OK)
        return result;
    result = pmm_directory_list(directory, files, count, why);
    pmm_directory_close(directory);
    if (result != PMM_IO_OK)
        return result;
    *count = pmm_tier_keep_entries(*files, *count);
    sort_by_use(*files, *count);
    return PMM_IO_OK;
}

pmm_io pmm_cache_read(const pmm_cache *cache, const char *name, void **bytes, size_t *size, pmm_file_id *id,
                      char why[PMM_IO_TEXT]) {
    int directory;
    pmm_io result = open_below(cache, PMM_CACHE_ENTRIES, false, &directory, why);
    if (result != PMM_IO_OK)
        return result;
    result = pmm_file_read(directory, name, PMM_TRUST_USER, PMM_ENTRY_MAX_FILE, false, bytes, size, id, why);
    pmm_directory_close(directory);
    return result;
}

/* A second time where the directory was deleted in between. */
pmm_io pmm_cache_write(const pmm_cache *cache, const char *name, const void *bytes, size_t size,
                       char why[PMM_IO_TEXT]) {
    pmm_io result = PMM_IO_MISSING;
    for (int attempt = 0; attempt < 2 && result == PMM_IO_MISSING; attempt++) {
        int directory;
        result = open_below(cache, PMM_CACHE_ENTRIES, true, &directory, why);
        if (result != PMM_IO_OK)
            continue;
        result = pmm_file_write(directory, name, bytes, size, why);
        pmm_directory_close(directory);
    }
    return result;
}

pmm_io pmm_cache_remove(const pmm_cache *cache, const char *name, const pmm_file_id *id, char why[PMM_IO_TEXT]) {
    int directory;
    pmm_io result = open_below(cache, PMM_CACHE_ENTRIES, false, &directory, why);
    if (result != PMM_IO_OK)
        return result;
    result = pmm_file_remove(directory, name, id, why);
    pmm_directory_close(directory);
    return result;
}

/* ---- trim ---- */

static void remove_entries(const pmm_cache *cache, const pmm_file_info *files, size_t count, uint64_t limit,
                           bool dry_run, pmm_trimmed *trimmed, char why[PMM_IO_TEXT]) {
    for (size_t i = 0; i < count; i++)
        trimmed->kept_bytes += files[i].size;
    trimmed->kept = count;
    for (size_t i = 0; i < count && (trimmed->kept_bytes > limit || limit == 0); i++) {
        pmm_io result = dry_run ? PMM_IO_OK : pmm_cache_remove(cache, files[i].name, &files[i].id, why);
        if (result != PMM_IO_OK) {
            trimmed->failed += result != PMM_IO_MISSING;
            continue;
        }
        trimmed->removed++;
        trimmed->removed_bytes += files[i].size;
        trimmed->kept--;
        trimmed->kept_bytes -= files[i].size;
    }
}

/* Files older than `age_ns`, or as far in the future: those of killed processes, and locks that nobody wants. A lock
 * that is lost in use costs a second compile at worst. */
static void remove_old(const pmm_cache *cache, const char *below, bool (*is_leftover)(const char *), int64_t age_ns,
                       bool dry_run, pmm_trimmed *trimmed) {
    char why[PMM_IO_TEXT];
    int directory;
    pmm_file_info *files = NULL;
    size_t count = 0;
    if (open_below(cache, below, false, &directory, why) != PMM_IO_OK)
        return;
    int64_t now = pmm_wall_clock_ns();
    if (pmm_directory_list(directory, &files, &count, why) == PMM_IO_OK)
        for (size_t i = 0; i < count; i++) {
            int64_t age = now - files[i].stamp_ns;
            if (!is_leftover(files[i].name) || (age < age_ns && age > -age_ns))
                continue;
            if (dry_run || pmm_file_remove(directory, files[i].name, &files[i].id, why) == PMM_IO_OK)
                trimmed->leftovers++;
        }
    free(files);
    pmm_directory_close(directory);
}

static void remove_leftovers(const pmm_cache *cache, bool all, bool dry_run, pmm_trimmed *trimmed) {
    remove_old(cache, PMM_CACHE_ENTRIES, pmm_file_is_temporary, all ? 0 : hour_ns, dry_run, trimmed);
    remove_old(cache, PMM_CACHE_TRIALS, pmm_key_is_name, all ? 0 : hour_ns, dry_run, trimmed);
    remove_old(cache, PMM_CACHE_LOCKS, pmm_key_is_name, all ? 0 : 24 * hour_ns, dry_run, trimmed);
}

static pmm_io trim(pmm_cache *cache, uint64_t limit, bool all, bool dry_run, pmm_trimmed *trimmed,
                   char why[PMM_IO_TEXT]) {
    pmm_file_info *files = NULL;
    size_t count = 0;
    *trimmed = (pmm_trimmed){0};
    pmm_io result = pmm_cache_list(cache, &files, &count, why);
    if (result != PMM_IO_OK)
        return result == PMM_IO_MISSING ? PMM_IO_OK : result; /* nothing there is little enough */
    remove_entries(cache, files, count, limit, dry_run, trimmed, why);
    free(files);
    remove_leftovers(cache, all, dry_run, trimmed);
    return trimmed->failed == 0 ? PMM_IO_OK : PMM_IO_FAULT;
}

pmm_io pmm_cache_trim(pmm_cache *cache, uint64_t limit, bool dry_run, pmm_trimmed *trimmed, char why[PMM_IO_TEXT]) {
    return trim(cache, limit, false, dry_run, trimmed, why);
}

pmm_io pmm_cache_clear(pmm_cache *cache, bool dry_run, pmm_trimmed *trimmed, char why[PMM_IO_TEXT]) {
    pmm_io result = trim(cache, 0, true, dry_run, trimmed, why);
    if (!dry_run)
        pmm_statistics_clear(cache);
    return result;
}

void pmm_cache_evict(pmm_cache *cache) {
    char why[PMM_IO_TEXT];
    pmm_file_info *files = NULL;
    size_t count = 0;
    uint64_t total = 0, limit = cache->config->cache_max_size;
    if (limit == 0 || pmm_cache_list(cache, &files, &count, why) != PMM_IO_OK)
        return;
    for (size_t i = 0; i < count; i++)
        total += files[i].size;
    pmm_trimmed trimmed = {0};
    if (total > limit) {
        remove_entries(cache, files, count, limit / 10 * 9, false, &trimmed, why);
        pmm_log(cache->config, PORTMM_LOG_INFO, "cache: %llu entries removed, least recently used",
                (unsigned long long)trimmed.removed);
        atomic_fetch_add(&cache->evicted, trimmed.removed);
    }
    free(files);
    remove_leftovers(cache, false, false, &trimmed);
    if (trimmed.failed > 0)
        pmm_cache_note_fault(cache, why);
}
