/* SPDX-License-Identifier: Apache-2.0 */
/* What a cache entry of a program holds: the launches whose code is in it, then the driver's binary. */
#ifndef PMM_CL_PAYLOAD_H
#define PMM_CL_PAYLOAD_H

#include "program.h"

bool pmm_launch_set_has(const pmm_launch_set *set, const char *name);
/* False: no memory. */
bool pmm_launch_set_add(pmm_launch_set *set, const char *name);
bool pmm_launch_set_union(pmm_launch_set *set, const pmm_launch_set *more);
/* Those of `taken` go from `from` to `to`. */
void pmm_launch_set_move(pmm_launch_set *from, const pmm_launch_set *taken, pmm_launch_set *to);
void pmm_launch_set_clear(pmm_launch_set *set);

/* From malloc; NULL: no memory. */
void *pmm_payload_make(const pmm_launch_set *launches, const unsigned char *binary, size_t binary_size, size_t *size);
/* *binary points into `data`. False: not a payload, or no memory; then `launches` is empty. */
bool pmm_payload_read(const void *data, size_t size, pmm_launch_set *launches, const unsigned char **binary,
                      size_t *binary_size);

#endif
