/* SPDX-License-Identifier: Apache-2.0 */
#include "private_dirs.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

/* Each driver's own cache: the variable that names its directory, a folder of ours for it (some must exist), and the
 * switch that would turn the cache off, which is taken away: with it no cache would be "full". No folder: the
 * variable is taken away. */
static const struct driver_cache {
    const char *directory_variable;
    const char *folder;
    const char *switch_variable;
} driver_caches[] = {
    {"POCL_CACHE_DIR", "pocl", "POCL_KERNEL_CACHE"},
    {"CUDA_CACHE_PATH", "nvidia", "CUDA_CACHE_DISABLE"},
    {"MESA_SHADER_CACHE_DIR", "mesa", "MESA_SHADER_CACHE_DISABLE"},
    {"NEO_CACHE_DIR", "neo", "NEO_CACHE_PERSISTENT"},
    {"AMD_COMGR_CACHE_DIR", "comgr", "AMD_COMGR_CACHE"},
    {"CUPY_CACHE_DIR", "cupy", "CUPY_CACHE_IN_MEMORY"}, /* of a peer, not of a driver */
    {"JAX_COMPILATION_CACHE_DIR", NULL, NULL},          /* JAX keeps none unless it is told to */
};
enum { DRIVER_COUNT = sizeof driver_caches / sizeof driver_caches[0] };

/* For exit: a program that ends halfway leaves nothing behind either. */
static char *root_at_exit;

static void remove_root(void) {
    if (root_at_exit != NULL) {
        (void)bench_remove_tree(root_at_exit);
    }
}

bool bench_dirs_open(bench_dirs *dirs) {
    *dirs = (bench_dirs){.root = bench_make_private_directory()};
    root_at_exit = dirs->root;
    return dirs->root != NULL && atexit(remove_root) == 0;
}

bool bench_dirs_close(bench_dirs *dirs) {
    bool removed = dirs->root == NULL || bench_remove_tree(dirs->root);
    root_at_exit = NULL;
    free(dirs->root);
    dirs->root = NULL;
    return removed;
}

char *bench_dirs_make(bench_dirs *dirs) {
    char *directory = bench_format("%s/%u", dirs->root, dirs->made++);
    bool made = bench_make_directory(directory);
    for (size_t i = 0; made && i < DRIVER_COUNT; i++) {
        if (driver_caches[i].folder != NULL) {
            char *folder = bench_format("%s/%s", directory, driver_caches[i].folder);
            made = bench_make_directory(folder);
            free(folder);
        }
    }
    if (!made) {
        free(directory);
        return NULL;
    }
    return directory;
}

void bench_dirs_drop(char *directory) {
    if (directory != NULL) {
        (void)bench_remove_tree(directory);
        free(directory);
    }
}

/* `text` becomes the environment's; NULL: the variable is not there. */
static void add_variable(bench_environment *environment, const char *name, char *text) {
    environment->texts[environment->count] = text;
    environment->variables[environment->count] = (bench_variable){name, text};
    environment->count++;
}

void bench_environment_init(bench_environment *environment, const bench_caches *caches) {
    *environment = (bench_environment){0};
    const char *mode = caches->ours != NULL ? "rw" : "off";
    add_variable(environment, "PORTMM_CACHE", bench_copy(mode, strlen(mode)));
    add_variable(environment, "PORTMM_CACHE_DIR",
                 caches->ours != NULL ? bench_format("%s/portmm", caches->ours) : NULL);
    add_variable(environment, "PORTMM_CACHE_PATH_RO", NULL);
    for (size_t i = 0; i < DRIVER_COUNT; i++) {
        const struct driver_cache *row = &driver_caches[i];
        add_variable(environment, row->directory_variable,
                     row->folder != NULL ? bench_format("%s/%s", caches->drivers, row->folder) : NULL);
        if (row->switch_variable != NULL) {
            add_variable(environment, row->switch_variable, NULL);
        }
    }
    if (caches->filling) {
        add_variable(environment, "PORTMM_WARMUP", NULL);
    }
}

void bench_environment_fini(bench_environment *environment) {
    for (size_t i = 0; i < environment->count; i++) {
        free(environment->texts[i]);
    }
    *environment = (bench_environment){0};
}
