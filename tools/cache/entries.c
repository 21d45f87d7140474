/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on what is there: path, stats, list, verify, prune, clear, seal, import. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "platform.h"

static const char *tell_tier(portmm_cache_tier tier) {
    static const char *const names[] = {"?", "user", "system", "bundle", "install"};
    return names[(unsigned)tier < sizeof names / sizeof *names ? (unsigned)tier : 0];
}

static const char *tell_trust(portmm_cache_trust trust) {
    static const char *const names[] = {"?", "trusted", "missing", "refused", "faulty"};
    return names[(unsigned)trust < sizeof names / sizeof *names ? (unsigned)trust : 0];
}

/* Returns how many of them are refused or faulty. */
static int add_places(portmm_cache *cache, json_t *result) {
    json_t *places = json_array();
    int bad = 0;
    for (size_t i = 0; i < portmm_cache_place_count(cache); i++) {
        portmm_cache_place place = PORTMM_CACHE_PLACE_INIT;
        if (portmm_cache_get_place(cache, i, &place) != PORTMM_STATUS_SUCCESS)
            continue;
        json_t *one = json_object();
        tool_set_text(one, "path", place.path);
        tool_set_text(one, "tier", tell_tier(place.tier));
        tool_set_text(one, "trust", tell_trust(place.trust));
        tool_set_text(one, "reason", place.reason);
        json_object_set_new(one, "writable", json_boolean(place.writable));
        tool_set_number(one, "entries", place.entries);
        tool_set_number(one, "bytes", place.bytes);
        json_array_append_new(places, one);
        bad += place.trust == PORTMM_CACHE_REFUSED || place.trust == PORTMM_CACHE_FAULTY;
    }
    json_object_set_new(result, "places", places);
    tool_set_text(result, "reason", portmm_cache_why_off(cache));
    return bad;
}

int tool_path(const tool_request *request, portmm_cache *cache, json_t *result) {
    (void)request;
    bool off = portmm_cache_why_off(cache)[0] != '\0';
    return add_places(cache, result) > 0 ? TOOL_PROBLEM : off ? TOOL_UNAVAILABLE : TOOL_FINE;
}

