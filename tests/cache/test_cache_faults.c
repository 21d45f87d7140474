/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every fault of the cache. usage: test_cache_faults [FILE]: prints the table, or writes it beside the tests and
 * compares it with FILE, docs/cache-faults.md.
 */
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/key.h"
#include "faults.h"
#include "hooked_calls.h"

enum { LIMIT_SECONDS = 20 };

char fault_root[64], fault_directory[128];
bool fault_by_environment;
const char *fault_path_ro;
size_t fault_failures;
unsigned char fault_payload[FAULT_PAYLOAD];
static const pmm_key_field fields[] = {{"source", "kernel", 6}, {"driver", "1.0", 3}};
const pmm_cache_key fault_key = {"program", fields, 2};

static FILE *table;
/* Shared with the processes that a fault starts. */
static struct counts { atomic_size_t hits, misses, stores, store_faults, seen; } * counts;

void fault_saw(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    counts->seen++;
}

void fault_open_cache(pmm_config *config, pmm_cache *cache) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.cache_mode = PORTMM_CACHE_READ_WRITE;
    options.cache_dir = fault_by_environment ? NULL : fault_directory;
    options.cache_path_ro = fault_path_ro;
    if (pmm_config_init(config, &options) != PORTMM_STATUS_SUCCESS || !pmm_cache_init(cache, config)) {
        fault_saw("a cache cannot be opened");
        exit(1);
    }
}

void fault_close_cache(pmm_config *config, pmm_cache *cache) {
    pmm_cache_fini(cache);
    pmm_config_fini(config);
}

static bool look_up(void) {
    pmm_config config;
    pmm_cache cache;
    void *data = NULL;
    size_t size = 0;
    fault_open_cache(&config, &cache);
    bool found = pmm_cache_get(&cache, &fault_key, &data, &size);
    if (found && (size != FAULT_PAYLOAD || memcmp(data, fault_payload, size) != 0))
        fault_saw("a look-up gave other bytes than were stored");
    free(data);
    fault_close_cache(&config, &cache);
    return found;
}

static bool store(void) {
    pmm_config config;
    pmm_cache cache;
    fault_open_cache(&config, &cache);
    bool stored = pmm_cache_put(&cache, &fault_key, fault_payload, FAULT_PAYLOAD);
    fault_close_cache(&config, &cache);
    return stored;
}

bool fault_look_up(void) {
    bool found = look_up();
    atomic_fetch_add(found ? &counts->hits : &counts->misses, 1);
    return found;
}

bool fault_store(void) {
    bool stored = store();
    atomic_fetch_add(stored ? &counts->stores : &counts->store_faults, 1);
    return stored;
}

void fault_must_store(void) {
    if (!store() || !look_up())
        fault_saw("an entry cannot be stored before the fault");
}

bool fault_try(void) {
    look_up();
    store();
    return look_up();
}

int64_t fault_start(void (*run)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run();
        _exit(0);
    }
    if (child < 0)
        fault_saw("cannot start a process");
    return child;
}

void fault_await(int64_t child, int expected_signal) {
    int status = 0;
    pid_t ended = waitpid((pid_t)child, &status, 0);
    int signal = ended == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (ended != child || (signal != 0 && signal != expected_signal))
        fault_saw("a process ended by signal %d", signal);
}

void fault_entry_path(char *path, size_t size) {
    size_t encoded_size = 0;
    char name[PMM_KEY_NAME_SIZE];
    unsigned char *encoded = pmm_key_encode(&fault_key, &encoded_size);
    pmm_key_name(encoded, encoded_size, name);
    free(encoded);
    snprintf(path, size, "%s/%s/%s", fault_directory, PMM_CACHE_ENTRIES, name);
}

size_t fault_read_file(const char *path, unsigned char *bytes, size_t size) {
    FILE *file = fopen(path, "rb");
    size_t count = file != NULL ? fread(bytes, 1, size, file) : 0;
    if (file == NULL || fclose(file) != 0 || count == 0)
        fault_saw("cannot read %s", path);
    return count;
}

