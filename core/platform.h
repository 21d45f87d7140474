/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that asks the operating system. Implemented in platform_posix.c and platform_files_posix.c; no other file
 * of the core includes a system header. */
#ifndef PMM_PLATFORM_H
#define PMM_PLATFORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portmm/backend.h>

/* What an errno means. Valid until the next call of this thread. */
const char *pmm_error_text(int error);

/* ---- time, threads ---- */

uint64_t pmm_clock_ns(void);

typedef pthread_mutex_t pmm_mutex;
#define PMM_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
bool pmm_mutex_init(pmm_mutex *mutex);
void pmm_mutex_fini(pmm_mutex *mutex);
void pmm_mutex_lock(pmm_mutex *mutex);
void pmm_mutex_unlock(pmm_mutex *mutex);

typedef pthread_cond_t pmm_condition;
bool pmm_condition_init(pmm_condition *condition);
void pmm_condition_fini(pmm_condition *condition);
void pmm_condition_signal(pmm_condition *condition);
/* With the mutex held, which is given up meanwhile. Returns after a signal, after the time, or at a whim. */
void pmm_condition_wait(pmm_condition *condition, pmm_mutex *mutex, unsigned milliseconds);

typedef pthread_t pmm_thread;
/* The thread blocks all signals, so that it never runs a handler of the application. Debuggers and `top -H` show its
 * name, of 15 characters at most. */
bool pmm_thread_start(pmm_thread *thread, const char *name, void *(*run)(void *), void *argument);
void pmm_thread_join(pmm_thread thread);

/* ---- process, machine ---- */

/* Changes when the process forks. */
int64_t pmm_process_number(void);

/* NULL if unset, or if the process runs with privileges its caller lacks. */
const char *pmm_getenv(const char *name);
/* The process's environment, ended by NULL. */
char **pmm_environment(void);
/* Set-user-id, set-group-id or the like: files named by the caller must not be trusted. */
bool pmm_process_is_privileged(void);
void pmm_machine_read(pmm_machine *machine, char *name, size_t name_size);

/*
 * Starts `path` with `arguments` (ended by NULL) as a process of its own: in its own session, with no open
 * files but `kept_file` (as descriptor 3), standard streams on the null device. The caller is not its parent: no
 * SIGCHLD, nothing for wait() to find. Fails with a static text in *why.
 */
bool pmm_spawn_detached(const char *path, const char *const *arguments, int kept_file, const char **why);
/* The same, without a kept file, and waits for its end; also a signal that killed it is *failed. */
bool pmm_spawn_and_wait(const char *path, const char *const *arguments, bool *failed, const char **why);

/* ---- shared libraries ---- */

/* A private library resolves its own symbols before the application's. *why is valid until the next call here. */
void *pmm_library_open(const char *path, bool private_scope, const char **why);
void *pmm_library_symbol(void *library, const char *name);
/* Directory of the shared object that holds `address`, without a final slash. */
bool pmm_directory_of(const void *address, char *directory, size_t size);
bool pmm_file_exists(const char *path);
bool pmm_program_exists(const char *path);

/* ---- the cache's files ---- */

/* What became of a file operation. On FAULT and REFUSED, `why` of the call holds one line. */
typedef enum pmm_io {
    PMM_IO_OK,
    PMM_IO_MISSING, /* no such file */
    PMM_IO_BUSY,    /* locked by another process */
    PMM_IO_REFUSED, /* not trusted: wrong owner, writable by others, a link, not a plain file, too large */
    PMM_IO_FAULT    /* the system reported an error */
} pmm_io;

#define PMM_IO_TEXT 512

/* Whose files are trusted, if nobody else can write them: an entry is code. */
typedef enum pmm_trust {
    PMM_TRUST_USER,  /* the effective user's */
    PMM_TRUST_SYSTEM /* and root's */
} pmm_trust;

/* Which file was read: to remove that one and no later one of the same name. */
typedef struct pmm_file_id {
    uint64_t device, inode;
} pmm_file_id;

#define PMM_FILE_NAME 96

typedef struct pmm_file_info {
    char name[PMM_FILE_NAME];
    uint64_t size;
    int64_t stamp_ns; /* last write or touch; nanoseconds since 1970 */
    pmm_file_id id;
} pmm_file_info;

/* Nanoseconds since 1970: for stamps only, since this clock may jump. */
int64_t pmm_wall_clock_ns(void);

