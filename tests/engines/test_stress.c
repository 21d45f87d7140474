/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sixteen threads of one process on one context, and on one cache, with everything that can happen to its entries
 * meanwhile. What they get must be right; ThreadSanitizer sees the rest.
 */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/cache.h>

#include "cache/failure.h"
#include "cache/flight.h"
#include "cache/trial.h"
#include "cache/upkeep.h"
#include "fault.h"

enum { THREADS = 16, ROUNDS = 60, KEYS = 12, LARGEST = 3000 };

static fault_control *fault;
static char root[64], directory[96];
static portmm_context_options options;
static atomic_int wrong;

static void set_up(void) {
    strcpy(root, "/tmp/portmm-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(directory, sizeof directory, "%s/cache", root);
    options = (portmm_context_options)PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "cuda";
    options.module_path = TEST_MODULES;
    options.cache_dir = directory;
    options.cache_mode = PORTMM_CACHE_READ_WRITE;
    options.warmup = PORTMM_WARMUP_THREAD;
    atomic_store(&wrong, 0);
}

static void tear_down(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static void run_threads(void *(*run)(void *argument), void *shared) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run, shared), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(atomic_load(&wrong), 0);
}

/* ---- the cache ---- */

/* A number of each thread's own, and from it what it does. */
static unsigned next_number(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 12;
}

static size_t fill_payload(int number, unsigned char payload[LARGEST]) {
    size_t size = (size_t)(LARGEST - 200 * number);
    for (size_t i = 0; i < size; i++)
        payload[i] = (unsigned char)(i * 31 + (size_t)number);
    return size;
}

static void get_or_put(pmm_cache *cache, const pmm_cache_key *key, int number, bool on_trial) {
    unsigned char payload[LARGEST];
    size_t expected = fill_payload(number, payload), size = 0;
    void *data = NULL;
    if (pmm_flight_get(cache, key, &data, &size)) {
        if (size != expected || memcmp(data, payload, size) != 0)
            atomic_fetch_add(&wrong, 1);
        free(data);
    } else if (on_trial) {
        pmm_trial_put(cache, key, payload, expected);
    } else {
        pmm_cache_put(cache, key, payload, expected);
    }
    pmm_flight_is_awaited(cache);
    pmm_flight_land(cache);
}

static void fail_and_recall(pmm_cache *cache, const pmm_cache_key *key) {
    char reason[PMM_FAILURE_TEXT + 1] = "no such type";
    pmm_cache_remember_failure(cache, key, "no such type");
    pmm_cache_recall_failure(cache, key, reason, sizeof reason);
    if (strcmp(reason, "no such type") != 0)
        atomic_fetch_add(&wrong, 1);
}

static void *use_cache(void *shared) {
    static atomic_uint threads;
    unsigned state = atomic_fetch_add(&threads, 1) * 7919u;
    pmm_cache *cache = shared;
    char why[PMM_IO_TEXT];
    pmm_trimmed trimmed;
    for (int round = 0; round < ROUNDS; round++) {
        int number = (int)(next_number(&state) % KEYS);
        const pmm_key_field field = {"number", &number, sizeof number};
        const pmm_cache_key key = {"program", &field, 1};
        switch (next_number(&state) % 16) {
        case 0:
            pmm_cache_reject(cache, &key, "refused by a test");
            break;
        case 1:
            fail_and_recall(cache, &key);
            break;
        case 2:
            pmm_cache_trim(cache, LARGEST, false, &trimmed, why);
            break;
        case 3:
            pmm_cache_note_fault(cache, "a trouble");
            break;
        default:
            get_or_put(cache, &key, number, next_number(&state) % 4 == 0);
        }
    }
    return NULL;
}

START_TEST(threads_on_one_cache) {
    pmm_config config;
    pmm_cache cache;
    options.cache_max_size = 6 * LARGEST; /* so that each store may evict */
    ck_assert_int_eq(pmm_config_init(&config, &options), PORTMM_STATUS_SUCCESS);
    ck_assert(pmm_cache_init(&cache, &config));
    run_threads(use_cache, &cache);
    ck_assert_uint_gt(atomic_load(&cache.hits), 0);
    ck_assert_uint_gt(atomic_load(&cache.misses), 0);
    pmm_cache_fini(&cache);
    pmm_config_fini(&config);
}
END_TEST

/* ---- the context ---- */

static void *multiply(void *shared) {
    enum { MOST = 12 };
    static atomic_uint threads;
    unsigned state = atomic_fetch_add(&threads, 1) * 104729u;
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    for (int round = 0; round < ROUNDS; round++) {
        float a[MOST * MOST], b[MOST * MOST], c[MOST * MOST];
        int n = 1 + (int)(next_number(&state) % MOST);
        for (int i = 0; i < n * n; i++) {
            a[i] = (float)(next_number(&state) % 7);
            b[i] = i % (n + 1) == 0; /* identity */
            c[i] = -1;
        }
        if (portmm_sgemm_host(shared, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, n, n, n, 1, a, n, b, n, 0, c,
                              n) != PORTMM_STATUS_SUCCESS ||
            memcmp(a, c, (size_t)(n * n) * sizeof *a) != 0)
            atomic_fetch_add(&wrong, 1);
        if (portmm_cache_get_stats(shared, &stats) != PORTMM_STATUS_SUCCESS)
            atomic_fetch_add(&wrong, 1);
    }
    return NULL;
}

/* From the first product on: the engines are opened, settled and changed meanwhile. */
START_TEST(threads_on_one_context) {
    portmm_context *context;
    memset(fault, 0, sizeof *fault);
    fault->caches = true;
    ck_assert_int_eq(portmm_context_create(&options, &context), PORTMM_STATUS_SUCCESS);
    run_threads(multiply, context);
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    ck_assert_int_eq(portmm_cache_get_stats(context, &stats), PORTMM_STATUS_SUCCESS);
    ck_assert_uint_gt(stats.hits, 0);
    ck_assert_uint_gt(stats.stores, 0);
    portmm_context_destroy(context);
}
END_TEST

int main(void) {
    void *module = dlopen(TEST_MODULE, RTLD_NOW);
    fault = module != NULL ? dlsym(module, "fault") : NULL;
    if (fault == NULL) {
        printf("no fault backend: %s\n", dlerror());
        return 1;
    }
    Suite *suite = suite_create("stress");
    TCase *tests = tcase_create("stress");
    tcase_set_timeout(tests, 0); /* CTest has one */
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, threads_on_one_cache);
    tcase_add_test(tests, threads_on_one_context);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
