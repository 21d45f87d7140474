/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts over all processes: the file <cache_dir>/statistics, to which each context appends one line when it ends:
 *
 *     portmm 1 <count> ... <count> <sum of them>
 *
 * A line that is torn or of another form counts for nothing. A file that has grown is made one line again by whoever
 * gets its lock; those who append meanwhile do without. Nothing here waits, and none of it is done before the end of a
 * context.
 */
#ifndef PMM_CACHE_STATISTICS_H
#define PMM_CACHE_STATISTICS_H

#include <portmm/cache.h>

#include "cache/store.h"

#define PMM_STATISTICS_FILE "statistics"
#define PMM_STATISTICS_MAX_FILE ((size_t)64 << 10) /* beyond: made one line */

void pmm_statistics_add(pmm_cache *cache);
/* Adds to the counts over all processes in *totals. */
void pmm_statistics_read(const pmm_cache *cache, portmm_cache_totals *totals);
void pmm_statistics_clear(const pmm_cache *cache);

#endif
