/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"

#include "request.h"

#include <portmm/cache.h>

static const char *name_of(const char *const *names, int count, int value) {
    return value > 0 && value < count ? names[value] : names[0];
}

static json_t *describe_place(const portmm_cache_place *place) {
    static const char *const tiers[] = {"unknown", "user", "system", "bundle", "install"};
    static const char *const trusts[] = {"unknown", "trusted", "missing", "refused", "faulty"};
    return json_pack("{s:o, s:s, s:s, s:o, s:I, s:I}", "path", bench_json_string(place->path), "tier",
                     name_of(tiers, 5, (int)place->tier), "trust", name_of(trusts, 5, (int)place->trust), "reason",
                     bench_json_string(place->reason), "entries", (json_int_t)place->entries, "bytes",
                     (json_int_t)place->bytes);
}

json_t *info_describe_cache(void) {
    portmm_cache *cache = NULL;
    json_t *places = json_array();
    const char *reason = portmm_cache_create(NULL, &cache) == PORTMM_STATUS_SUCCESS ? "" : portmm_last_error();
    json_t *text = bench_json_string(cache != NULL ? portmm_cache_why_off(cache) : reason);
    for (size_t i = 0; i < (cache != NULL ? portmm_cache_place_count(cache) : 0); i++) {
        portmm_cache_place place = PORTMM_CACHE_PLACE_INIT;
        if (portmm_cache_get_place(cache, i, &place) == PORTMM_STATUS_SUCCESS) {
            (void)json_array_append_new(places, describe_place(&place));
        }
    }
    portmm_cache_destroy(cache);
    return json_pack("{s:o, s:o}", "reason", text, "places", places);
}
