/* SPDX-License-Identifier: Apache-2.0 */
/* The on-disk cache: its places, and whether each is trusted. */
#ifndef INFO_CACHE_H
#define INFO_CACHE_H

#include <jansson.h>

/* {"reason": why it is off or has no directory, "places": [{"path", "tier", "trust", "reason", "entries", "bytes"}]},
 * in the order of look-up; tier is user, system, bundle or install; trust is trusted, missing, refused or faulty. */
json_t *info_describe_cache(void);

#endif
