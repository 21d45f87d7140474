/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the inputs that fuzzing starts from: usage: make_corpus FOLDER, which has the folders entry and bundle. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/bundle.h"
#include "cache/bytes.h"
#include "fuzz.h"

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static const char *folder;

static void write_file(const char *target, const char *name, const void *data, size_t size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
}

static bytes make_entry(const char *kind, const pmm_key_field *fields, size_t count, const void *payload, size_t size) {
    size_t key_size = 0;
    bytes entry = {0};
    unsigned char *key = pmm_key_encode(&(pmm_cache_key){kind, fields, count}, &key_size);
    entry.data = pmm_entry_encode(key, key_size, payload, size, &entry.size);
    free(key);
    return entry;
}

static void name_entry(const bytes *entry, char name[PMM_KEY_NAME_SIZE]) {
    size_t key_size = 0, payload_size = 0;
    const unsigned char *key = pmm_entry_key(entry->data, entry->size, &key_size, &payload_size);
    pmm_key_name(key, key_size, name);
}

static bytes make_bundle(const bytes *entries, size_t count) {
    pmm_bundle_part parts[8];
    bytes bundle = {0};
    for (size_t i = 0; i < count; i++) {
        parts[i] = (pmm_bundle_part){.bytes = entries[i].data, .size = entries[i].size};
        name_entry(&entries[i], parts[i].name);
    }
    bundle.data = pmm_bundle_encode(parts, count, &bundle.size);
    return bundle;
}

enum { ENTRIES = 5 };

static void make_entries(bytes entries[ENTRIES]) {
    static const pmm_key_field fields[] = {
        {"source", "kernel void k(){}", 17}, {"options", "", 0}, {"device.driver", "1.0", 3}};
    unsigned char noise[200], same[3000] = {0};
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof noise; i++) {
        state = state * 1664525u + 1013904223u;
        noise[i] = (unsigned char)(state >> 24);
    }
    entries[0] = make_entry("opencl program", fields, 3, "a compiled program, a compiled program", 38);
    entries[1] = make_entry("noise", fields, 1, noise, sizeof noise);
    entries[2] = make_entry("same", fields, 2, same, sizeof same);
    entries[3] = make_entry("no payload", fields, 2, "", 0);
    entries[4] = make_entry("", NULL, 0, "x", 1);
}

static void spoil_bundle(bytes *bundle) {
    write_file("bundle", "cut", bundle->data, bundle->size - 1);
    pmm_put_u64(bundle->data + 16, (uint64_t)1 << 58); /* times the size of a record: 0 in 64 bits */
    write_file("bundle", "many", bundle->data, bundle->size);
}

static void spoil_entry(bytes *entry) {
    write_file("entry", "cut", entry->data, entry->size - 1);
    pmm_put_u64(entry->data + 24, PMM_ENTRY_MAX_PAYLOAD); /* more than the frame holds */
    write_file("entry", "boasts", entry->data, entry->size);
    pmm_put_u32(entry->data + 12, UINT32_MAX);
    write_file("entry", "long-key", entry->data, entry->size);
    pmm_put_u32(entry->data + 8, PMM_ENTRY_FORMAT + 1);
    write_file("entry", "other-format", entry->data, entry->size);
}

int main(int argc, char **argv) {
    static const char *const names[ENTRIES] = {"program", "noise", "same", "no-payload", "no-field"};
    bytes entries[ENTRIES];
    if (argc != 2)
        return 2;
    folder = argv[1];
    make_entries(entries);
    for (size_t i = 0; i < ENTRIES; i++)
        write_file("entry", names[i], entries[i].data, entries[i].size);
    static const size_t counts[] = {0, 1, ENTRIES};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char name[32];
        bytes bundle = make_bundle(entries, counts[i]);
        snprintf(name, sizeof name, "of-%zu", counts[i]);
        write_file("bundle", name, bundle.data, bundle.size);
        if (counts[i] == ENTRIES)
            spoil_bundle(&bundle);
        free(bundle.data);
    }
    spoil_entry(&entries[0]);
    for (size_t i = 0; i < ENTRIES; i++)
        free(entries[i].data);
    return 0;
}
