/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "status.h"
#include "structs.h"

#define KNOWN_DTYPES ((PORTMM_DTYPE_BIT(PMM_DTYPES) - 1) & ~1u)

static char *copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

static portmm_status set_text(char **member, const char *text) {
    if (text == NULL)
        return PORTMM_STATUS_SUCCESS;
    *member = copy_text(text);
    return *member != NULL ? PORTMM_STATUS_SUCCESS : pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for options");
}

/* A variable that is set to the empty string is one that is not set. */
static const char *read_variable(const char *name) {
    const char *value = pmm_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

typedef struct word {
    const char *text;
    int value;
} word;

static portmm_status read_word(const char *name, const word *words, int standard, int *value) {
    const char *text = read_variable(name);
    if (text == NULL) {
        *value = standard;
        return PORTMM_STATUS_SUCCESS;
    }
    for (const word *each = words; each->text != NULL; each++)
        if (strcmp(text, each->text) == 0) {
            *value = each->value;
            return PORTMM_STATUS_SUCCESS;
        }
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "environment variable %s = \"%.100s\": use %s, %s or %s", name,
                    text, words[0].text, words[1].text, words[2].text);
}

/* An enumeration whose 0 means: by the environment, else `standard`. */
static portmm_status choose(const char *option, int asked, int last, const char *variable, const word *words,
                            int standard, int *value) {
    if (asked < 0 || asked > last)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "options.%s = %d must be from 0 to %d", option, asked, last);
    if (asked == 0)
        return read_word(variable, words, standard, value);
    *value = asked;
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status choose_modes(pmm_config *config, const portmm_context_options *given) {
    static const word modes[] = {
        {"off", PORTMM_CACHE_OFF}, {"ro", PORTMM_CACHE_READ_ONLY}, {"rw", PORTMM_CACHE_READ_WRITE}, {NULL, 0}};
    static const word warmups[] = {
        {"helper", PORTMM_WARMUP_HELPER}, {"thread", PORTMM_WARMUP_THREAD}, {"off", PORTMM_WARMUP_OFF}, {NULL, 0}};
    static const word starts[] = {
        {"tuned", PORTMM_START_TUNED}, {"fast", PORTMM_START_FAST}, {"hybrid", PORTMM_START_HYBRID}, {NULL, 0}};
    int mode = 0, warmup = 0, start = 0;
    portmm_status status = choose("cache_mode", (int)given->cache_mode, PORTMM_CACHE_PROVE, "PORTMM_CACHE", modes,
                                  PORTMM_CACHE_READ_WRITE, &mode);
    if (status == PORTMM_STATUS_SUCCESS)
        status = choose("warmup", (int)given->warmup, PORTMM_WARMUP_OFF, "PORTMM_WARMUP", warmups, PORTMM_WARMUP_HELPER,
                        &warmup);
    if (status == PORTMM_STATUS_SUCCESS)
        status =
            choose("start", (int)given->start, PORTMM_START_HYBRID, "PORTMM_START", starts, PORTMM_START_FAST, &start);
    config->cache_mode = (portmm_cache_mode)mode;
    config->warmup = (portmm_warmup)warmup;
    config->start = (portmm_start)start;
    return status;
}

/* "/base/more", or NULL where the base is no place to keep files. */
static char *join_cache_path(const char *base, const char *more) {
    if (base == NULL || base[0] != '/' || base[1] == '\0')
        return NULL;
    size_t size = strlen(base) + strlen(more) + 1;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s%s", base, more);
    return path;
}

/* No place is not an error: the product is made without the cache. */
static void choose_cache_dir(pmm_config *config, const char *asked) {
    config->cache_reason = "";
    if (config->cache_mode == PORTMM_CACHE_OFF) {
        config->cache_reason = "the cache is off by option or PORTMM_CACHE=off";
    } else if (pmm_process_is_privileged()) {
        config->cache_mode = PORTMM_CACHE_OFF;
        config->cache_reason = "the cache is off in a set-user-id program";
    } else if (asked != NULL || (asked = read_variable("PORTMM_CACHE_DIR")) != NULL) {
        config->cache_dir = join_cache_path(asked, "");
        if (config->cache_dir == NULL)
            config->cache_reason = "the cache is in memory only: its directory must be an absolute path (option "
                                   "cache_dir or PORTMM_CACHE_DIR)";
    } else {
        config->cache_dir = join_cache_path(read_variable("XDG_CACHE_HOME"), "/portmm");
        if (config->cache_dir == NULL)
            config->cache_dir = join_cache_path(read_variable("HOME"), "/.cache/portmm");
        if (config->cache_dir == NULL)
            config->cache_reason = "the cache is in memory only: HOME is unset or no usable directory; set "
                                   "PORTMM_CACHE_DIR to an absolute path";
    }
}

