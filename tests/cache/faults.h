/* SPDX-License-Identifier: Apache-2.0 */
/* One fault of the cache after the other, each in an empty directory: what look-ups and stores gave, how often the
 * caller saw something wrong, and whether the cache was whole again when the fault was over. */
#ifndef TEST_FAULTS_H
#define TEST_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cache/store.h"

typedef struct fault {
    const char *name; /* first cell of its row */
    void (*run)(void);
} fault;

/* Sections of the table, each ended by a fault without a name. */
extern const fault fault_damage[], fault_places[], fault_processes[];
/* Prints the rows of every system call with every errno. */
void fault_run_calls(void);

/* Runs one fault and prints its row. */
void fault_run(const fault *one);
/* Rows whose caller saw something, or that did not heal. */
extern size_t fault_failures;

/* ---- for the faults ---- */

extern char fault_root[64];       /* exists, empty */
extern char fault_directory[128]; /* the cache in it; made by the first store */
extern const pmm_cache_key fault_key;
enum { FAULT_PAYLOAD = 700 };
extern unsigned char fault_payload[FAULT_PAYLOAD];

/* With a cache of its own, as a new process has. A look-up gives true for the right payload; other bytes are counted
 * as something that the caller saw. */
bool fault_look_up(void);
bool fault_store(void);
/* Likewise, not counted in the row: to arrange a fault. */
void fault_must_store(void);
/* Look-up, store, look-up; not counted, since what they give is a matter of chance. Whether the last was a hit. */
bool fault_try(void);
/* A process of its own; what it counts goes into the row, and an end by another signal is something the caller saw. */
int64_t fault_start(void (*run)(void));
void fault_await(int64_t child, int expected_signal);
/* Something that the caller must not see, or that the fault could not be arranged. */
void fault_saw(const char *format, ...) PMM_PRINTF(1, 2);

/* Where the entry of fault_key is. */
void fault_entry_path(char *path, size_t size);
size_t fault_read_file(const char *path, unsigned char *bytes, size_t size);
void fault_write_file(const char *path, const unsigned char *bytes, size_t size);
/* rm -rf of a path below fault_root. */
void fault_remove(const char *path);

/* The cache as the environment describes it: no directory is given by option. */
extern bool fault_by_environment;
/* Bundles and directories that are only read. */
extern const char *fault_path_ro;

void fault_open_cache(pmm_config *config, pmm_cache *cache);
void fault_close_cache(pmm_config *config, pmm_cache *cache);

#endif
