/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/key.h"
#include "log.h"

#define POLL_MS 20 /* and up to as much again, so that those who wait do not come all at once */
#define KIND_ROOM 128

static const char *const lanes[] = {"flight 1", "flight 2"};
enum { LANES = sizeof lanes / sizeof *lanes };

/* Of one key. */
struct pmm_flight {
    int file;
    char waiting_name[PMM_KEY_NAME_SIZE];
    bool pulses; /* has a thread */
    pmm_thread pulse;
    pmm_mutex mutex; /* of all below */
    pmm_condition changed;
    bool landed;
    pmm_flight *next;
};

/* Flights of this process. One that holds any never waits: the others might wait for it in turn, and a context of its
 * own surely would. */
static atomic_int held_here;
static atomic_int_fast64_t holder; /* process; in the child of a fork they are not its own */

static bool is_holding(void) {
    return atomic_load(&holder) == pmm_process_number() && atomic_load(&held_here) > 0;
}

static void count_flight(void) {
    if (atomic_exchange(&holder, pmm_process_number()) != pmm_process_number())
        atomic_store(&held_here, 0);
    atomic_fetch_add(&held_here, 1);
}

/* ---- files ---- */

static bool make_name(const char *prefix, const pmm_cache_key *key, char name[PMM_KEY_NAME_SIZE]) {
    char kind[KIND_ROOM];
    size_t size = 0;
    snprintf(kind, sizeof kind, "%s %s", prefix, key->kind);
    const pmm_cache_key prefixed = {.kind = kind, .fields = key->fields, .count = key->count};
    unsigned char *encoded = pmm_key_encode(&prefixed, &size);
    if (encoded != NULL)
        pmm_key_name(encoded, size, name);
    free(encoded);
    return encoded != NULL;
}

static bool open_file(pmm_cache *cache, const char *name, int *file) {
    char why[PMM_IO_TEXT];
    int directory;
    pmm_io result =
        pmm_directory_open(cache->config->cache_dir, PMM_CACHE_LOCKS, PMM_TRUST_USER, true, &directory, why);
    if (result == PMM_IO_OK) {
        result = pmm_lock_open(directory, name, file, why);
        pmm_directory_close(directory);
    }
    if (result == PMM_IO_FAULT || result == PMM_IO_REFUSED)
        pmm_cache_note_fault(cache, why);
    return result == PMM_IO_OK;
}

/* ---- the one that compiles ---- */

static void *run_pulse(void *argument) {
    pmm_flight *flight = argument;
    pmm_mutex_lock(&flight->mutex);
    while (!flight->landed) {
        pmm_lock_touch(flight->file);
        pmm_condition_wait(&flight->changed, &flight->mutex, PMM_FLIGHT_PULSE_MS);
    }
    pmm_mutex_unlock(&flight->mutex);
    return NULL;
}

/* Without memory for it the flight goes back: others may try. */
static void keep_flight(pmm_cache *cache, const pmm_cache_key *key, int file) {
    pmm_flight *flight = calloc(1, sizeof *flight);
    if (flight == NULL || !make_name("waiting", key, flight->waiting_name) || !pmm_mutex_init(&flight->mutex) ||
        !pmm_condition_init(&flight->changed)) {
        free(flight);
        pmm_lock_release(file);
        return;
    }
    flight->file = file;
    pmm_lock_touch(file); /* those who wait for an earlier holder begin anew */
    flight->pulses = pmm_thread_start(&flight->pulse, "portmm-pulse", run_pulse, flight);
    count_flight();
    pmm_mutex_lock(&cache->mutex);
    atomic_fetch_add(&cache->flight_count, 1);
    flight->next = cache->flights;
    cache->flights = flight;
    pmm_mutex_unlock(&cache->mutex);
}

static bool is_name_awaited(pmm_cache *cache, const char *name) {
    char why[PMM_IO_TEXT];
    int file;
    if (!open_file(cache, name, &file))
        return false;
    bool awaited = pmm_lock_try(file, false, name, why) == PMM_IO_BUSY;
    pmm_lock_release(file);
    return awaited;
}

bool pmm_flight_is_awaited(pmm_cache *cache) {
    enum { LOOKED_AT = 8 }; /* programs of one product */
    char names[LOOKED_AT][PMM_KEY_NAME_SIZE];
    size_t count = 0;
    bool awaited = false;
    if (atomic_load(&cache->flight_count) == 0 || cache->process != pmm_process_number())
        return false;
    pmm_mutex_lock(&cache->mutex);
    for (const pmm_flight *each = cache->flights; each != NULL && count < LOOKED_AT; each = each->next)
        memcpy(names[count++], each->waiting_name, sizeof each->waiting_name);
    pmm_mutex_unlock(&cache->mutex);
    for (size_t i = 0; i < count && !awaited; i++)
        awaited = is_name_awaited(cache, names[i]);
    return awaited;
}

static void end_flight(pmm_flight *flight) {
    pmm_mutex_lock(&flight->mutex);
    flight->landed = true;
    pmm_condition_signal(&flight->changed);
    pmm_mutex_unlock(&flight->mutex);
    if (flight->pulses)
        pmm_thread_join(flight->pulse);
    pmm_condition_fini(&flight->changed);
    pmm_mutex_fini(&flight->mutex);
    pmm_lock_release(flight->file);
    atomic_fetch_sub(&held_here, 1);
    free(flight);
}

