/* SPDX-License-Identifier: Apache-2.0 */
/* Entries that are not what was stored. Each look-up must miss; the damaged file is gone afterwards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/key.h"
#include "cache/upkeep.h"
#include "faults.h"

static unsigned char whole[4096], changed[4096];
static size_t whole_size;
static char path[256];

static void prepare(void) {
    fault_must_store();
    fault_entry_path(path, sizeof path);
    whole_size = fault_read_file(path, whole, sizeof whole);
}

static void expect_miss(const unsigned char *bytes, size_t size) {
    fault_write_file(path, bytes, size);
    if (fault_look_up())
        fault_saw("a damaged entry gave a hit");
    if (access(path, F_OK) == 0)
        fault_saw("a damaged entry stayed");
}

static void cut_at_every_length(void) {
    prepare();
    for (size_t size = 0; size < whole_size; size++)
        expect_miss(whole, size);
}

static void flip_every_byte(void) {
    prepare();
    for (size_t i = 0; i < whole_size; i++)
        for (int bit = 0; bit < 8; bit += 7) {
            memcpy(changed, whole, whole_size);
            changed[i] ^= (unsigned char)(1 << bit);
            expect_miss(changed, whole_size);
        }
}

static void append_bytes(void) {
    prepare();
    memcpy(changed, whole, whole_size);
    for (size_t more = 1; more < 100; more++)
        expect_miss(changed, whole_size + more);
}

static void zero_every_tail(void) {
    prepare();
    for (size_t from = 0; from + 1 < whole_size; from++) {
        memcpy(changed, whole, whole_size);
        memset(changed + from, 0, whole_size - from);
        if (memcmp(changed, whole, whole_size) != 0)
            expect_miss(changed, whole_size);
    }
}

/* A sound entry of a key that differs in one field, under the name of ours. */
static void plant_other_key(const char *driver, const char *kind) {
    const pmm_key_field fields[] = {{"source", "kernel", 6}, {"driver", driver, strlen(driver)}};
    const pmm_cache_key key = {kind, fields, 2};
    char other[256];
    pmm_config config;
    pmm_cache cache;
    size_t size = 0;
    prepare();
    fault_open_cache(&config, &cache);
    if (!pmm_cache_put(&cache, &key, "other bytes", 11))
        fault_saw("cannot store");
    fault_close_cache(&config, &cache);
    unsigned char *encoded = pmm_key_encode(&key, &size);
    memcpy(other, path, sizeof other);
    pmm_key_name(encoded, size, strrchr(other, '/') + 1);
    free(encoded);
    size = fault_read_file(other, changed, sizeof changed);
    expect_miss(changed, size);
}

static void other_driver(void) {
    plant_other_key("1.1", "program");
}

static void other_kind(void) {
    plant_other_key("1.0", "choice");
}

static void other_format(void) {
    prepare();
    for (unsigned char format = 0; format < 255; format++) {
        memcpy(changed, whole, whole_size);
        if (changed[8] == format)
            continue;
        changed[8] = format;
        expect_miss(changed, whole_size);
    }
}

static void refused_by_driver(void) {
    pmm_config config;
    pmm_cache cache;
    prepare();
    fault_open_cache(&config, &cache);
    pmm_cache_reject(&cache, &fault_key, "refused by the driver");
    fault_close_cache(&config, &cache);
    if (fault_look_up())
        fault_saw("a refused entry stayed");
}

static void plant(int (*make)(const char *)) {
    prepare();
    remove(path);
    if (make(path) != 0)
        fault_saw("cannot plant a file");
    if (fault_look_up())
        fault_saw("what is no plain file gave a hit");
    fault_store();
}

static int make_link(const char *at) {
    char target[256];
    snprintf(target, sizeof target, "%s/target", fault_root);
    fault_write_file(target, whole, whole_size);
    return symlink(target, at);
}

static int make_fifo(const char *at) {
    return mkfifo(at, 0600);
}

static int make_directory(const char *at) {
    return mkdir(at, 0700);
}

static int make_writable(const char *at) {
    fault_write_file(at, whole, whole_size);
    return chmod(at, 0666);
}

static void planted_link(void) {
    plant(make_link);
}

static void planted_fifo(void) {
    plant(make_fifo);
}

static void planted_directory(void) {
    plant(make_directory);
    rmdir(path);
}

static void planted_writable(void) {
    plant(make_writable);
}

const fault fault_damage[] = {{"cut at every length, from nothing on", cut_at_every_length},
                              {"every byte changed, first and last bit", flip_every_byte},
                              {"every tail zeroed", zero_every_tail},
                              {"1 to 99 bytes more", append_bytes},
                              {"right name, entry of another driver version", other_driver},
                              {"right name, entry of another kind", other_kind},
                              {"every other format number below 256", other_format},
                              {"refused by the driver", refused_by_driver},
                              {"a symbolic link in its place", planted_link},
                              {"a FIFO in its place", planted_fifo},
                              {"a directory in its place", planted_directory},
                              {"writable by others", planted_writable},
                              {NULL, NULL}};
