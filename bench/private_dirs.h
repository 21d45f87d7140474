/* SPDX-License-Identifier: Apache-2.0 */
/* Private cache directories, and the environment that sends libportmm and the drivers there. */
#ifndef BENCH_PRIVATE_DIRS_H
#define BENCH_PRIVATE_DIRS_H

#include "platform.h"

typedef struct bench_dirs {
    char *root;
    unsigned made;
} bench_dirs;

/* False where no private directory can be made. It is also removed when the program ends by exit. */
bool bench_dirs_open(bench_dirs *dirs);
/* Removes everything; false if something is left. */
bool bench_dirs_close(bench_dirs *dirs);

/* A new empty directory, with a subdirectory for each driver's cache; new text. NULL on failure. */
char *bench_dirs_make(bench_dirs *dirs);
/* Removes it and frees the text; accepts NULL. */
void bench_dirs_drop(char *directory);

/* What a child process finds. */
typedef struct bench_caches {
    const char *ours;    /* libportmm's cache directory; NULL: the cache is off */
    const char *drivers; /* from bench_dirs_make */
    bool filling;        /* the process is to fill ours: libportmm's default warm-up, whatever the user set */
} bench_caches;

enum { BENCH_CACHE_VARIABLES = 24 };

/* The variables that say so; texts live until bench_environment_fini. */
typedef struct bench_environment {
    bench_variable variables[BENCH_CACHE_VARIABLES];
    char *texts[BENCH_CACHE_VARIABLES];
    size_t count;
} bench_environment;

void bench_environment_init(bench_environment *environment, const bench_caches *caches);
void bench_environment_fini(bench_environment *environment);

#endif
