/* SPDX-License-Identifier: Apache-2.0 */
/* Public structures that begin with their size, in and out. */
#ifndef PMM_STRUCTS_H
#define PMM_STRUCTS_H

#include <portmm/portmm.h>

/*
 * Takes the caller's structure (NULL: nothing is set) into `ours`, whose size is `size`. A shorter one is an earlier
 * version; a longer one is a later version and must not use what we do not know.
 */
portmm_status pmm_struct_in(void *ours, size_t size, const void *theirs, const char *name);

/* Gives `ours` to the caller, as much of it as his structure holds; his struct_size stays. */
portmm_status pmm_struct_out(void *theirs, const void *ours, size_t size, const char *name);

#endif