void fault_write_file(const char *path, const unsigned char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        fault_saw("cannot write %s", path);
    chmod(path, 0600);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *position) {
    (void)status, (void)type, (void)position;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

/* Other processes may store there meanwhile. */
void fault_remove(const char *path) {
    for (int attempt = 0; attempt < 100 && access(path, F_OK) == 0; attempt++)
        nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* In memory where there is such a file system: thousands of files are synced. */
static void make_root(void) {
    strcpy(fault_root, "/dev/shm/portmm-test-XXXXXX");
    if (mkdtemp(fault_root) == NULL) {
        strcpy(fault_root, "/tmp/portmm-test-XXXXXX");
        if (mkdtemp(fault_root) == NULL) {
            perror("mkdtemp");
            exit(1);
        }
    }
    snprintf(fault_directory, sizeof fault_directory, "%s/deep/cache", fault_root);
}

static const char *tell(size_t good, size_t bad, const char *good_text, const char *bad_text) {
    static char text[64];
    snprintf(text, sizeof text, "%s%s%s", good > 0 ? good_text : "", good > 0 && bad > 0 ? ", " : "",
             bad > 0 ? bad_text : "");
    return text[0] != '\0' ? text : "-";
}

void fault_run(const fault *one) {
    *counts = (struct counts){0};
    make_root();
    uint64_t begin = pmm_clock_ns();
    one->run();
    test_hook_calls(NULL);
    test_clock_offset_ns = 0;
    fault_by_environment = false;
    fault_path_ro = NULL;
    double seconds = (double)(pmm_clock_ns() - begin) * 1e-9;
    if (seconds > LIMIT_SECONDS)
        fault_saw("%s took %.1f s", one->name, seconds);
    bool healed = store() && look_up();
    fprintf(table, "| %s | %s ", one->name, tell(counts->hits, counts->misses, "hit", "miss"));
    fprintf(table, "| %s | %zu | %s |\n", tell(counts->stores, counts->store_faults, "stored", "not stored"),
            counts->seen, healed ? "yes" : "NO");
    if (counts->seen > 0 || !healed) {
        fprintf(stderr, "FAILED: %s\n", one->name);
        fault_failures++;
    }
    fault_remove(fault_root);
}

static void begin_section(const char *title) {
    fprintf(
        table,
        "\n## %s\n\n| fault | look-up | store | errors the caller saw | healed |\n| --- | --- | --- | --- | --- |\n",
        title);
}

static void run_section(const char *title, const fault *faults) {
    begin_section(title);
    for (; faults->name != NULL; faults++)
        fault_run(faults);
}

static void run_all(void) {
    fputs("<!-- SPDX-License-Identifier: Apache-2.0 -->\n# Faults of the cache\n\n"
          "Written by `build/test/bin/test_cache_faults > docs/cache-faults.md`; the test `cache.faults` fails when it "
          "differs from what\nit sees. Each row is a fault, raised in an empty directory. Look-up and store: what they "
          "gave while the fault lasted,\nover all its occasions; a miss means that the program is compiled. Errors: "
          "wrong bytes, a crash, or more than 20 seconds.\nHealed: once the fault is over, a store and a look-up give "
          "a hit.\n",
          table);
    run_section("Damaged entries", fault_damage);
    run_section("Directories, environment, disk", fault_places);
    run_section("Processes", fault_processes);
    begin_section("System calls");
    fault_run_calls();
}

/* Tells the difference. */
static bool is_same(const char *left, const char *right) {
    char command[9000];
    snprintf(command, sizeof command, "diff -u '%s' '%s' >&2", left, right);
    return system(command) == 0;
}

int main(int argc, char **argv) {
    char written[4200];
    snprintf(written, sizeof written, "%s.md", argv[0]);
    for (size_t i = 0; i < FAULT_PAYLOAD; i++)
        fault_payload[i] = (unsigned char)(i * i >> 3); /* not all of it packs well */
    table = argc == 2 ? fopen(written, "w") : stdout;
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (table == NULL || argc > 2 || counts == MAP_FAILED) {
        fprintf(stderr, "usage: test_cache_faults [FILE]\n");
        return 2;
    }
    run_all();
    if (fclose(table) != 0)
        return 2;
    if (argc == 2 && !is_same(argv[1], written)) {
        fprintf(stderr, "FAILED: %s is not what this run saw: see above\n", argv[1]);
        return 1;
    }
    return fault_failures == 0 ? 0 : 1;
}