/* The child of a fork has neither the threads nor the right to the locks. */
static void forget_flights(pmm_cache *cache) {
    for (pmm_flight *flight = cache->flights, *next; flight != NULL; flight = next) {
        next = flight->next;
        pmm_file_close(flight->file);
        free(flight);
    }
    cache->flights = NULL;
    atomic_store(&cache->flight_count, 0);
}

void pmm_flight_land(pmm_cache *cache) {
    if (atomic_load(&cache->flight_count) == 0)
        return;
    if (cache->process != pmm_process_number()) {
        forget_flights(cache);
        return;
    }
    pmm_mutex_lock(&cache->mutex);
    pmm_flight *flights = cache->flights;
    cache->flights = NULL;
    atomic_store(&cache->flight_count, 0);
    pmm_mutex_unlock(&cache->mutex);
    while (flights != NULL) {
        pmm_flight *flight = flights;
        flights = flight->next;
        end_flight(flight);
    }
}

/* ---- the others ---- */

typedef enum outcome { FOUND, HELD, PRIVATE, SILENT } outcome;

/* One who looks for an entry and, meanwhile, the lock of one lane. */
typedef struct look {
    pmm_cache *cache;
    const pmm_cache_key *key;
    void **data;
    size_t *size;
    bool publishes;
} look;

/* With the lock, if it is free: the entry may have come just before. BUSY: it is not free. */
static pmm_io look_again(const look *this, int file, const char *name, outcome *end) {
    char why[PMM_IO_TEXT];
    pmm_io result = pmm_lock_try(file, true, name, why); /* all at once may look */
    if (result == PMM_IO_OK && pmm_cache_peek(this->cache, this->key, this->data, this->size)) {
        *end = FOUND;
        return result;
    }
    if (result == PMM_IO_OK && this->publishes) {
        result = pmm_lock_try(file, false, name, why);
        if (result == PMM_IO_OK) /* it was free for a moment */
            *end = pmm_cache_peek(this->cache, this->key, this->data, this->size) ? FOUND : HELD;
        else
            pmm_lock_give(file);
    }
    if (result == PMM_IO_FAULT)
        pmm_cache_note_fault(this->cache, why);
    return result;
}

/* Until the entry is there, the lock is, or the holder seems to be stopped. */
static outcome await_entry(const look *this, int file, const char *name) {
    uint64_t begin = pmm_clock_ns(), heard = begin, before = atomic_load(&this->cache->waited_ns), now = begin;
    int64_t sign = pmm_lock_stamp(file);
    outcome end = PRIVATE;
    for (;;) {
        pmm_sleep((unsigned)(POLL_MS + pmm_clock_ns() / 1000 % POLL_MS));
        if (look_again(this, file, name, &end) != PMM_IO_BUSY)
            break;
        now = pmm_clock_ns();
        int64_t next = pmm_lock_stamp(file);
        heard = next != sign ? now : heard;
        sign = next;
        if (before + (now - begin) > (uint64_t)PMM_FLIGHT_LIMIT_MS * 1000000u)
            break;
        if (now - heard > (uint64_t)PMM_FLIGHT_SILENCE_MS * 1000000u) {
            end = SILENT;
            break;
        }
    }
    atomic_fetch_add(&this->cache->waited_ns, pmm_clock_ns() - begin);
    return end;
}

static outcome await_aloud(const look *this, int file, const char *name) {
    char waiting_name[PMM_KEY_NAME_SIZE], why[PMM_IO_TEXT];
    int waiting = -1;
    if (make_name("waiting", this->key, waiting_name) && open_file(this->cache, waiting_name, &waiting))
        pmm_lock_try(waiting, true, waiting_name, why);
    pmm_log(this->cache->config, PORTMM_LOG_DEBUG, "cache: %s: another process compiles it; this one waits",
            this->key->kind);
    outcome end = await_entry(this, file, name);
    if (waiting >= 0)
        pmm_lock_release(waiting);
    if (end == FOUND)
        atomic_fetch_add(&this->cache->waited, 1);
    else if (end != HELD)
        atomic_fetch_add(&this->cache->gave_up, 1);
    return end;
}

static outcome try_lane(const look *this, const char *lane) {
    char name[PMM_KEY_NAME_SIZE];
    int file;
    outcome end = PRIVATE;
    if (!make_name(lane, this->key, name) || !open_file(this->cache, name, &file))
        return PRIVATE;
    if (look_again(this, file, name, &end) == PMM_IO_BUSY && !is_holding())
        end = await_aloud(this, file, name);
    if (end == HELD)
        keep_flight(this->cache, this->key, file);
    else
        pmm_lock_release(file);
    return end;
}

static bool await_flight(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size) {
    const look this = {cache, key, data, size, .publishes = cache->config->warmup != PORTMM_WARMUP_OFF};
    if (!pmm_cache_can_write(cache) || pmm_cache_is_proving(cache) || cache->process != pmm_process_number())
        return false;
    outcome end = SILENT;
    for (int lane = 0; lane < LANES && end == SILENT; lane++)
        end = try_lane(&this, lanes[lane]);
    return end == FOUND;
}

bool pmm_flight_get(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size) {
    bool found = pmm_cache_find(cache, key, data, size) || await_flight(cache, key, data, size);
    pmm_cache_note_look(cache, key, found, found ? *size : 0);
    return found;
}
