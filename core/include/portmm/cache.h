/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The on-disk cache of compiled programs, without a device: where it is, what is in it, and its upkeep. For tools and
 * installers; programs that multiply need <portmm/portmm.h> alone.
 *
 *     1  handle        the cache that a context with the same options would use
 *     2  places        its directories and bundles, whether each is trusted, and why not
 *     3  totals        what it holds, and what happened in all processes
 *     4  entries       a list; the fields of an entry's key; whether its bytes are sound
 *     5  upkeep        trim, clear, remove one
 *     6  bundles       seal all entries into one file; import them from one
 *     7  prewarm       fill the cache through a context, with a report; why look-ups missed
 *
 * Every function blocks on the file system only, and may be called while other processes use the cache. A handle may be
 * used by several threads at once. Conventions on status, outputs and struct_size are those of <portmm/portmm.h>.
 */
#ifndef PORTMM_CACHE_H
#define PORTMM_CACHE_H

#include <portmm/portmm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1  handle --------------------------------------------------------------------------------------------------- */

typedef struct portmm_cache portmm_cache;

/*
 * Opens the cache that a context with these options would use; options may be NULL. Of the options, the members that
 * begin with cache_ or log count. Opens no module and no device, creates nothing on disk. A cache that is off or not
 * trusted opens, too: its places say why. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY.
 */
PORTMM_API portmm_status portmm_cache_create(const portmm_context_options *options, portmm_cache **cache);
PORTMM_API void portmm_cache_destroy(portmm_cache *cache);

/* ---- 2  places --------------------------------------------------------------------------------------------------- */

typedef enum portmm_cache_tier {
    PORTMM_CACHE_TIER_USER = 1,   /* the user's directory; the only one that is written */
    PORTMM_CACHE_TIER_SYSTEM = 2, /* a directory that is only read */
    PORTMM_CACHE_TIER_BUNDLE = 3, /* a sealed bundle, wherever it lies */
    PORTMM_CACHE_TIER_INSTALL = 4 /* the directory portmm/cache beside libportmm; only read */
} portmm_cache_tier;

typedef enum portmm_cache_trust {
    PORTMM_CACHE_TRUSTED = 1,
    PORTMM_CACHE_MISSING = 2, /* does not exist; that of the user is made by the first store */
    PORTMM_CACHE_REFUSED = 3, /* of another user, writable by others, a link, or no directory: not used */
    PORTMM_CACHE_FAULTY = 4   /* damaged, or the system reported an error: not used */
} portmm_cache_trust;

typedef struct portmm_cache_place {
    size_t struct_size;
    const char *path; /* the handle's */
    portmm_cache_tier tier;
    portmm_cache_trust trust;
    const char *reason; /* one line with advice where it is not TRUSTED, else ""; the handle's */
    int32_t writable;   /* 1: entries are stored there */
    uint64_t entries;   /* number of them */
    uint64_t bytes;     /* of their files */
} portmm_cache_place;
#define PORTMM_CACHE_PLACE_INIT                                                                                        \
    { .struct_size = sizeof(portmm_cache_place) }

/* How many places there are. They are in the order of look-up. The first is the user's directory, unless there is none:
 * then, and for NULL, portmm_cache_why_off says why. */
PORTMM_API size_t portmm_cache_place_count(const portmm_cache *cache);

/* What a place is and holds now; it is looked at anew. Errors: INVALID_ARGUMENT (position). */
PORTMM_API portmm_status portmm_cache_get_place(portmm_cache *cache, size_t position, portmm_cache_place *place);

/* Why the cache is off or has no directory, one line with advice; "" if it has one. Belongs to the handle. */
PORTMM_API const char *portmm_cache_why_off(const portmm_cache *cache);

/* ---- 3  totals --------------------------------------------------------------------------------------------------- */

