/* SPDX-License-Identifier: Apache-2.0 */
/* Entries into a bundle, and out of one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/bundle.h"
#include "cache/entry.h"
#include "cache/failure.h"
#include "cache/handle.h"
#include "cache/key.h"
#include "cache/upkeep.h"
#include "status.h"
#include "structs.h"

/* Whether these bytes are the entry of that name, and no remembered failure. */
static bool is_worth_moving(const char *name, const unsigned char *bytes, size_t size) {
    size_t key_size = 0, payload_size = 0, at = 0;
    char own_name[PMM_KEY_NAME_SIZE];
    void *payload = NULL;
    pmm_key_part kind;
    const unsigned char *key = pmm_entry_key(bytes, size, &key_size, &payload_size);
    if (key == NULL || pmm_entry_decode(bytes, size, key, key_size, &payload, &payload_size) != PMM_ENTRY_GOOD)
        return false;
    free(payload);
    pmm_key_name(key, key_size, own_name);
    size_t prefix = strlen(PMM_FAILURE_KIND);
    return strcmp(own_name, name) == 0 && pmm_key_next(key, key_size, &at, &kind) &&
           !(kind.size >= prefix && memcmp(kind.data, PMM_FAILURE_KIND, prefix) == 0);
}

static portmm_status tell_memory(void) {
    return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for a bundle");
}

/* Splits at the last slash: files are written within a directory that was checked. */
static portmm_status write_bundle(const char *path, const void *bytes, size_t size) {
    char why[PMM_IO_TEXT] = "";
    int directory;
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    char *parent = malloc(length + 1);
    if (parent == NULL)
        return tell_memory();
    memcpy(parent, path, length);
    parent[length] = '\0';
    pmm_io result = pmm_directory_open(parent, NULL, PMM_TRUST_SYSTEM, false, &directory, why);
    free(parent);
    if (result == PMM_IO_OK) {
        result = pmm_file_write(directory, slash + 1, bytes, size, why);
        pmm_directory_close(directory);
    }
    return result == PMM_IO_OK ? PORTMM_STATUS_SUCCESS
                               : pmm_fail(PORTMM_STATUS_UNAVAILABLE, "portmm_cache_seal: %s", why);
}

static portmm_status gather(portmm_cache *cache, const pmm_file_info *files, size_t count, pmm_bundle_part *parts,
                            portmm_cache_moved *moved) {
    char why[PMM_IO_TEXT];
    for (size_t i = 0; i < count; i++) {
        pmm_file_id id;
        void *bytes = NULL;
        size_t size = 0;
        bool read = pmm_cache_read(&cache->cache, files[i].name, &bytes, &size, &id, why) == PMM_IO_OK;
        if (!read || !is_worth_moving(files[i].name, bytes, size)) {
            free(bytes);
            moved->passed_over++;
            continue;
        }
        pmm_bundle_part *part = &parts[moved->entries++];
        memcpy(part->name, files[i].name, sizeof part->name);
        part->bytes = bytes;
        part->size = size;
        moved->bytes += size;
    }
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status seal_files(portmm_cache *cache, const char *path, const pmm_file_info *files, size_t count,
                                portmm_cache_moved *moved) {
    pmm_bundle_part *parts = calloc(count > 0 ? count : 1, sizeof *parts);
    size_t size = 0;
    if (parts == NULL)
        return tell_memory();
    portmm_status status = gather(cache, files, count, parts, moved);
    unsigned char *bytes = pmm_bundle_encode(parts, (size_t)moved->entries, &size);
    if (status == PORTMM_STATUS_SUCCESS)
        status = bytes != NULL ? write_bundle(path, bytes, size) : tell_memory();
    free(bytes);
    for (size_t i = 0; i < moved->entries; i++) {
        void *owned;
        memcpy(&owned, &parts[i].bytes, sizeof owned); /* a bundle's parts are not changed, but these are ours */
        free(owned);
    }
    free(parts);
    return status;
}

static portmm_status check_arguments(const portmm_cache *cache, const char *path, const portmm_cache_moved *moved,
                                     const char *function) {
    pmm_clear_error();
    if (cache == NULL || path == NULL || moved == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: cache, path or moved is NULL", function);
    size_t length = strlen(path);
    if (path[0] != '/' || path[length - 1] == '/')
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: path = \"%.200s\" is not the absolute path of a file",
                        function, path);
    return PORTMM_STATUS_SUCCESS;
}

portmm_status portmm_cache_seal(portmm_cache *cache, const char *path, portmm_cache_moved *moved) {
    portmm_cache_moved ours = {.struct_size = sizeof ours};
    char why[PMM_IO_TEXT] = "there is none";
    pmm_file_info *files = NULL;
    size_t count = 0;
    portmm_status status = check_arguments(cache, path, moved, "portmm_cache_seal");
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_io result = pmm_cache_list(&cache->cache, &files, &count, why);
    if (result != PMM_IO_OK)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "portmm_cache_seal: no directory of the user's to seal: %s", why);
    status = seal_files(cache, path, files, count, &ours);
    free(files);
    return status == PORTMM_STATUS_SUCCESS ? pmm_struct_out(moved, &ours, sizeof ours, "moved") : status;
}

static pmm_io import_entry(pmm_cache *cache, const pmm_tier *bundle, const char *name, portmm_cache_moved *moved,
                           char why[PMM_IO_TEXT]) {
    void *bytes = NULL, *present = NULL;
    size_t size = 0, present_size = 0;
    pmm_file_id id;
    if (pmm_tier_read(bundle, name, &bytes, &size, why) != PMM_IO_OK || !is_worth_moving(name, bytes, size)) {
        moved->passed_over++;
        free(bytes);
        return PMM_IO_OK;
    }
    pmm_io result = PMM_IO_OK;
    if (pmm_cache_read(cache, name, &present, &present_size, &id, why) == PMM_IO_OK &&
        is_worth_moving(name, present, present_size)) {
        moved->already_there++;
    } else {
        result = pmm_cache_write(cache, name, bytes, size, why);
        moved->entries += result == PMM_IO_OK;
        moved->bytes += result == PMM_IO_OK ? size : 0;
    }
    free(present);
    free(bytes);
    return result;
}

portmm_status portmm_cache_import(portmm_cache *cache, const char *path, portmm_cache_moved *moved) {
    portmm_cache_moved ours = {.struct_size = sizeof ours};
    char why[PMM_IO_TEXT] = "";
    pmm_tier bundle;
    portmm_status status = check_arguments(cache, path, moved, "portmm_cache_import");
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_handle_check_writable(cache, "portmm_cache_import");
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_io result = pmm_tier_open_bundle(&bundle, path, why);
    for (size_t i = 0; result == PMM_IO_OK && i < bundle.bundle.count; i++) {
        pmm_bundle_item item = pmm_bundle_get(&bundle.bundle, i);
        result = import_entry(&cache->cache, &bundle, item.name, &ours, why);
    }
    pmm_tier_close(&bundle);
    if (result != PMM_IO_OK)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "portmm_cache_import: %s", why);
    pmm_cache_evict(&cache->cache);
    return pmm_struct_out(moved, &ours, sizeof ours, "moved");
}
