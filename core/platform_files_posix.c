/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's files on POSIX systems. Every system call goes through one table, so that a test can make it fail. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int call_openat(int directory, const char *path, int flags, unsigned mode) {
    return openat(directory, path, flags, mode);
}

static int call_mkdirat(int directory, const char *path, unsigned mode) {
    return mkdirat(directory, path, mode);
}

static int call_fstat(int file, struct stat *status) {
    return fstat(file, status);
}

static int call_fstatat(int directory, const char *path, struct stat *status) {
    return fstatat(directory, path, status, AT_SYMLINK_NOFOLLOW);
}

static void *call_opendir(int file) {
    return fdopendir(file);
}

static struct dirent *call_readdir(void *listing) {
    return readdir(listing);
}

static int call_closedir(void *listing) {
    return closedir(listing);
}

static long call_pread(int file, void *data, size_t size, int64_t offset) {
    return pread(file, data, size, offset);
}

static long call_write(int file, const void *data, size_t size) {
    return write(file, data, size);
}

static int call_futimens(int file) {
    return futimens(file, NULL);
}

static int call_renameat(int directory, const char *from, const char *to) {
    return renameat(directory, from, directory, to);
}

static int call_unlinkat(int directory, const char *path) {
    return unlinkat(directory, path, 0);
}

