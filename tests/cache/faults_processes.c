/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that are killed, stopped, forked, or many; clocks that jump; machines that lose what was not synced. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/upkeep.h"
#include "faults.h"
#include "hooked_calls.h"

enum { MOST_CALLS = 200, PROCESSES = 64 };

/* ---- killed at each call ---- */

static int calls_left;

static int kill_at(test_call call) {
    (void)call;
    if (calls_left-- == 0)
        kill(getpid(), SIGKILL);
    return 0;
}

static void store_and_die(void) {
    test_hook_calls(kill_at);
    if (fault_store())
        _exit(0);
}

static size_t count_temporaries(void) {
    char path[200];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/%s", fault_directory, PMM_CACHE_ENTRIES);
    DIR *listing = opendir(path);
    for (const struct dirent *item; listing != NULL && (item = readdir(listing)) != NULL;)
        count += pmm_file_is_temporary(item->d_name);
    if (listing != NULL)
        closedir(listing);
    return count;
}

/* What killed processes left is removed when it is old enough that nobody is at work on it. */
static void remove_leftovers(void) {
    char why[PMM_IO_TEXT];
    pmm_trimmed trimmed;
    pmm_config config;
    pmm_cache cache;
    test_hook_calls(kill_at);
    calls_left = -1;
    test_clock_offset_ns = 3 * 3600 * 1000000000ll;
    fault_open_cache(&config, &cache);
    pmm_cache_trim(&cache, UINT64_MAX, false, &trimmed, why);
    fault_close_cache(&config, &cache);
    test_hook_calls(NULL);
    test_clock_offset_ns = 0;
    if (count_temporaries() != 0)
        fault_saw("temporary files stay");
}

static void killed_at_every_call(void) {
    size_t left = 0;
    for (int nth = 0, killed = 1; killed && nth < MOST_CALLS; nth++) {
        int status = 0;
        fault_remove(fault_directory);
        calls_left = nth;
        int64_t child = fault_start(store_and_die);
        waitpid((pid_t)child, &status, 0);
        killed = WIFSIGNALED(status);
        left += count_temporaries();
        fault_look_up();
        remove_leftovers();
    }
    if (left == 0)
        fault_saw("no store was cut short");
}

static void killed_while_replacing(void) {
    for (int nth = 0, killed = 1; killed && nth < MOST_CALLS; nth++) {
        int status = 0;
        fault_must_store();
        calls_left = nth;
        int64_t child = fault_start(store_and_die);
        waitpid((pid_t)child, &status, 0);
        killed = WIFSIGNALED(status);
        if (!fault_look_up())
            fault_saw("the old entry is lost, and there is no new one");
    }
}

/* ---- a machine that loses what was not synced ---- */

/* In memory that outlives the process: files written since they were synced. */
static struct unsynced {
    ino_t files[32];
    size_t count;
} * unsynced;
static bool disk_lies;

static ino_t get_inode(int file) {
    struct stat status;
    return fstat(file, &status) == 0 ? status.st_ino : 0;
}

static void forget(ino_t inode) {
    for (size_t i = 0; i < unsynced->count; i++)
        if (unsynced->files[i] == inode)
            unsynced->files[i--] = unsynced->files[--unsynced->count];
}

static void die_in_time(void) {
    if (calls_left-- == 0)
        _exit(1);
}

static int lossy_openat(int directory, const char *path, int flags, unsigned mode) {
    die_in_time();
    return pmm_posix_file_calls.openat(directory, path, flags, mode);
}

static long lossy_write(int file, const void *data, size_t size) {
    die_in_time();
    forget(get_inode(file));
    unsynced->files[unsynced->count++] = get_inode(file);
    return pmm_posix_file_calls.write(file, data, size > 300 ? 300 : size);
}

static int lossy_fsync(int file) {
    die_in_time();
    if (!disk_lies)
        forget(get_inode(file));
    return 0;
}

