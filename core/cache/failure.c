/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/bytes.h"
#include "log.h"

/* The kind as text that lives in `room`. */
static pmm_cache_key make_failure_key(const pmm_cache_key *key, char room[128]) {
    snprintf(room, 128, PMM_FAILURE_KIND "%s", key->kind);
    return (pmm_cache_key){.kind = room, .fields = key->fields, .count = key->count};
}

int64_t pmm_failure_expiry(const void *payload, size_t size) {
    return size >= 8 ? (int64_t)pmm_get_u64(payload) : 0;
}

/* A time further off than any lifetime is from before a clock was set back. */
static bool is_valid(int64_t expiry) {
    int64_t now = pmm_wall_clock_ns();
    return expiry > now && expiry <= now + PMM_FAILURE_LIFETIME_NS;
}

bool pmm_cache_recall_failure(pmm_cache *cache, const pmm_cache_key *key, char *reason, size_t size) {
    char room[128];
    pmm_cache_key failure = make_failure_key(key, room);
    void *payload = NULL;
    size_t payload_size = 0;
    if (!pmm_cache_peek(cache, &failure, &payload, &payload_size))
        return false;
    bool known = is_valid(pmm_failure_expiry(payload, payload_size));
    if (known) {
        snprintf(reason, size, "%.*s", (int)(payload_size - 8), (const char *)payload + 8);
        atomic_fetch_add(&cache->remembered, 1);
    } else {
        pmm_cache_reject(cache, &failure, "out of date");
    }
    free(payload);
    return known;
}

void pmm_cache_remember_failure(pmm_cache *cache, const pmm_cache_key *key, const char *reason) {
    unsigned char payload[8 + PMM_FAILURE_TEXT];
    char room[128];
    pmm_cache_key failure = make_failure_key(key, room);
    pmm_put_u64(payload, (uint64_t)(pmm_wall_clock_ns() + PMM_FAILURE_LIFETIME_NS));
    size_t length = strlen(reason);
    if (length > PMM_FAILURE_TEXT)
        length = PMM_FAILURE_TEXT;
    memcpy(payload + 8, reason, length);
    if (pmm_cache_put(cache, &failure, payload, 8 + length))
        pmm_log(cache->config, PORTMM_LOG_INFO, "cache: a failed build is remembered for ten minutes: %.200s", reason);
}
