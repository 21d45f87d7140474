/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/statistics.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "portmm 1"
#define MAX_READ ((size_t)16 << 20)

/* In the order of the line. */
static const size_t members[] = {offsetof(portmm_cache_totals, contexts),    offsetof(portmm_cache_totals, hits),
                                 offsetof(portmm_cache_totals, memory_hits), offsetof(portmm_cache_totals, misses),
                                 offsetof(portmm_cache_totals, stores),      offsetof(portmm_cache_totals, rejects),
                                 offsetof(portmm_cache_totals, evicted),     offsetof(portmm_cache_totals, faults),
                                 offsetof(portmm_cache_totals, bypassed),    offsetof(portmm_cache_totals, compiled),
                                 offsetof(portmm_cache_totals, waited),      offsetof(portmm_cache_totals, gave_up),
                                 offsetof(portmm_cache_totals, remembered),  offsetof(portmm_cache_totals, helpers)};

enum { MEMBERS = sizeof members / sizeof *members, LINE = 32 + 21 * (MEMBERS + 1) };

static uint64_t *get_member(portmm_cache_totals *totals, size_t i) {
    return (uint64_t *)(void *)((char *)totals + members[i]);
}

static int print_line(char line[LINE], portmm_cache_totals *totals) {
    uint64_t sum = 0;
    int used = snprintf(line, LINE, HEAD);
    for (size_t i = 0; i < MEMBERS; i++) {
        used += snprintf(line + used, LINE - (size_t)used, " %" PRIu64, *get_member(totals, i));
        sum += *get_member(totals, i);
    }
    return used + snprintf(line + used, LINE - (size_t)used, " %" PRIu64 "\n", sum);
}

/* `line` ends with a NUL. */
static void add_line(const char *line, portmm_cache_totals *totals) {
    uint64_t counts[MEMBERS + 1], sum = 0;
    if (strncmp(line, HEAD " ", strlen(HEAD) + 1) != 0)
        return;
    line += strlen(HEAD);
    for (size_t i = 0; i <= MEMBERS; i++) {
        char *end;
        if (line[0] != ' ' || line[1] < '0' || line[1] > '9')
            return;
        counts[i] = strtoull(line + 1, &end, 10);
        sum += i < MEMBERS ? counts[i] : 0;
        line = end;
    }
    if (*line != '\0' || sum != counts[MEMBERS])
        return;
    for (size_t i = 0; i < MEMBERS; i++)
        *get_member(totals, i) += counts[i];
}

/* *file_size is written in any case. */
static void read_file(int directory, portmm_cache_totals *totals, size_t *file_size) {
    char why[PMM_IO_TEXT];
    void *bytes = NULL;
    size_t size = 0;
    pmm_file_id id;
    *file_size = 0;
    if (pmm_file_read(directory, PMM_STATISTICS_FILE, PMM_TRUST_USER, MAX_READ, false, &bytes, &size, &id, why) !=
        PMM_IO_OK)
        return;
    for (char *at = bytes, *end = at + size, *line_end; at < end; at = line_end + 1) {
        line_end = memchr(at, '\n', (size_t)(end - at));
        if (line_end == NULL)
            break;
        *line_end = '\0';
        add_line(at, totals);
    }
    free(bytes);
    *file_size = size;
}

/* With the lock held alone. */
static void make_one_line(int directory) {
    portmm_cache_totals totals = {0};
    char line[LINE], why[PMM_IO_TEXT];
    size_t size;
    read_file(directory, &totals, &size);
    if (size > PMM_STATISTICS_MAX_FILE)
        pmm_file_write(directory, PMM_STATISTICS_FILE, line, (size_t)print_line(line, &totals), why);
}

static bool lock(const pmm_cache *cache, bool shared, int *file) {
    char why[PMM_IO_TEXT];
    int locks;
    if (pmm_directory_open(cache->config->cache_dir, PMM_CACHE_LOCKS, PMM_TRUST_USER, true, &locks, why) != PMM_IO_OK)
        return false;
    bool held = pmm_file_lock(locks, PMM_STATISTICS_FILE, shared, file, why) == PMM_IO_OK;
    pmm_directory_close(locks);
    return held;
}

static portmm_cache_totals get_own(pmm_cache *cache) {
    return (portmm_cache_totals){.contexts = 1,
                                 .hits = atomic_load(&cache->hits),
                                 .memory_hits = atomic_load(&cache->memory_hits),
                                 .misses = atomic_load(&cache->misses),
                                 .stores = atomic_load(&cache->stores),
                                 .rejects = atomic_load(&cache->healed),
                                 .evicted = atomic_load(&cache->evicted),
                                 .faults = atomic_load(&cache->faults),
                                 .bypassed = atomic_load(&cache->bypassed),
                                 .compiled = atomic_load(&cache->compiled),
                                 .waited = atomic_load(&cache->waited),
                                 .gave_up = atomic_load(&cache->gave_up),
                                 .remembered = atomic_load(&cache->remembered),
                                 .helpers = atomic_load(&cache->helpers)};
}

void pmm_statistics_add(pmm_cache *cache) {
    portmm_cache_totals own = get_own(cache);
    char line[LINE], why[PMM_IO_TEXT];
    int directory, held;
    uint64_t size = 0;
    bool counted = own.hits + own.misses + own.stores + own.rejects + own.faults + own.compiled + own.helpers > 0;
    if (!counted || !pmm_cache_can_write(cache) || cache->counts_nothing || cache->process != pmm_process_number() ||
        !lock(cache, true, &held))
        return;
    bool open = pmm_directory_open(cache->config->cache_dir, NULL, PMM_TRUST_USER, false, &directory, why) == PMM_IO_OK;
    if (open)
        pmm_file_append(directory, PMM_STATISTICS_FILE, line, (size_t)print_line(line, &own), &size, why);
    pmm_file_unlock(held);
    if (size > PMM_STATISTICS_MAX_FILE && lock(cache, false, &held)) {
        make_one_line(directory);
        pmm_file_unlock(held);
    }
    if (open)
        pmm_directory_close(directory);
}

void pmm_statistics_read(const pmm_cache *cache, portmm_cache_totals *totals) {
    char why[PMM_IO_TEXT];
    int directory;
    size_t size;
    if (!pmm_cache_has_directory(cache) ||
        pmm_directory_open(cache->config->cache_dir, NULL, PMM_TRUST_USER, false, &directory, why) != PMM_IO_OK)
        return;
    read_file(directory, totals, &size);
    pmm_directory_close(directory);
}

void pmm_statistics_clear(const pmm_cache *cache) {
    char why[PMM_IO_TEXT];
    int directory;
    pmm_file_info *files = NULL;
    size_t count = 0;
    if (pmm_directory_open(cache->config->cache_dir, NULL, PMM_TRUST_USER, false, &directory, why) != PMM_IO_OK)
        return;
    if (pmm_directory_list(directory, &files, &count, why) == PMM_IO_OK)
        for (size_t i = 0; i < count; i++)
            if (strcmp(files[i].name, PMM_STATISTICS_FILE) == 0)
                pmm_file_remove(directory, files[i].name, &files[i].id, why);
    free(files);
    pmm_directory_close(directory);
}
