/* SPDX-License-Identifier: Apache-2.0 */
/* Every operating-system call of the tool and of the peer programs. */
#ifndef BENCH_PLATFORM_H
#define BENCH_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The clock of portmm_clock_ns, for programs without libportmm: its stamps compare between processes. */
uint64_t bench_clock_ns(void);

/* ---- machine ---- */
typedef struct bench_machine {
    char cpu[128];          /* "unknown" where it cannot be told */
    char system[256];       /* kernel name, release and machine */
    char distribution[128]; /* PRETTY_NAME of os-release; "" */
    char governor[32];      /* of the first core's clock; "" */
    int64_t cores;          /* online */
    double memory_bytes;    /* physical; 0: unknown */
} bench_machine;
void bench_get_machine(bench_machine *machine);

/* "NAME=value" entries of this process's environment, NULL-terminated. */
char *const *bench_environment_entries(void);

/* ---- files ---- */
/* Path of the running program; false if it cannot be told. */
bool bench_self_path(char *path, size_t size);
bool bench_is_program(const char *path);
bool bench_is_readable(const char *path);
/* The first line of a text file without blanks at its ends; "" if it cannot be read. */
void bench_read_line(const char *path, char *line, size_t size);
/* Line `number` of a text file, from 0; false if there is none. */
bool bench_read_numbered_line(const char *path, size_t number, char *line, size_t size);
/* The share of a file's pages that are in memory, from 0 to 1; negative if it cannot be told. */
double bench_cached_share(const char *path);
/* Calls `visit` with the path of each entry of a directory, sorted by name; not at all if it cannot be read. */
void bench_visit_directory(const char *path, void (*visit)(const char *entry, void *user_data), void *user_data);
/* A new directory of mode 0700 in $TMPDIR, else /tmp. The path is new text; NULL on failure. */
char *bench_make_private_directory(void);
bool bench_make_directory(const char *path);
/* Removes it with everything in it; follows no symlink. */
bool bench_remove_tree(const char *path);
bool bench_stderr_is_terminal(void);

/* ---- signals ---- */
/* From now on SIGINT and SIGTERM are only noted, and SIGPIPE is ignored; children start with the defaults. */
void bench_catch_signals(void);
bool bench_interrupted(void);

/* ---- child processes ---- */
/* One variable of a child's environment; value NULL: not there. */
typedef struct bench_variable {
    const char *name;
    const char *value;
} bench_variable;

typedef struct bench_command {
    const char *arguments[4]; /* [0] is the program's path; NULL-terminated */
    const bench_variable *variables;
    size_t variable_count;
    unsigned timeout_s;
} bench_command;

typedef struct bench_outcome {
    char *output;           /* what it wrote to stdout, new text; "" if nothing */
    char *trouble;          /* how it ended if not well: "was killed by signal 11"; new text, else NULL */
    double first_output_ms; /* from its start to its first byte on stdout; 0: there was none */
} bench_outcome;

/*
 * Runs the command with one more argument behind its own: bench_clock_ns just before the start. Returns when it has
 * ended; kills it on an interrupt or when the time is over. Stdin is empty, stderr is ours.
 */
bench_outcome bench_run_child(const bench_command *command);

/*
 * Descendants whose parent ended are given to this process from now on (where the system can do that), so that
 * bench_await_orphans can wait for them. Children that this process already has are left alone.
 */
void bench_adopt_orphans(void);
/* Waits until no adopted process is left, at most so long, then kills what is left. Returns how many it killed. */
size_t bench_await_orphans(unsigned limit_s);

/*
 * In a child: the stream to the parent, taken off stdout; what libraries print to stdout goes to stderr from now on,
 * and no process started later inherits it. NULL on failure.
 */
FILE *bench_take_stdout(void);

#endif
