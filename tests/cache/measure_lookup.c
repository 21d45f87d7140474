/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a look-up in the on-disk cache takes: a hit (find, read, check, unpack a program of 0.5 MB) and a miss.
 * Every sample has a store of its own, so that nothing is served from a process's memory; the file is in the system's
 * page cache. usage: measure_lookup [--limit-hit-ms N --limit-miss-ms N]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/entry.h"
#include "cache/store.h"

enum { SAMPLES = 201, PAYLOAD = 512 * 1024, OTHERS = 200 };

typedef struct series {
    const char *what;
    double limit_ms; /* of the median */
    double ms[SAMPLES];
} series;

static char directory[64];
static unsigned char payload[PAYLOAD];

static void stop(const char *why) {
    fprintf(stderr, "measure_lookup: %s\n", why);
    exit(1);
}

/* Machine code, as a driver's binary is: this program, over and over, and each time so changed that a packer does not
 * find the time before again. */
static void fill_payload(const char *program) {
    FILE *file = fopen(program, "rb");
    if (file == NULL)
        stop("cannot open this program");
    for (size_t used = 0, copy = 0; used < PAYLOAD; copy++) {
        size_t count = fread(payload + used, 1, PAYLOAD - used, file);
        if (count == 0 || fseek(file, 0, SEEK_SET) != 0)
            stop("cannot read this program");
        for (size_t i = used; i < used + count; i += 3)
            payload[i] = (unsigned char)(payload[i] + 37 * copy);
        used += count;
    }
    fclose(file);
}

static void open_cache(pmm_config *config, pmm_cache *cache) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.cache_mode = PORTMM_CACHE_READ_WRITE;
    options.cache_dir = directory;
    if (pmm_config_init(config, &options) != PORTMM_STATUS_SUCCESS || !pmm_cache_init(cache, config))
        stop("cannot open a cache");
}

static void close_cache(pmm_config *config, pmm_cache *cache) {
    pmm_cache_fini(cache);
    pmm_config_fini(config);
}

/* Keys are as long as real ones: the source of a program is part of them. */
static pmm_cache_key make_key(pmm_key_field fields[2], const int *number) {
    static char source[24 * 1024];
    memset(source, 'x', sizeof source);
    fields[0] = (pmm_key_field){"source", source, sizeof source};
    fields[1] = (pmm_key_field){"number", number, sizeof *number};
    return (pmm_cache_key){"program", fields, 2};
}

static void fill_cache(void) {
    pmm_config config;
    pmm_cache cache;
    open_cache(&config, &cache);
    for (int i = 0; i < OTHERS; i++) {
        pmm_key_field fields[2];
        pmm_cache_key key = make_key(fields, &i);
        if (!pmm_cache_put(&cache, &key, payload, i == 0 ? PAYLOAD : 1))
            stop(cache.reason);
    }
    close_cache(&config, &cache);
}

static void report_payload(void) {
    size_t size = 0;
    unsigned char *bytes = pmm_entry_encode("", 0, payload, PAYLOAD, &size);
    printf("payload of %d bytes, packed to %zu, among %d entries\n", PAYLOAD, size, OTHERS);
    free(bytes);
}

static double time_lookup(int number, bool expect_hit) {
    pmm_config config;
    pmm_cache cache;
    pmm_key_field fields[2];
    pmm_cache_key key = make_key(fields, &number);
    void *data = NULL;
    size_t size = 0;
    open_cache(&config, &cache);
    uint64_t begin = pmm_clock_ns();
    bool hit = pmm_cache_get(&cache, &key, &data, &size);
    uint64_t end = pmm_clock_ns();
    if (hit != expect_hit || (hit && (size != PAYLOAD || memcmp(data, payload, size) != 0)))
        stop("a look-up gave something else than was stored");
    free(data);
    close_cache(&config, &cache);
    return (double)(end - begin) * 1e-6;
}

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Whether the median keeps its limit. */
static bool report(series *of) {
    qsort(of->ms, SAMPLES, sizeof *of->ms, compare_doubles);
    double median = of->ms[SAMPLES / 2];
    printf("%-4s: median %.4f ms, quartiles %.4f and %.4f, min %.4f, max %.4f, %d samples\n", of->what, median,
           of->ms[SAMPLES / 4], of->ms[3 * SAMPLES / 4], of->ms[0], of->ms[SAMPLES - 1], SAMPLES);
    if (of->limit_ms > 0 && median > of->limit_ms) {
        printf("FAILED: the limit of %s is %.4f ms\n", of->what, of->limit_ms);
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    static series hits = {.what = "hit"}, misses = {.what = "miss"};
    if (argc == 5 && strcmp(argv[1], "--limit-hit-ms") == 0 && strcmp(argv[3], "--limit-miss-ms") == 0) {
        hits.limit_ms = atof(argv[2]);
        misses.limit_ms = atof(argv[4]);
    } else if (argc != 1) {
        stop("usage: measure_lookup [--limit-hit-ms N --limit-miss-ms N]");
    }
    strcpy(directory, "/tmp/portmm-test-XXXXXX");
    if (mkdtemp(directory) == NULL)
        stop("cannot make a directory in /tmp");
    fill_payload(argv[0]);
    fill_cache();
    for (int i = 0; i < SAMPLES; i++) { /* in turns, so that both see the same machine */
        hits.ms[i] = time_lookup(0, true);
        misses.ms[i] = time_lookup(-1 - i, false);
    }
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    report_payload();
    bool fine = system(command) == 0;
    fine = report(&hits) && fine;
    return report(&misses) && fine ? 0 : 1;
}