typedef struct portmm_cache_totals {
    size_t struct_size;
    uint64_t entries;  /* in the user's directory */
    uint64_t bytes;    /* of their files */
    uint64_t max_size; /* limit of bytes; 0: none */
    /* Counted over all processes since the cache was cleared; each adds its own when a context is destroyed, so that of
     * one that was killed is missing. */
    uint64_t contexts;    /* that counted */
    uint64_t hits;        /* entries found and used, memory_hits included */
    uint64_t memory_hits; /* of these, found in the process's memory */
    uint64_t misses;      /* looked for and not found, or unusable */
    uint64_t stores;      /* entries written */
    uint64_t rejects;     /* damaged or refused entries removed */
    uint64_t evicted;     /* entries removed for the limit's sake */
    uint64_t faults;      /* trouble with the file system */
    uint64_t bypassed;    /* programs compiled where the cache cannot see it */
    uint64_t compiled;    /* programs compiled */
    uint64_t waited;      /* look-ups that were served by another process's compilation, after waiting for it */
    uint64_t gave_up;     /* waits that ended without one: the program was compiled here, too */
    uint64_t remembered;  /* builds not tried because they had failed before */
    uint64_t helpers;     /* helper processes started */
} portmm_cache_totals;
#define PORTMM_CACHE_TOTALS_INIT                                                                                       \
    { .struct_size = sizeof(portmm_cache_totals) }

/* What the user's directory holds now, and the counts over all processes. Errors: INVALID_ARGUMENT. */
PORTMM_API portmm_status portmm_cache_get_totals(portmm_cache *cache, portmm_cache_totals *totals);

/* ---- 4  entries -------------------------------------------------------------------------------------------------- */

typedef struct portmm_cache_entry {
    size_t struct_size;
    const char *name;       /* 32 hexadecimal digits: the hash of its key, and its file's name */
    const char *kind;       /* "opencl program"; "" if its file cannot be read as an entry */
    uint64_t bytes;         /* of its file */
    uint64_t payload_bytes; /* unpacked */
    int64_t used_ns;        /* last use, to the hour, in nanoseconds since 1970; 0: not known (bundles) */
    int64_t expires_ns;     /* of a failed build that is remembered, nanoseconds since 1970; else 0 */
} portmm_cache_entry;

/* Takes one entry; the structure and its strings live during the call. Other than 0 ends the visit. */
typedef int (*portmm_cache_entry_callback)(const portmm_cache_entry *entry, void *user_data);

/* Visits the entries of a place, on this thread; those of a directory from the least recently used on. A place that is
 * not trusted has none. */
PORTMM_API portmm_status portmm_cache_visit_entries(portmm_cache *cache, size_t position,
                                                    portmm_cache_entry_callback callback, void *user_data);

/* Takes one field of a key; `data` (may hold any bytes, texts end without a NUL) and `label` live during the call. */
typedef int (*portmm_cache_field_callback)(const char *label, const void *data, size_t size, void *user_data);

/* Visits the fields of an entry's key: the first is "kind". Errors: INVALID_ARGUMENT (position), UNAVAILABLE (no such
 * entry, or its file is damaged). */
PORTMM_API portmm_status portmm_cache_visit_fields(portmm_cache *cache, size_t position, const char *name,
                                                   portmm_cache_field_callback callback, void *user_data);

/* Reads an entry and checks all of it: sums, bounds, that the name is its key's, and that it unpacks. *problem is
 * static text: "" for a sound one, else what is wrong ("damaged"). Errors as for visit_fields, but for damage. */
PORTMM_API portmm_status portmm_cache_check_entry(portmm_cache *cache, size_t position, const char *name,
                                                  const char **problem);

/* Unpacks an entry's payload after all checks. *data is freed with portmm_cache_free. Errors: UNAVAILABLE. */
PORTMM_API portmm_status portmm_cache_read_payload(portmm_cache *cache, size_t position, const char *name, void **data,
                                                   size_t *size);
PORTMM_API void portmm_cache_free(void *data);

/* ---- 5  upkeep --------------------------------------------------------------------------------------------------- */

typedef struct portmm_cache_removed {
    size_t struct_size;
    uint64_t entries, bytes;           /* removed; on a dry run, that would be */
    uint64_t kept_entries, kept_bytes; /* still there */
    uint64_t leftovers;                /* files of killed processes, removed besides */
    uint64_t failed;                   /* could not be removed */
} portmm_cache_removed;
#define PORTMM_CACHE_REMOVED_INIT                                                                                      \
    { .struct_size = sizeof(portmm_cache_removed) }

