/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single flight: of the processes that miss one entry at the same time, one compiles, and the others wait for its
 * entry. Locks of the kernel's, which end with their process, in <cache_dir>/locks, for each key:
 *
 *     flight 1  held alone by the one that compiles, until its entry is published or it cannot be; it touches the file
 *               every PMM_FLIGHT_PULSE_MS, as a sign of life
 *     flight 2  the same, for when the holder of flight 1 gives no sign of life: it was stopped
 *     waiting   shared by those that wait: so the holder knows that its entry is wanted now
 *
 * A holder that ends without an entry leaves the lock to one of those that wait; only that one compiles. Nothing
 * depends on the locks: without one, or after the time, everybody compiles. Whoever publishes nothing, as a process
 * without warm-up, and the helper, which is in no hurry, waits for others but holds nothing up.
 */
#ifndef PMM_CACHE_FLIGHT_H
#define PMM_CACHE_FLIGHT_H

#include "cache/store.h"

#define PMM_FLIGHT_PULSE_MS 500
#define PMM_FLIGHT_SILENCE_MS 5000 /* without a sign of life */
#define PMM_FLIGHT_LIMIT_MS 30000  /* of one context, all its waits together */

/* As pmm_cache_get, for who compiles where this is false, and may hold the flight then. */
bool pmm_flight_get(pmm_cache *cache, const pmm_cache_key *key, void **data, size_t *size);

/* Whether another process waits for something that this cache holds the flight of. Cheap without one. */
bool pmm_flight_is_awaited(pmm_cache *cache);

/* Gives up all flights: what could be published is. Cheap without one. */
void pmm_flight_land(pmm_cache *cache);

#endif
