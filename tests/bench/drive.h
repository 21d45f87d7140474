/* SPDX-License-Identifier: Apache-2.0 */
/* Starts portmm-bench as a user does, in an empty TMPDIR that must be empty again afterwards. */
#ifndef DRIVE_H
#define DRIVE_H

#include <stdbool.h>

typedef struct outcome {
    int code; /* exit status; -1: killed by a signal */
    char *out, *err;
    double seconds;
} outcome;

/* One more variable of the environment; name NULL: none. */
typedef struct setting {
    const char *name, *value;
} setting;

/* Runs the program `path` (NULL: $PORTMM_BENCH) with arguments separated by single blanks; fails the test if TMPDIR is
 * not empty afterwards. */
outcome drive_with(const char *path, const char *arguments, setting extra);
outcome drive(const char *arguments);
void free_outcome(outcome *result);

/* A new directory that is removed by remove_directory. */
char *make_directory(void);
void remove_directory(char *path);

bool file_exists(const char *path);
char *read_file(const char *path);
void write_file(const char *path, const char *text);
void copy_program(const char *from, const char *to);

#endif