/* Removes from the user's directory what was used least recently until at most `max_bytes` are left. dry_run 1: only
 * says what it would remove. Errors: UNAVAILABLE (not trusted, read-only, or some could not be removed). */
PORTMM_API portmm_status portmm_cache_trim(portmm_cache *cache, uint64_t max_bytes, int32_t dry_run,
                                           portmm_cache_removed *removed);

/* Removes all entries, leftovers and the counts over all processes. */
PORTMM_API portmm_status portmm_cache_clear(portmm_cache *cache, int32_t dry_run, portmm_cache_removed *removed);

/* Removes one entry of the user's directory: if problem_only is 1, only if portmm_cache_check_entry finds a problem in
 * the very file that is removed. *removed: 1 or 0. */
PORTMM_API portmm_status portmm_cache_remove_entry(portmm_cache *cache, const char *name, int32_t problem_only,
                                                   int32_t *removed);

/* ---- 6  bundles -------------------------------------------------------------------------------------------------- */

typedef struct portmm_cache_moved {
    size_t struct_size;
    uint64_t entries, bytes; /* sealed or imported */
    uint64_t already_there;  /* import: not needed */
    uint64_t passed_over;    /* damaged, or of a failed build */
} portmm_cache_moved;
#define PORTMM_CACHE_MOVED_INIT                                                                                        \
    { .struct_size = sizeof(portmm_cache_moved) }

/* Writes the sound entries of the user's directory into one bundle: a file that may lie anywhere, found through
 * PORTMM_CACHE_PATH_RO or as *.bundle in a directory named there. `path` is absolute; its directory exists and is not
 * writable by others; a file there is replaced in one step. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, UNAVAILABLE. */
PORTMM_API portmm_status portmm_cache_seal(portmm_cache *cache, const char *path, portmm_cache_moved *moved);

/* Stores the entries of a bundle, each of them checked, in the user's directory. */
PORTMM_API portmm_status portmm_cache_import(portmm_cache *cache, const char *path, portmm_cache_moved *moved);

/* ---- 7  prewarm -------------------------------------------------------------------------------------------------- */

typedef struct portmm_cache_prewarmed {
    size_t struct_size;
    uint64_t compiled;      /* programs compiled from source */
    uint64_t loaded;        /* entries loaded from the cache */
    uint64_t stored;        /* entries written, or grown */
    uint64_t already_there; /* 1: nothing was compiled, and nothing had to be stored */
    uint64_t failed;        /* 1: the problem failed */
    uint64_t ns;            /* it took */
} portmm_cache_prewarmed;
#define PORTMM_CACHE_PREWARMED_INIT                                                                                    \
    { .struct_size = sizeof(portmm_cache_prewarmed) }

/* portmm_prewarm with a report, which is written on failure, too. What other threads do with the context meanwhile is
 * counted with it. */
PORTMM_API portmm_status portmm_cache_prewarm(portmm_context *context, const portmm_problem *problem,
                                              portmm_cache_prewarmed *report);

/* One field in which a key that was looked for in vain differs from that of the nearest entry of the user's directory.
 * Texts and data live during the call. */
typedef struct portmm_cache_difference {
    size_t struct_size;
    const char *name;    /* the missing entry's */
    const char *kind;    /* "opencl program" */
    const char *nearest; /* name of the entry of that kind with the fewest differing fields; "": there is none, and this
                            is the only difference told, without label */
    const char *label;   /* of the field */
    const void *wanted, *found;
    size_t wanted_size, found_size;
} portmm_cache_difference;
typedef int (*portmm_cache_difference_callback)(const portmm_cache_difference *difference, void *user_data);

/* Why look-ups of the context missed: visits the differences of the first 16 of them, missing entry by missing entry.
 */
PORTMM_API portmm_status portmm_cache_explain(portmm_context *context, portmm_cache_difference_callback callback,
                                              void *user_data);

#ifdef __cplusplus
}
#endif

#endif