static int lossy_renameat(int directory, const char *from, const char *to) {
    die_in_time();
    return pmm_posix_file_calls.renameat(directory, from, to);
}

static int lossy_close(int file) {
    die_in_time();
    return pmm_posix_file_calls.close(file);
}

static void store_on_lossy_disk(void) {
    pmm_file_calls lossy = pmm_posix_file_calls;
    lossy.openat = lossy_openat;
    lossy.write = lossy_write;
    lossy.fsync = lossy_fsync;
    lossy.renameat = lossy_renameat;
    lossy.close = lossy_close;
    pmm_file_calls_replace(&lossy);
    fault_store();
}

/* Of a file that was not synced nothing, a part, or zeros are there after the crash. */
static bool lose(const char *path, ino_t inode, int way) {
    unsigned char bytes[4096];
    size_t size = 0;
    for (size_t i = 0; i < unsynced->count; i++)
        if (unsynced->files[i] == inode) {
            size = fault_read_file(path, bytes, sizeof bytes);
            memset(bytes + size / 2, 0, size - size / 2);
            if (way == 0)
                memset(bytes, 0, size);
            fault_write_file(path, bytes, way == 1 ? 0 : way == 2 ? size / 2 : size);
        }
    return size > 0;
}

static size_t crash(int way) {
    char folder[200], path[500];
    size_t lost = 0;
    snprintf(folder, sizeof folder, "%s/%s", fault_directory, PMM_CACHE_ENTRIES);
    DIR *listing = opendir(folder);
    for (const struct dirent *item; listing != NULL && (item = readdir(listing)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        if (item->d_name[0] != '.')
            lost += lose(path, item->d_ino, way);
    }
    if (listing != NULL)
        closedir(listing);
    return lost;
}

/* Returns how many entries were lost. */
static size_t crash_at_every_call(bool lies) {
    size_t lost = 0;
    disk_lies = lies;
    unsynced = mmap(NULL, sizeof *unsynced, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int way = 0; way < 4; way++)
        for (int nth = 0, ended = 0; !ended && nth < MOST_CALLS; nth++) {
            int status = 0;
            fault_remove(fault_directory);
            unsynced->count = 0;
            calls_left = nth;
            int64_t child = fault_start(store_on_lossy_disk);
            waitpid((pid_t)child, &status, 0);
            ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            size_t now = crash(way);
            if (fault_look_up() && now > 0)
                fault_saw("an entry that was lost gave a hit");
            lost += now;
        }
    munmap(unsynced, sizeof *unsynced);
    return lost;
}

static void unsynced_data_lost(void) {
    if (crash_at_every_call(false) != 0)
        fault_saw("an entry had its name before its data was synced");
}

static void disk_that_lies(void) {
    if (crash_at_every_call(true) == 0)
        fault_saw("the model loses nothing: nothing was tested");
}

/* ---- many ---- */

static void try_once(void) {
    fault_try();
}

static void many_at_once(void) {
    int64_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        children[i] = fault_start(try_once);
    for (int i = 0; i < PROCESSES; i++)
        fault_await(children[i], 0);
    fault_look_up();
}

static void try_on(void) {
    for (int i = 0; i < 100; i++)
        fault_try();
}

static void cleaned_while_in_use(void) {
    char entries[200];
    int64_t children[4];
    snprintf(entries, sizeof entries, "%s/%s", fault_directory, PMM_CACHE_ENTRIES);
    for (int i = 0; i < 4; i++)
        children[i] = fault_start(try_on);
    for (int i = 0; i < 20; i++)
        fault_remove(i % 2 == 0 ? entries : fault_directory);
    for (int i = 0; i < 4; i++)
        fault_await(children[i], 0);
    fault_store();
    fault_look_up();
}

/* ---- locks ---- */

static bool try_to_lock(void) {
    pmm_config config;
    pmm_cache cache;
    int file = -1;
    fault_open_cache(&config, &cache);
    bool locked = pmm_cache_lock(&cache, &fault_key, &file);
    fault_close_cache(&config, &cache);
    return locked; /* held until this process ends */
}

static void hold_lock(void) {
    if (!try_to_lock())
        fault_saw("a free lock is not had");
    raise(SIGSTOP);
}

static int64_t start_holder(void) {
    int status = 0;
    int64_t holder = fault_start(hold_lock);
    if (waitpid((pid_t)holder, &status, WUNTRACED) != holder || !WIFSTOPPED(status))
        fault_saw("the holder of the lock did not stop");
    return holder;
}

static void lock_holder_stopped(void) {
    int64_t holder = start_holder();
    if (try_to_lock())
        fault_saw("two processes hold one lock");
    fault_store();
    fault_look_up();
    kill((pid_t)holder, SIGKILL);
    fault_await(holder, SIGKILL);
}

static void lock_holder_killed(void) {
    int64_t holder = start_holder();
    kill((pid_t)holder, SIGKILL);
    fault_await(holder, SIGKILL);
    if (!try_to_lock())
        fault_saw("the lock outlives its holder");
    fault_store();
    fault_look_up();
}

/* ---- fork, clocks ---- */

static atomic_int calls_before_pause;
static atomic_bool paused, goes_on, finished;

static int pause_at(test_call call) {
    (void)call;
    if (atomic_fetch_sub(&calls_before_pause, 1) == 0) {
        paused = true;
        while (!goes_on)
            pmm_sleep(1);
    }
    return 0;
}

static void *store_with_pause(void *unused) {
    fault_must_store();
    finished = true;
    return unused;
}

static void try_without_pause(void) {
    test_hook_calls(NULL);
    fault_try();
}

/* At each system call of the store, so that the thread is at no other place: a sanitizer's allocator would not survive
 * the fork. Returns whether there is such a call. */
static bool fork_at(int nth) {
    pthread_t thread;
    calls_before_pause = nth;
    paused = goes_on = finished = false;
    test_hook_calls(pause_at);
    if (pthread_create(&thread, NULL, store_with_pause, NULL) != 0) {
        fault_saw("no thread");
        return false;
    }
    while (!paused && !finished)
        pmm_sleep(1);
    if (paused)
        fault_await(fault_start(try_without_pause), 0);
    goes_on = true;
    pthread_join(thread, NULL);
    test_hook_calls(NULL);
    return paused;
}

static void fork_during_store(void) {
    int nth = 0;
    while (nth < MOST_CALLS && fork_at(nth))
        nth++;
    if (nth == 0)
        fault_saw("no store was under way");
    fault_look_up();
}

static int no_fault(test_call call) {
    (void)call;
    return 0;
}

static void at_another_time(long long offset_ns) {
    fault_must_store();
    test_hook_calls(no_fault);
    test_clock_offset_ns = offset_ns;
    fault_look_up();
    fault_store();
    test_clock_offset_ns = 0;
    fault_look_up();
    remove_leftovers();
    fault_look_up();
}

static void clock_back(void) {
    at_another_time(-24 * 3600 * 1000000000ll);
}

static void clock_forward(void) {
    at_another_time(24 * 3600 * 1000000000ll);
}

const fault fault_processes[] = {{"killed at every system call of the first store", killed_at_every_call},
                                 {"killed at every system call while replacing an entry", killed_while_replacing},
                                 {"crash at every call, unsynced data lost", unsynced_data_lost},
                                 {"crash at every call, on a disk that does not sync", disk_that_lies},
                                 {"64 processes start cold", many_at_once},
                                 {"cleaned while in use", cleaned_while_in_use},
                                 {"holder of the lock stopped", lock_holder_stopped},
                                 {"holder of the lock killed", lock_holder_killed},
                                 {"fork while a thread stores", fork_during_store},
                                 {"clock one day back", clock_back},
                                 {"clock one day forward", clock_forward},
                                 {NULL, NULL}};