int tool_stats(const tool_request *request, portmm_cache *cache, json_t *result) {
    portmm_cache_totals totals = PORTMM_CACHE_TOTALS_INIT;
    add_places(cache, result);
    if (portmm_cache_get_totals(cache, &totals) != PORTMM_STATUS_SUCCESS)
        return tool_complain_last(request, TOOL_UNAVAILABLE);
    const struct {
        const char *name;
        uint64_t value;
    } values[] = {{"entries", totals.entries},       {"bytes", totals.bytes},    {"max_size", totals.max_size},
                  {"contexts", totals.contexts},     {"hits", totals.hits},      {"memory_hits", totals.memory_hits},
                  {"misses", totals.misses},         {"stores", totals.stores},  {"rejects", totals.rejects},
                  {"evicted", totals.evicted},       {"faults", totals.faults},  {"bypassed", totals.bypassed},
                  {"compiled", totals.compiled},     {"waited", totals.waited},  {"gave_up", totals.gave_up},
                  {"remembered", totals.remembered}, {"helpers", totals.helpers}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        tool_set_number(result, values[i].name, values[i].value);
    return TOOL_FINE;
}

/* ---- list, verify ---- */

typedef struct listing {
    portmm_cache *cache;
    size_t position;
    const char *place;
    json_t *entries;
} listing;

/* Fields whose values are a line; the source of a program is not. */
static int add_field(const char *label, const void *data, size_t size, void *user) {
    enum { LINE = 200 };
    if (size <= LINE)
        tool_set_bytes(user, label, data, size);
    return 0;
}

static int add_entry(const portmm_cache_entry *entry, void *user) {
    listing *this = user;
    json_t *one = json_object(), *fields = json_object();
    tool_set_text(one, "name", entry->name);
    tool_set_text(one, "place", this->place);
    tool_set_number(one, "position", this->position);
    tool_set_text(one, "kind", entry->kind);
    tool_set_number(one, "bytes", entry->bytes);
    tool_set_number(one, "payload_bytes", entry->payload_bytes);
    tool_set_number(one, "used_ns", (uint64_t)entry->used_ns);
    tool_set_number(one, "expires_ns", (uint64_t)entry->expires_ns);
    json_object_set_new(one, "fields", fields);
    json_array_append_new(this->entries, one);
    return 0;
}

/* All entries of all places. The fields are read after the visit: a callback must not call back. */
static json_t *list_entries(portmm_cache *cache) {
    json_t *entries = json_array(), *one;
    for (size_t i = 0; i < portmm_cache_place_count(cache); i++) {
        portmm_cache_place place = PORTMM_CACHE_PLACE_INIT;
        if (portmm_cache_get_place(cache, i, &place) != PORTMM_STATUS_SUCCESS)
            continue;
        listing this = {cache, i, place.path, entries};
        portmm_cache_visit_entries(cache, i, add_entry, &this);
    }
    size_t number;
    json_array_foreach(entries, number, one) {
        portmm_cache_visit_fields(cache, (size_t)tool_number(one, "position"), tool_text(one, "name"), add_field,
                                  json_object_get(one, "fields"));
        json_object_del(json_object_get(one, "fields"), "kind");
    }
    return entries;
}

int tool_list(const tool_request *request, portmm_cache *cache, json_t *result) {
    (void)request;
    json_object_set_new(result, "entries", list_entries(cache));
    return TOOL_FINE;
}

/* Whether it was sound. */
static bool verify_one(const tool_request *request, portmm_cache *cache, json_t *entry) {
    const char *problem = "", *name = tool_text(entry, "name");
    size_t position = (size_t)tool_number(entry, "position");
    int32_t removed = 0;
    portmm_cache_place place = PORTMM_CACHE_PLACE_INIT;
    if (portmm_cache_check_entry(cache, position, name, &problem) != PORTMM_STATUS_SUCCESS)
        problem = portmm_last_error();
    bool sound = problem[0] == '\0';
    tool_set_text(entry, "problem", problem);
    if (!sound && request->remove && !request->dry_run &&
        portmm_cache_get_place(cache, position, &place) == PORTMM_STATUS_SUCCESS &&
        place.tier == PORTMM_CACHE_TIER_USER)
        portmm_cache_remove_entry(cache, name, 1, &removed);
    json_object_set_new(entry, "removed", json_boolean(removed));
    return sound;
}

int tool_verify(const tool_request *request, portmm_cache *cache, json_t *result) {
    json_t *entries = list_entries(cache), *entry;
    size_t number;
    unsigned bad = 0, removed = 0;
    json_array_foreach(entries, number, entry) {
        bad += !verify_one(request, cache, entry);
        removed += json_is_true(json_object_get(entry, "removed"));
    }
    int places = add_places(cache, result);
    json_object_set_new(result, "entries", entries);
    tool_set_number(result, "checked", json_array_size(entries));
    tool_set_number(result, "bad", bad);
    tool_set_number(result, "removed", removed);
    int status = bad > removed || places > 0 ? TOOL_PROBLEM : TOOL_FINE;
    int rebuilt = request->recompile ? tool_recompile(request, cache, result) : TOOL_FINE;
    return rebuilt != TOOL_FINE ? rebuilt : status;
}

/* ---- upkeep ---- */

static int tell_removed(const tool_request *request, portmm_status status, const portmm_cache_removed *removed,
                        json_t *result) {
    json_object_set_new(result, "dry_run", json_boolean(request->dry_run));
    tool_set_number(result, "entries", removed->entries);
    tool_set_number(result, "bytes", removed->bytes);
    tool_set_number(result, "kept_entries", removed->kept_entries);
    tool_set_number(result, "kept_bytes", removed->kept_bytes);
    tool_set_number(result, "leftovers", removed->leftovers);
    tool_set_number(result, "failed", removed->failed);
    return status == PORTMM_STATUS_SUCCESS ? TOOL_FINE : tool_complain_last(request, TOOL_UNAVAILABLE);
}

int tool_prune(const tool_request *request, portmm_cache *cache, json_t *result) {
    portmm_cache_totals totals = PORTMM_CACHE_TOTALS_INIT;
    portmm_cache_removed removed = PORTMM_CACHE_REMOVED_INIT;
    if (portmm_cache_get_totals(cache, &totals) != PORTMM_STATUS_SUCCESS)
        return tool_complain_last(request, TOOL_UNAVAILABLE);
    uint64_t limit = request->has_max_size ? request->max_size : totals.max_size == 0 ? UINT64_MAX : totals.max_size;
    portmm_status status = portmm_cache_trim(cache, limit, request->dry_run, &removed);
    return tell_removed(request, status, &removed, result);
}

int tool_clear(const tool_request *request, portmm_cache *cache, json_t *result) {
    portmm_cache_removed removed = PORTMM_CACHE_REMOVED_INIT;
    portmm_status status = portmm_cache_clear(cache, request->dry_run, &removed);
    return tell_removed(request, status, &removed, result);
}

/* ---- bundles ---- */

/* From malloc: a relative path is one from here. */
static char *make_absolute(const char *path) {
    char here[4096] = "";
    if (path[0] != '/' && !tool_current_directory(here, sizeof here))
        return NULL;
    size_t size = strlen(here) + strlen(path) + 2;
    char *absolute = malloc(size);
    if (absolute != NULL)
        snprintf(absolute, size, "%s%s%s", here, path[0] != '/' ? "/" : "", path);
    return absolute;
}

static int move(const tool_request *request, portmm_cache *cache, json_t *result,
                portmm_status (*function)(portmm_cache *, const char *, portmm_cache_moved *)) {
    portmm_cache_moved moved = PORTMM_CACHE_MOVED_INIT;
    char *path = make_absolute(request->operands[0]);
    if (path == NULL)
        return tool_complain(request, TOOL_UNAVAILABLE, "the current directory cannot be told; give an absolute path");
    portmm_status status = function(cache, path, &moved);
    tool_set_text(result, "file", path);
    tool_set_number(result, "entries", moved.entries);
    tool_set_number(result, "bytes", moved.bytes);
    tool_set_number(result, "already_there", moved.already_there);
    tool_set_number(result, "passed_over", moved.passed_over);
    free(path);
    return status == PORTMM_STATUS_SUCCESS ? TOOL_FINE : tool_complain_last(request, TOOL_UNAVAILABLE);
}

int tool_seal(const tool_request *request, portmm_cache *cache, json_t *result) {
    return move(request, cache, result, portmm_cache_seal);
}

int tool_import(const tool_request *request, portmm_cache *cache, json_t *result) {
    return move(request, cache, result, portmm_cache_import);
}
