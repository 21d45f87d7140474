/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform.h"

#define INHERITED_LOCK 3

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void tool_run_in_background(unsigned seconds) {
    setpriority(PRIO_PROCESS, 0, 19);
#ifdef SCHED_IDLE /* Linux: gives way at once, where a low priority alone keeps its slice */
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
#endif
    alarm(seconds);
    fcntl(INHERITED_LOCK, F_SETFD, FD_CLOEXEC); /* a compiler that a driver starts must not keep the lock */
}

/* Drivers whose binaries may lean on their own files. */
static const char *const driver_directories[] = {"POCL_CACHE_DIR"};

static int run_child(const char *empty, int (*run)(void *argument), void *argument) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (size_t i = 0; i < sizeof driver_directories / sizeof *driver_directories; i++)
        setenv(driver_directories[i], empty, 1);
    return run(argument);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

int tool_run_apart(const char *directory, int (*run)(void *argument), void *argument) {
    char empty[4096];
    int end = -1;
    if (snprintf(empty, sizeof empty, "%s/prove-XXXXXX", directory) >= (int)sizeof empty || mkdtemp(empty) == NULL)
        return 1;
    pid_t child = fork();
    if (child == 0)
        _exit(run_child(empty, run, argument));
    while (child > 0 && waitpid(child, &end, 0) < 0 && errno == EINTR) {
    }
    nftw(empty, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return child > 0 && WIFEXITED(end) ? WEXITSTATUS(end) : 1;
}
