/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a child process in private caches and reads the JSON object it leaves. */
#ifndef BENCH_LAUNCH_H
#define BENCH_LAUNCH_H

#include "child.h"
#include "private_dirs.h"

typedef struct bench_launcher {
    char self[4096]; /* path of this program */
    bench_dirs dirs;
    size_t helpers_killed; /* that did not end in their time */
} bench_launcher;

enum { BENCH_HELPER_LIMIT_S = 180 };

/* Programs to start: `program` NULL is this one, then `mode` is its first argument. */
typedef struct bench_launch_request {
    const char *program;
    const char *mode;
    const char *text; /* the argument behind it */
    bench_caches caches;
    /* How long helper processes may go on afterwards; 0: they are ended at once, because their caches are thrown away.
     */
    unsigned helper_limit_s;
} bench_launch_request;

/* The child's object, and in it as "parent_ms" when its first output came; or NULL and why: its own error with its
 * status, or how it ended. */
json_t *bench_launch(bench_launcher *launcher, const bench_launch_request *request, bench_failure *failure);

#endif