/*
 * Opens `path` (absolute) or, in it, `below` (may be NULL), creating for its owner only what is missing. Both belong to
 * the user that `trust` says, are writable by nobody else and are no links, or are REFUSED with advice in `why`. What
 * was checked is what the other functions then use, through *directory.
 */
pmm_io pmm_directory_open(const char *path, const char *below, pmm_trust trust, bool create, int *directory,
                          char why[PMM_IO_TEXT]);
void pmm_directory_close(int directory);
/* Not through a link. */
bool pmm_is_directory(const char *path);

/* The plain files in it, in any order; names beyond PMM_FILE_NAME are left out. *files is from malloc. */
pmm_io pmm_directory_list(int directory, pmm_file_info **files, size_t *count, char why[PMM_IO_TEXT]);

/* Reads a whole plain file. *data is from malloc. `stamp`: a stamp that is an hour old, or in the future, is renewed;
 * so the order of use is kept to the hour, and a file that is read often is not written often. */
pmm_io pmm_file_read(int directory, const char *name, pmm_trust trust, size_t max_size, bool stamp, void **data,
                     size_t *size, pmm_file_id *id, char why[PMM_IO_TEXT]);
/* The file appears under its name whole or not at all, also after a crash of the machine. MISSING: the directory was
 * deleted meanwhile. */
pmm_io pmm_file_write(int directory, const char *name, const void *data, size_t size, char why[PMM_IO_TEXT]);
/* At the end of the file, which is made if it is missing; in one piece where the file system appends in one piece.
 * *size_after: about how large the file is then. */
pmm_io pmm_file_append(int directory, const char *name, const void *data, size_t size, uint64_t *size_after,
                       char why[PMM_IO_TEXT]);
pmm_io pmm_file_remove(int directory, const char *name, const pmm_file_id *id, char why[PMM_IO_TEXT]);
/* Whether it is what pmm_file_write left when its process was killed. */
bool pmm_file_is_temporary(const char *name);

/* A file that stays open, read in parts. REFUSED as for a directory. */
pmm_io pmm_file_open(const char *path, pmm_trust trust, int *file, uint64_t *size, char why[PMM_IO_TEXT]);
pmm_io pmm_file_read_at(int file, const char *name, uint64_t offset, void *data, size_t size, char why[PMM_IO_TEXT]);
void pmm_file_close(int file);

/* Takes a lock that the kernel gives back when the last process that has *file open ends. Does not wait. Shared ones
 * exclude others only. */
pmm_io pmm_file_lock(int directory, const char *name, bool shared, int *file, char why[PMM_IO_TEXT]);
void pmm_file_unlock(int file);
/* The same in steps. try: BUSY when another has it; an exclusive one in place of a shared one is given first. */
pmm_io pmm_lock_open(int directory, const char *name, int *file, char why[PMM_IO_TEXT]);
pmm_io pmm_lock_try(int file, bool shared, const char *name, char why[PMM_IO_TEXT]);
void pmm_lock_give(int file);
/* Gives it, also where another process has inherited the file, and closes. */
void pmm_lock_release(int file);
/* When the lock file was touched; for comparison only. */
void pmm_lock_touch(int file);
int64_t pmm_lock_stamp(int file);

void pmm_sleep(unsigned milliseconds);

/* The system calls behind the file functions, so that a test can make each of them fail. */
struct stat;
struct dirent;
typedef struct pmm_file_calls {
    int (*openat)(int directory, const char *path, int flags, unsigned mode);
    int (*mkdirat)(int directory, const char *path, unsigned mode);
    int (*fstat)(int file, struct stat *status);
    int (*fstatat)(int directory, const char *path, struct stat *status);
    void *(*opendir)(int file); /* takes the descriptor */
    struct dirent *(*readdir)(void *listing);
    int (*closedir)(void *listing);
    long (*pread)(int file, void *data, size_t size, int64_t offset);
    long (*write)(int file, const void *data, size_t size);
    int (*fsync)(int file);
    int (*futimens)(int file); /* to now */
    int (*close)(int file);
    int (*renameat)(int directory, const char *from, const char *to);
    int (*unlinkat)(int directory, const char *path);
    int (*lock)(int file, bool shared);
    int64_t (*now)(void);
    int (*unlock)(int file); /* best effort: closing does it, too */
} pmm_file_calls;
extern const pmm_file_calls pmm_posix_file_calls;
/* NULL gives the real ones back. For tests; not while another thread uses the cache. */
void pmm_file_calls_replace(const pmm_file_calls *calls);

#endif