static int call_lock(int file, bool shared) {
    return flock(file, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
}

static int call_unlock(int file) {
    return flock(file, LOCK_UN);
}

static int64_t call_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

const pmm_file_calls pmm_posix_file_calls = {
    .openat = call_openat,
    .mkdirat = call_mkdirat,
    .fstat = call_fstat,
    .fstatat = call_fstatat,
    .opendir = call_opendir,
    .readdir = call_readdir,
    .closedir = call_closedir,
    .pread = call_pread,
    .write = call_write,
    .fsync = fsync,
    .futimens = call_futimens,
    .close = close,
    .renameat = call_renameat,
    .unlinkat = call_unlinkat,
    .lock = call_lock,
    .now = call_now,
    .unlock = call_unlock,
};

static const pmm_file_calls *calls = &pmm_posix_file_calls;

void pmm_file_calls_replace(const pmm_file_calls *replacement) {
    calls = replacement != NULL ? replacement : &pmm_posix_file_calls;
}

int64_t pmm_wall_clock_ns(void) {
    return calls->now();
}

void pmm_sleep(unsigned milliseconds) {
    struct timespec pause = {.tv_sec = milliseconds / 1000, .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

static pmm_io tell(pmm_io result, char why[PMM_IO_TEXT], const char *format, ...) PMM_PRINTF(3, 4);
static pmm_io tell(pmm_io result, char why[PMM_IO_TEXT], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, PMM_IO_TEXT, format, arguments);
    va_end(arguments);
    return result;
}

static pmm_io tell_errno(char why[PMM_IO_TEXT], const char *what, const char *name) {
    return tell(PMM_IO_FAULT, why, "cannot %s %s: %s", what, name, pmm_error_text(errno));
}

static int open_at(int directory, const char *path, int flags, unsigned mode) {
    int file;
    do
        file = calls->openat(directory, path, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    while (file < 0 && errno == EINTR);
    return file;
}

static bool is_of(pmm_trust trust, const struct stat *status) {
    return status->st_uid == geteuid() || (trust == PMM_TRUST_SYSTEM && status->st_uid == 0);
}

static pmm_file_id get_id(const struct stat *status) {
    return (pmm_file_id){.device = (uint64_t)status->st_dev, .inode = (uint64_t)status->st_ino};
}

static int64_t get_stamp(const struct stat *status) {
    return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

/* ---- directories ---- */

/* Creates each missing directory of the path; a trouble shows when the last one is opened. */
static void make_directories(const char *path) {
    char part[4096];
    size_t length = strlen(path);
    if (length >= sizeof part)
        return;
    for (size_t end = 1; end <= length; end++) {
        if (path[end] != '/' && path[end] != '\0')
            continue;
        memcpy(part, path, end);
        part[end] = '\0';
        calls->mkdirat(AT_FDCWD, part, 0700);
    }
}

/* `path` is the whole name, for the texts. */
static pmm_io check_directory(int directory, const char *path, pmm_trust trust, char why[PMM_IO_TEXT]) {
    struct stat status;
    if (calls->fstat(directory, &status) != 0)
        return tell_errno(why, "look at", path);
    if (!is_of(trust, &status))
        return tell(PMM_IO_REFUSED, why, "%s belongs to another user; name a directory of your own", path);
    if ((status.st_mode & 0022) != 0)
        return tell(PMM_IO_REFUSED, why, "%s is writable by other users; run: chmod go-w '%s'", path, path);
    return PMM_IO_OK;
}

static pmm_io open_one(int parent, const char *name, const char *path, pmm_trust trust, bool create, int *directory,
                       char why[PMM_IO_TEXT]) {
    const int flags = O_RDONLY | O_DIRECTORY;
    int opened = open_at(parent, name, flags, 0);
    if (opened < 0 && errno == ENOENT && create) {
        if (parent == AT_FDCWD)
            make_directories(name);
        else
            calls->mkdirat(parent, name, 0700);
        opened = open_at(parent, name, flags, 0);
    }
    if (opened < 0 && errno == ENOENT)
        return tell(PMM_IO_MISSING, why, "%s does not exist", path);
    if (opened < 0 && (errno == ELOOP || errno == ENOTDIR))
        return tell(PMM_IO_REFUSED, why, "%s is a symbolic link or not a directory; name a directory of your own",
                    path);
    if (opened < 0)
        return tell_errno(why, "open directory", path);
    pmm_io result = check_directory(opened, path, trust, why);
    if (result != PMM_IO_OK)
        calls->close(opened);
    else
        *directory = opened;
    return result;
}

pmm_io pmm_directory_open(const char *path, const char *below, pmm_trust trust, bool create, int *directory,
                          char why[PMM_IO_TEXT]) {
    int parent, child;
    pmm_io result = open_one(AT_FDCWD, path, path, trust, create, &parent, why);
    if (result != PMM_IO_OK || below == NULL) {
        if (result == PMM_IO_OK)
            *directory = parent;
        return result;
    }
    char whole[PMM_IO_TEXT];
    snprintf(whole, sizeof whole, "%s/%s", path, below);
    result = open_one(parent, below, whole, trust, create, &child, why);
    calls->close(parent);
    if (result == PMM_IO_OK)
        *directory = child;
    return result;
}

void pmm_directory_close(int directory) {
    calls->close(directory);
}

bool pmm_is_directory(const char *path) {
    struct stat status;
    return calls->fstatat(AT_FDCWD, path, &status) == 0 && S_ISDIR(status.st_mode);
}

typedef struct file_list {
    pmm_file_info *files;
    size_t count, room;
} file_list;

static bool add_file(file_list *this, const char *name, const struct stat *status) {
    if (this->count == this->room) {
        size_t room = this->room > 0 ? 2 * this->room : 64;
        pmm_file_info *files = realloc(this->files, room * sizeof *files);
        if (files == NULL)
            return false;
        this->files = files;
        this->room = room;
    }
    pmm_file_info *file = &this->files[this->count++];
    *file = (pmm_file_info){.size = (uint64_t)status->st_size, .stamp_ns = get_stamp(status), .id = get_id(status)};
    memcpy(file->name, name, strlen(name) + 1); /* the caller looked at its length */
    return true;
}

static pmm_io read_listing(int directory, void *listing, file_list *list, char why[PMM_IO_TEXT]) {
    for (;;) {
        struct stat status;
        errno = 0;
        const struct dirent *item = calls->readdir(listing);
        if (item == NULL)
            return errno == 0 ? PMM_IO_OK : tell_errno(why, "list", "a directory of the cache");
        if (strlen(item->d_name) >= PMM_FILE_NAME || calls->fstatat(directory, item->d_name, &status) != 0 ||
            !S_ISREG(status.st_mode))
            continue; /* not ours, or gone since */
        if (!add_file(list, item->d_name, &status))
            return tell(PMM_IO_FAULT, why, "no memory to list a directory of the cache");
    }
}

pmm_io pmm_directory_list(int directory, pmm_file_info **files, size_t *count, char why[PMM_IO_TEXT]) {
    int again = open_at(directory, ".", O_RDONLY | O_DIRECTORY, 0); /* with a position of its own */
    if (again < 0)
        return errno == ENOENT ? PMM_IO_MISSING : tell_errno(why, "list", "a directory of the cache");
    void *listing = calls->opendir(again);
    if (listing == NULL) {
        calls->close(again);
        return tell_errno(why, "list", "a directory of the cache");
    }
    file_list list = {0};
    pmm_io result = read_listing(directory, listing, &list, why);
    calls->closedir(listing);
    if (result != PMM_IO_OK) {
        free(list.files);
        return result;
    }
    *files = list.files;
    *count = list.count;
    return PMM_IO_OK;
}

/* ---- read ---- */

pmm_io pmm_file_read_at(int file, const char *name, uint64_t offset, void *data, size_t size, char why[PMM_IO_TEXT]) {
    size_t done = 0;
    while (done < size) {
        long count = calls->pread(file, (char *)data + done, size - done, (int64_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return tell_errno(why, "read", name);
        if (count == 0)
            return tell(PMM_IO_FAULT, why, "%s became shorter while it was read", name);
        done += (size_t)count;
    }
    return PMM_IO_OK;
}

static pmm_io check_file(int file, const char *name, pmm_trust trust, struct stat *status, char why[PMM_IO_TEXT]) {
    if (calls->fstat(file, status) != 0)
        return tell_errno(why, "look at", name);
    if (!S_ISREG(status->st_mode) || !is_of(trust, status) || (status->st_mode & 0022) != 0 || status->st_size < 0)
        return tell(PMM_IO_REFUSED, why, "%s is not a plain file that only its trusted owner can write", name);
    return PMM_IO_OK;
}

/* A clock that was set back leaves stamps in the future. */
static void renew_stamp(int file, const struct stat *status) {
    const int64_t hour = 3600000000000;
    int64_t age = calls->now() - get_stamp(status);
    if (age > hour || age < -hour)
        calls->futimens(file); /* best effort: a wrong order of eviction is the worst */
}

static pmm_io read_opened(int file, const char *name, pmm_trust trust, size_t max_size, bool stamp, void **data,
                          size_t *size, pmm_file_id *id, char why[PMM_IO_TEXT]) {
    struct stat status = {0};
    pmm_io result = check_file(file, name, trust, &status, why);
    *id = get_id(&status);
    if (result != PMM_IO_OK)
        return result;
    if ((uintmax_t)status.st_size > max_size)
        return tell(PMM_IO_REFUSED, why, "%s is larger than any entry can be", name);
    size_t length = (size_t)status.st_size;
    void *bytes = malloc(length > 0 ? length : 1);
    if (bytes == NULL)
        return tell(PMM_IO_FAULT, why, "no memory to read %s", name);
    result = pmm_file_read_at(file, name, 0, bytes, length, why);
    if (result != PMM_IO_OK) {
        free(bytes);
        return result;
    }
    if (stamp)
        renew_stamp(file, &status);
    *data = bytes;
    *size = length;
    return PMM_IO_OK;
}

pmm_io pmm_file_read(int directory, const char *name, pmm_trust trust, size_t max_size, bool stamp, void **data,
                     size_t *size, pmm_file_id *id, char why[PMM_IO_TEXT]) {
    struct stat status;
    *id = (pmm_file_id){0};
    /* O_NONBLOCK: a planted FIFO must not hang us. */
    int file = open_at(directory, name, O_RDONLY | O_NONBLOCK, 0);
    if (file < 0 && errno == ENOENT)
        return PMM_IO_MISSING;
    if (file < 0 && (errno == ELOOP || errno == ENXIO)) { /* a link, a socket */
        if (calls->fstatat(directory, name, &status) == 0)
            *id = get_id(&status);
        return tell(PMM_IO_REFUSED, why, "%s is not a plain file", name);
    }
    if (file < 0)
        return tell_errno(why, "open", name);
    pmm_io result = read_opened(file, name, trust, max_size, stamp, data, size, id, why);
    calls->close(file);
    return result;
}

pmm_io pmm_file_open(const char *path, pmm_trust trust, int *file, uint64_t *size, char why[PMM_IO_TEXT]) {
    struct stat status;
    int opened = open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    if (opened < 0 && errno == ENOENT)
        return tell(PMM_IO_MISSING, why, "%s does not exist", path);
    if (opened < 0 && errno == ELOOP)
        return tell(PMM_IO_REFUSED, why, "%s is a symbolic link; name the file itself", path);
    if (opened < 0)
        return tell_errno(why, "open", path);
    pmm_io result = check_file(opened, path, trust, &status, why);
    if (result != PMM_IO_OK) {
        calls->close(opened);
        return result;
    }
    *file = opened;
    *size = (uint64_t)status.st_size;
    return PMM_IO_OK;
}

void pmm_file_close(int file) {
    calls->close(file);
}

/* ---- write ---- */

#define TEMPORARY_SUFFIX ".tmp"

bool pmm_file_is_temporary(const char *name) {
    size_t length = strlen(name), suffix = strlen(TEMPORARY_SUFFIX);
    return name[0] == '.' && length > suffix && strcmp(name + length - suffix, TEMPORARY_SUFFIX) == 0;
}

static pmm_io write_fully(int file, const void *data, size_t size, const char *name, char why[PMM_IO_TEXT]) {
    size_t done = 0;
    while (done < size) {
        long count = calls->write(file, (const char *)data + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return tell_errno(why, "write", name);
        done += (size_t)count;
    }
    return PMM_IO_OK;
}

static pmm_io sync_file(int file, const char *name, char why[PMM_IO_TEXT]) {
    int result;
    do
        result = calls->fsync(file);
    while (result != 0 && errno == EINTR);
    return result == 0 ? PMM_IO_OK : tell_errno(why, "sync", name);
}

static pmm_io tell_missing(char why[PMM_IO_TEXT], const char *what, const char *name) {
    bool missing = errno == ENOENT;
    pmm_io result = tell_errno(why, what, name);
    return missing ? PMM_IO_MISSING : result;
}

pmm_io pmm_file_write(int directory, const char *name, const void *data, size_t size, char why[PMM_IO_TEXT]) {
    static atomic_uint_fast64_t counter;
    char temporary[PMM_FILE_NAME];
    snprintf(temporary, sizeof temporary, ".%.40s.%ld.%llx" TEMPORARY_SUFFIX, name, (long)getpid(),
             (unsigned long long)atomic_fetch_add(&counter, 1) ^ (unsigned long long)pmm_clock_ns());
    int file = open_at(directory, temporary, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0)
        return tell_missing(why, "create a file for", name);
    pmm_io result = write_fully(file, data, size, name, why);
    if (result == PMM_IO_OK)
        result = sync_file(file, name, why);
    if (calls->close(file) != 0 && result == PMM_IO_OK)
        result = tell_errno(why, "close", name);
    if (result == PMM_IO_OK && calls->renameat(directory, temporary, name) != 0)
        result = tell_missing(why, "rename", name);
    if (result != PMM_IO_OK)
        calls->unlinkat(directory, temporary);
    else
        calls->fsync(directory); /* best effort: a lost entry is only a miss */
    return result;
}

pmm_io pmm_file_append(int directory, const char *name, const void *data, size_t size, uint64_t *size_after,
                       char why[PMM_IO_TEXT]) {
    int file = open_at(directory, name, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0600);
    if (file < 0)
        return tell_errno(why, "open", name);
    struct stat status;
    pmm_io result = check_file(file, name, PMM_TRUST_USER, &status, why);
    if (result == PMM_IO_OK)
        result = write_fully(file, data, size, name, why);
    if (result == PMM_IO_OK)
        *size_after = (uint64_t)status.st_size + size;
    calls->close(file);
    return result;
}

pmm_io pmm_file_remove(int directory, const char *name, const pmm_file_id *id, char why[PMM_IO_TEXT]) {
    struct stat status;
    if (calls->fstatat(directory, name, &status) != 0)
        return errno == ENOENT ? PMM_IO_MISSING : tell_errno(why, "look at", name);
    pmm_file_id found = get_id(&status);
    if (found.device != id->device || found.inode != id->inode)
        return PMM_IO_MISSING; /* replaced since: not ours to remove */
    if (calls->unlinkat(directory, name) != 0)
        return errno == ENOENT ? PMM_IO_MISSING : tell_errno(why, "remove", name);
    return PMM_IO_OK;
}

/* ---- locks ---- */

pmm_io pmm_lock_open(int directory, const char *name, int *file, char why[PMM_IO_TEXT]) {
    int opened = open_at(directory, name, O_RDWR | O_CREAT | O_NONBLOCK, 0600);
    if (opened < 0)
        return tell_errno(why, "open lock file", name);
    *file = opened;
    return PMM_IO_OK;
}

pmm_io pmm_lock_try(int file, bool shared, const char *name, char why[PMM_IO_TEXT]) {
    if (calls->lock(file, shared) == 0)
        return PMM_IO_OK;
    return errno == EWOULDBLOCK ? PMM_IO_BUSY : tell_errno(why, "lock", name);
}

void pmm_lock_give(int file) {
    calls->unlock(file);
}

void pmm_lock_release(int file) {
    calls->unlock(file);
    calls->close(file);
}

void pmm_lock_touch(int file) {
    calls->futimens(file);
}

int64_t pmm_lock_stamp(int file) {
    struct stat status;
    return calls->fstat(file, &status) == 0 ? get_stamp(&status) : 0;
}

pmm_io pmm_file_lock(int directory, const char *name, bool shared, int *file, char why[PMM_IO_TEXT]) {
    int opened = -1;
    pmm_io result = pmm_lock_open(directory, name, &opened, why);
    if (result == PMM_IO_OK && (result = pmm_lock_try(opened, shared, name, why)) != PMM_IO_OK)
        calls->close(opened);
    if (result == PMM_IO_OK)
        *file = opened;
    return result;
}

void pmm_file_unlock(int file) {
    calls->close(file);
}
