/* SPDX-License-Identifier: Apache-2.0 */
/* Time, threads, processes and shared libraries on POSIX systems; Linux where POSIX has no word for it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *pmm_error_text(int error) {
    static _Thread_local char text[128];
    return strerror_r(error, text, sizeof text); /* GNU's: returns the text */
}

uint64_t pmm_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool pmm_mutex_init(pmm_mutex *mutex) {
    return pthread_mutex_init(mutex, NULL) == 0;
}

void pmm_mutex_fini(pmm_mutex *mutex) {
    pthread_mutex_destroy(mutex);
}

void pmm_mutex_lock(pmm_mutex *mutex) {
    pthread_mutex_lock(mutex);
}

void pmm_mutex_unlock(pmm_mutex *mutex) {
    pthread_mutex_unlock(mutex);
}

bool pmm_condition_init(pmm_condition *condition) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool made =
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

void pmm_condition_fini(pmm_condition *condition) {
    pthread_cond_destroy(condition);
}

void pmm_condition_signal(pmm_condition *condition) {
    pthread_cond_broadcast(condition);
}

void pmm_condition_wait(pmm_condition *condition, pmm_mutex *mutex, unsigned milliseconds) {
    uint64_t until = pmm_clock_ns() + (uint64_t)milliseconds * 1000000u;
    struct timespec at = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
    pthread_cond_timedwait(condition, mutex, &at);
}

bool pmm_thread_start(pmm_thread *thread, const char *name, void *(*run)(void *), void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_setname_np(*thread, name);
    return error == 0;
}

void pmm_thread_join(pmm_thread thread) {
    pthread_join(thread, NULL);
}

static atomic_int_fast64_t process_number; /* 0: not asked for in this process */
static bool watches_forks;

static void forget_process(void) {
    atomic_store(&process_number, 0);
}

static void watch_forks(void) {
    watches_forks = pthread_atfork(NULL, NULL, forget_process) == 0;
}

/* Asked for in every call: a system call each time would be too slow for small products. */
int64_t pmm_process_number(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int64_t number = atomic_load_explicit(&process_number, memory_order_relaxed);
    if (number != 0)
        return number;
    pthread_once(&once, watch_forks);
    number = getpid();
    if (watches_forks)
        atomic_store(&process_number, number);
    return number;
}

const char *pmm_getenv(const char *name) {
    return secure_getenv(name);
}

char **pmm_environment(void) {
    return environ;
}

bool pmm_process_is_privileged(void) {
    return getauxval(AT_SECURE) != 0;
}

static void read_cpu_name(char *name, size_t size) {
    name[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL)
        return;
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) != 0 || value == NULL)
            continue;
        value += 1 + strspn(value + 1, " ");
        value[strcspn(value, "\n")] = '\0';
        snprintf(name, size, "%s", value);
        break;
    }
    fclose(file);
}

void pmm_machine_read(pmm_machine *machine, char *name, size_t name_size) {
    read_cpu_name(name, name_size);
    cpu_set_t usable;
    CPU_ZERO(&usable);
    long cores = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : sysconf(_SC_NPROCESSORS_ONLN);
    long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
    machine->cpu_name = name;
    machine->cores = cores > 0 ? (int32_t)cores : 1;
    machine->memory_size = pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : 0;
}

/* ---- a process that is nobody's child ---- */

typedef struct launch {
    const char *path;
    const char *const *arguments;
    char *const *environment;
    int kept_file;      /* -1: none */
    bool waits;         /* the process between, for the program's end */
    char *program_top;  /* where the new process's stack begins */
    volatile int error; /* errno of what failed in the new process; 0: it runs the program */
    volatile int end;   /* as waitpid tells it */
} launch;

#define LAUNCH_STACK 65536

static void close_from(int first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0)
        return;
#endif
    for (int file = first; file < 1024; file++)
        close(file);
}

