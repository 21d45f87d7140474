/* SPDX-License-Identifier: Apache-2.0 */
/* What a portmm_cache is. */
#ifndef PMM_CACHE_HANDLE_H
#define PMM_CACHE_HANDLE_H

#include <portmm/cache.h>

#include "cache/store.h"

struct portmm_cache {
    pmm_config config;
    pmm_cache cache;
    char place_reason[PMM_IO_TEXT]; /* of the user's directory, when it was last looked at; under cache.mutex */
};

/* UNAVAILABLE with the reason, if entries cannot be stored or removed. */
portmm_status pmm_handle_check_writable(const portmm_cache *cache, const char *function);

#endif
