/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools ask of the operating system. */
#ifndef TOOL_PLATFORM_H
#define TOOL_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>

/* This process is ended after so many seconds. */
void tool_limit_run(unsigned seconds);
/* From now on it runs only when nothing else wants to. */
void tool_run_in_background(void);

/*
 * Runs `run` in a child, and returns its exit code; 1 if a signal ended it. Drivers keep their own files in an empty
 * directory meanwhile, made in `directory` and removed at the end: what they read there would hide what is missing from
 * a binary. No core file is left.
 */
int tool_run_apart(const char *directory, int (*run)(void *argument), void *argument);

bool tool_current_directory(char *path, size_t size);

/* A new directory of this user's in $TMPDIR, else /tmp; the path is from malloc. NULL: none can be made. */
char *tool_make_private_directory(void);
/* Follows no link. */
void tool_remove_tree(const char *path);

/* From now on the drivers' own caches are new ones below `root`: nothing compiled before is found. To be called before
 * a driver is loaded. */
void tool_redirect_driver_caches(const char *root);

#endif