/* "500M": a number, and K, M, G or T for powers of 1024. */
static bool parse_size(const char *text, uint64_t *size) {
    static const char units[] = "KMGT";
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    if (errno != 0 || *(end + (unit != NULL)) != '\0' || number > UINT64_MAX >> shift)
        return false;
    *size = (uint64_t)number << shift;
    return true;
}

static portmm_status choose_cache_limits(pmm_config *config, const portmm_context_options *given) {
    config->cache_max_size = given->cache_max_size != 0 ? given->cache_max_size : (uint64_t)1 << 30;
    const char *text = given->cache_max_size == 0 ? read_variable("PORTMM_CACHE_MAX_SIZE") : NULL;
    if (text != NULL && !parse_size(text, &config->cache_max_size))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "environment variable PORTMM_CACHE_MAX_SIZE = \"%.100s\": use bytes, or a number with K, M, G "
                        "or T, such as 500M; 0 for no limit",
                        text);
    return set_text(&config->cache_path_ro,
                    given->cache_path_ro != NULL ? given->cache_path_ro : read_variable("PORTMM_CACHE_PATH_RO"));
}

portmm_status pmm_config_init(pmm_config *config, const portmm_context_options *options) {
    memset(config, 0, sizeof *config);
    portmm_context_options given = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_status status = pmm_struct_in(&given, sizeof given, options, "options");
    if (status == PORTMM_STATUS_SUCCESS)
        status = set_text(&config->backend, given.backend != NULL ? given.backend : read_variable("PORTMM_BACKEND"));
    if (status == PORTMM_STATUS_SUCCESS && config->backend == NULL)
        status = set_text(&config->backend, "auto");
    if (status == PORTMM_STATUS_SUCCESS)
        status = set_text(&config->engine, given.engine);
    if (status == PORTMM_STATUS_SUCCESS)
        status = set_text(&config->module_path,
                          given.module_path != NULL ? given.module_path : read_variable("PORTMM_MODULE_PATH"));
    if (status == PORTMM_STATUS_SUCCESS)
        status = choose_modes(config, &given);
    if (status == PORTMM_STATUS_SUCCESS)
        status = choose_cache_limits(config, &given);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    choose_cache_dir(config, given.cache_dir);
    if ((given.needs_dtypes & ~KNOWN_DTYPES) != 0)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "options.needs_dtypes = %#x has a bit that is no portmm_dtype",
                        (unsigned)given.needs_dtypes);
    config->needs_dtypes = given.needs_dtypes;
    config->native_context = given.native_context;
    config->log = given.log;
    config->log_user_data = given.log_user_data;
    config->log_level = given.log_level;
    return PORTMM_STATUS_SUCCESS;
}

void pmm_config_fini(pmm_config *config) {
    free(config->backend);
    free(config->engine);
    free(config->module_path);
    free(config->cache_dir);
    free(config->cache_path_ro);
}

static bool is_wanted(const char *variable, const char *prefix, const char *const *except) {
    if (strncmp(variable, prefix, strlen(prefix)) != 0)
        return false;
    for (; *except != NULL; except++)
        if (strncmp(variable, *except, strlen(*except)) == 0 && variable[strlen(*except)] == '=')
            return false;
    return true;
}

static int compare_texts(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

char *pmm_config_environment(const char *prefix, const char *const *except) {
    char **environment = pmm_environment();
    size_t count = 0, size = 1;
    for (char **each = environment; each != NULL && *each != NULL; each++)
        if (is_wanted(*each, prefix, except)) {
            count++;
            size += strlen(*each) + 1;
        }
    char **wanted = malloc((count + 1) * sizeof *wanted);
    char *text = malloc(size);
    if (wanted != NULL && text != NULL) {
        size_t found = 0;
        for (char **each = environment; found < count && *each != NULL; each++)
            if (is_wanted(*each, prefix, except))
                wanted[found++] = *each;
        qsort(wanted, found, sizeof *wanted, compare_texts);
        size_t length = 0;
        text[0] = '\0';
        for (size_t i = 0; i < found; i++)
            length += (size_t)snprintf(text + length, size - length, "%s\n", wanted[i]);
    } else {
        free(text);
        text = NULL;
    }
    free(wanted);
    return text;
}
