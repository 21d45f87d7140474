/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools ask of the operating system. */
#ifndef TOOL_PLATFORM_H
#define TOOL_PLATFORM_H

/* From now on this process runs only when nothing else wants to, and is ended after so many seconds. */
void tool_run_in_background(unsigned seconds);

/*
 * Runs `run` in a child, and returns its exit code; 1 if a signal ended it. Drivers keep their own files in an empty
 * directory meanwhile, made in `directory` and removed at the end: what they read there would hide what is missing from
 * a binary. No core file is left.
 */
int tool_run_apart(const char *directory, int (*run)(void *argument), void *argument);

#endif
