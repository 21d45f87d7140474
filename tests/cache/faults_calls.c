/* SPDX-License-Identifier: Apache-2.0 */
/* Every system call of the cache fails with every errno, at each of its occasions in each operation. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/bundle.h"
#include "cache/upkeep.h"
#include "faults.h"
#include "hooked_calls.h"

enum { OCCASIONS = 200 }; /* more than any operation has */

static int failing_call, failing_errno, countdown;
static bool raised;

static int fail_once(test_call call) {
    if ((int)call != failing_call || countdown < 0 || countdown-- > 0)
        return 0;
    raised = true;
    return failing_errno;
}

static void look_up(void) {
    fault_look_up();
}

static void store(void) {
    fault_store();
}

static void store_in_new_directory(void) {
    char path[160];
    snprintf(path, sizeof path, "%s/deep", fault_root);
    fault_remove(path);
    fault_store();
}

/* Two hours later: the stamp of last use is renewed. */
static void look_up_later(void) {
    test_clock_offset_ns = 7200000000000;
    fault_look_up();
    test_clock_offset_ns = 0;
}

static void lock(void) {
    pmm_config config;
    pmm_cache cache;
    int file = -1;
    fault_open_cache(&config, &cache);
    if (pmm_cache_lock(&cache, &fault_key, &file))
        pmm_file_unlock(file);
    fault_close_cache(&config, &cache);
}

static void reject(void) {
    pmm_config config;
    pmm_cache cache;
    fault_open_cache(&config, &cache);
    pmm_cache_reject(&cache, &fault_key, "refused by the driver");
    fault_close_cache(&config, &cache);
}

static void trim(void) {
    char why[PMM_IO_TEXT];
    pmm_trimmed trimmed;
    pmm_config config;
    pmm_cache cache;
    fault_open_cache(&config, &cache);
    pmm_cache_trim(&cache, 1, false, &trimmed, why);
    pmm_cache_clear(&cache, false, &trimmed, why);
    fault_close_cache(&config, &cache);
}

/* Seals the one entry, and looks it up where nothing else has it. */
static void look_up_in_bundle(void) {
    static char path[160];
    unsigned char bytes[4096];
    char entry[256];
    fault_entry_path(entry, sizeof entry);
    pmm_bundle_part part = {.bytes = bytes, .size = fault_read_file(entry, bytes, sizeof bytes)};
    strcpy(part.name, strrchr(entry, '/') + 1);
    size_t size = 0;
    unsigned char *bundle = pmm_bundle_encode(&part, 1, &size);
    snprintf(path, sizeof path, "%s/sealed" PMM_BUNDLE_SUFFIX, fault_root);
    fault_write_file(path, bundle, size);
    free(bundle);
    remove(entry);
    fault_path_ro = path;
    fault_look_up();
    fault_path_ro = NULL;
}

static void run_call(void) {
    static void (*const operations[])(void) = {look_up, store, store_in_new_directory, look_up_later, lock,
                                               reject,  trim,  look_up_in_bundle};
    size_t occasions = 0;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        raised = true;
        for (int nth = 0; nth < OCCASIONS && raised; nth++) {
            countdown = -1;
            raised = false;
            fault_must_store();
            countdown = nth;
            test_hook_calls(fail_once);
            operations[i]();
            test_hook_calls(NULL);
            occasions += raised;
        }
        if (raised)
            fault_saw("%s has more than %d occasions", test_call_names[failing_call], OCCASIONS);
    }
    if (occasions == 0)
        fault_saw("%s is never called: nothing was tested", test_call_names[failing_call]);
}

void fault_run_calls(void) {
    static const struct {
        int number;
        const char *name;
    } errors[] = {{EINTR, "EINTR"},    {ENOSPC, "ENOSPC"},   {EDQUOT, "EDQUOT"}, {EIO, "EIO"},
                  {EROFS, "EROFS"},    {EACCES, "EACCES"},   {EPERM, "EPERM"},   {EMFILE, "EMFILE"},
                  {ENFILE, "ENFILE"},  {ENOMEM, "ENOMEM"},   {ESTALE, "ESTALE"}, {ENAMETOOLONG, "ENAMETOOLONG"},
                  {ENOENT, "ENOENT"},  {ENOTDIR, "ENOTDIR"}, {ELOOP, "ELOOP"},   {ENOLCK, "ENOLCK"},
                  {ENOTSUP, "ENOTSUP"}};
    for (failing_call = 0; failing_call < TEST_CALL_COUNT; failing_call++)
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
            char name[64];
            failing_errno = errors[i].number;
            snprintf(name, sizeof name, "%s: %s", test_call_names[failing_call], errors[i].name);
            fault_run(&(fault){name, run_call});
        }
}
