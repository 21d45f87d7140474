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
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void tool_limit_run(unsigned seconds) {
    alarm(seconds);
    fcntl(INHERITED_LOCK, F_SETFD, FD_CLOEXEC); /* a compiler that a driver starts must not keep the lock */
}

/* Linux may share the processor among sessions first, and only then among their threads; libportmm starts helpers in
 * sessions of their own, where neither their priority nor their policy would count against anybody else. */
static void give_way_to_other_sessions(void) {
    const char *niceness = "10"; /* about a tenth of what another session gets: with 19 a busy program has no end */
    int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return; /* a kernel without such groups */
    for (int attempt = 0; attempt < 20 && write(file, niceness, strlen(niceness)) < 0 && errno == EAGAIN; attempt++)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* it takes one change in a tenth of a second */
    close(file);
}

void tool_run_in_background(void) {
    setpriority(PRIO_PROCESS, 0, 19);
#ifdef SCHED_IDLE /* Linux: gives way at once, where a low priority alone keeps its slice */
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
#endif
    give_way_to_other_sessions();
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

void tool_remove_tree(const char *path) {
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
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
    tool_remove_tree(empty);
    return child > 0 && WIFEXITED(end) ? WEXITSTATUS(end) : 1;
}

bool tool_current_directory(char *path, size_t size) {
    return getcwd(path, size) != NULL;
}

char *tool_make_private_directory(void) {
    const char *parent = getenv("TMPDIR");
    char *path = NULL;
    if (parent == NULL || parent[0] != '/')
        parent = "/tmp";
    if (asprintf(&path, "%s/portmm-cache-XXXXXX", parent) < 0)
        return NULL;
    if (mkdtemp(path) == NULL) {
        free(path);
        return NULL;
    }
    return path;
}

void tool_redirect_driver_caches(const char *root) {
    static const char *const caches[][2] = {{"POCL_CACHE_DIR", "pocl"},
                                            {"CUDA_CACHE_PATH", "nvidia"},
                                            {"MESA_SHADER_CACHE_DIR", "mesa"},
                                            {"NEO_CACHE_DIR", "neo"},
                                            {"AMD_COMGR_CACHE_DIR", "comgr"}};
    char path[4096];
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        snprintf(path, sizeof path, "%s/driver-%s", root, caches[i][1]);
        if (mkdir(path, 0700) == 0)
            setenv(caches[i][0], path, 1);
    }
}