/* Runs in the new process, on the caller's memory: system calls only. */
static int run_program(void *argument) {
    launch *this = argument;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        sigaction(signal_number, &plain, NULL);
    int null_file = open("/dev/null", O_RDWR);
    if (null_file < 0 || (this->kept_file >= 0 && dup2(this->kept_file, 3) < 0)) {
        this->error = errno;
        _exit(127);
    }
    for (int file = 0; file < 3; file++)
        dup2(null_file, file);
    if (this->kept_file == 3)
        fcntl(3, F_SETFD, 0); /* dup2 onto itself leaves close-on-exec set */
    close_from(this->kept_file >= 0 ? 4 : 3);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(this->path, (char *const *)this->arguments, this->environment);
    this->error = errno;
    _exit(127);
}

/* Runs in the process between: starts the program and ends, at once, so that the program has no parent but init, or
 * after it. The caller's thread sleeps meanwhile. */
static int run_between(void *argument) {
    launch *this = argument;
    setsid();
    if (this->waits)
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* else an application that is killed would keep its memory until then */
    pid_t program = clone(run_program, this->program_top, CLONE_VM | CLONE_VFORK | SIGCHLD, this);
    int end = 0;
    if (program < 0)
        this->error = errno;
    else if (this->waits)
        this->end = waitpid(program, &end, 0) == program ? end : -1;
    _exit(0);
}

static bool launch_program(launch *this, const char **why) {
    char *stacks = malloc((size_t)2 * LAUNCH_STACK);
    if (stacks == NULL) {
        *why = "no memory";
        return false;
    }
    this->environment = environ;
    this->program_top = stacks + LAUNCH_STACK;
    sigset_t all, before;
    int cancel_state;
    sigfillset(&all);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* system calls below would be places for it */
    pthread_sigmask(SIG_SETMASK, &all, &before);                   /* no handler may run on the shared memory */
    /* No exit signal: the application's SIGCHLD handler and wait() do not see this child; __WCLONE does. */
    pid_t between = clone(run_between, stacks + (size_t)2 * LAUNCH_STACK, CLONE_VM | CLONE_VFORK, this);
    int error = between < 0 ? errno : 0;
    if (between > 0)
        while (waitpid(between, NULL, __WCLONE) < 0 && errno == EINTR) {
        }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_setcancelstate(cancel_state, NULL);
    free(stacks);
    if (error == 0)
        error = this->error;
    if (error != 0)
        *why = pmm_error_text(error);
    return error == 0;
}

bool pmm_spawn_detached(const char *path, const char *const *arguments, int kept_file, const char **why) {
    int is_reaper = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &is_reaper);
    if (getpid() == 1 || is_reaper) {
        *why = "this process adopts orphans (process 1 or a subreaper), so a helper would become its child";
        return false;
    }
    launch this = {.path = path, .arguments = arguments, .kept_file = kept_file};
    return launch_program(&this, why);
}

bool pmm_spawn_and_wait(const char *path, const char *const *arguments, bool *failed, const char **why) {
    launch this = {.path = path, .arguments = arguments, .kept_file = -1, .waits = true};
    if (!launch_program(&this, why))
        return false;
    *failed = this.end != 0;
    return true;
}

/* ---- shared libraries ---- */

void *pmm_library_open(const char *path, bool private_scope, const char **why) {
    int flags = RTLD_NOW | RTLD_LOCAL;
#ifndef PMM_SANITIZED /* their run-time refuses it */
    if (private_scope)
        flags |= RTLD_DEEPBIND;
#else
    (void)private_scope;
#endif
    void *library = dlopen(path, flags);
    if (library == NULL)
        *why = dlerror();
    return library;
}

void *pmm_library_symbol(void *library, const char *name) {
    return dlsym(library, name);
}

bool pmm_directory_of(const void *address, char *directory, size_t size) {
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return false;
    char *path = realpath(info.dli_fname, NULL);
    if (path == NULL)
        return false;
    char *slash = strrchr(path, '/');
    bool fits = slash != NULL && snprintf(directory, size, "%.*s", (int)(slash - path), path) < (int)size;
    free(path);
    return fits;
}

bool pmm_file_exists(const char *path) {
    return access(path, F_OK) == 0;
}

bool pmm_program_exists(const char *path) {
    return access(path, X_OK) == 0;
}
