/* SPDX-License-Identifier: Apache-2.0 */
/* Where entries are read but never written: directories of the system, and sealed bundles. */
#ifndef PMM_CACHE_TIER_H
#define PMM_CACHE_TIER_H

#include "cache/bundle.h"
#include "platform.h"

#define PMM_BUNDLE_SUFFIX ".bundle" /* of those that a directory's tier opens by itself */

typedef struct pmm_tier {
    char *path;
    bool is_bundle; /* else a directory, with its entries as the user's has them */
    bool beside;    /* belongs to the installation */
    pmm_io state;   /* other than OK: it is not used */
    char *reason;   /* why; NULL: no memory for it, or it is used */
    int file;       /* of a bundle; stays open, so that it is one and the same file */
    unsigned char *head;
    pmm_bundle bundle;
} pmm_tier;

typedef struct pmm_tiers {
    pmm_tier *items; /* in the order of look-up */
    size_t count;
} pmm_tiers;

/* Takes a trouble with a path: one line. */
typedef void (*pmm_tier_report)(void *user, pmm_io result, const char *why);

/* `search_path`: directories and bundles with ':' between; a directory brings the bundles in it. What is missing, not
 * trusted or damaged is reported and not used. False: no memory. */
bool pmm_tiers_add(pmm_tiers *tiers, const char *search_path, bool beside, pmm_tier_report report, void *user);
void pmm_tiers_fini(pmm_tiers *tiers);

/* A tier of its own, for one bundle. */
pmm_io pmm_tier_open_bundle(pmm_tier *tier, const char *path, char why[PMM_IO_TEXT]);
void pmm_tier_close(pmm_tier *tier);

/* Reads the bytes of an entry's file, not checked but for a bundle's sum. *bytes is from malloc. */
pmm_io pmm_tier_read(const pmm_tier *tier, const char *name, void **bytes, size_t *size, char why[PMM_IO_TEXT]);
/* Leaves those that are entries by their name, and tells how many. */
size_t pmm_tier_keep_entries(pmm_file_info *files, size_t count);
/* What it holds. *files is from malloc; the stamps of a bundle's entries are 0. */
pmm_io pmm_tier_list_entries(const pmm_tier *tier, pmm_file_info **files, size_t *count, char why[PMM_IO_TEXT]);

#endif
