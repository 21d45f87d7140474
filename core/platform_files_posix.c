/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's files on POSIX systems. Every system call goes through one table, so that a test can make it fail. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int call_open(const char *path, int flags, unsigned mode) {
    return open(path, flags, mode);
}

static int call_openat(int directory, const char *path, int flags, unsigned mode) {
    return openat(directory, path, flags, mode);
}

static int call_mkdir(const char *path, unsigned mode) {
    return mkdir(path, mode);
}

static int call_fstat(int file, struct stat *status) {
    return fstat(file, status);
}

static int call_fstatat(int directory, const char *path, struct stat *status) {
    return fstatat(directory, path, status, AT_SYMLINK_NOFOLLOW);
}

static long call_read(int file, void *data, size_t size) {
    return read(file, data, size);
}

static long call_write(int file, const void *data, size_t size) {
    return write(file, data, size);
}

static int call_renameat(int directory, const char *from, const char *to) {
    return renameat(directory, from, directory, to);
}

static int call_unlinkat(int directory, const char *path) {
    return unlinkat(directory, path, 0);
}

static int call_lock(int file) {
    return flock(file, LOCK_EX | LOCK_NB);
}

const pmm_file_calls pmm_posix_file_calls = {
    .open = call_open,
    .openat = call_openat,
    .mkdir = call_mkdir,
    .fstat = call_fstat,
    .fstatat = call_fstatat,
    .read = call_read,
    .write = call_write,
    .fsync = fsync,
    .close = close,
    .renameat = call_renameat,
    .unlinkat = call_unlinkat,
    .lock = call_lock,
};

static const pmm_file_calls *calls = &pmm_posix_file_calls;

void pmm_file_calls_replace(const pmm_file_calls *replacement) {
    calls = replacement != NULL ? replacement : &pmm_posix_file_calls;
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
        calls->mkdir(part, 0700);
    }
}

static int open_directory(const char *path) {
    return calls->open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}

pmm_io pmm_directory_prepare(const char *path, bool create, char why[PMM_IO_TEXT]) {
    int directory = open_directory(path);
    if (directory < 0 && errno == ENOENT && create) {
        make_directories(path);
        directory = open_directory(path);
    }
    if (directory < 0 && errno == ENOENT)
        return tell(PMM_IO_MISSING, why, "%s does not exist", path);
    if (directory < 0 && (errno == ELOOP || errno == ENOTDIR))
        return tell(PMM_IO_REFUSED, why, "%s is a symbolic link or not a directory; name a directory of your own",
                    path);
    if (directory < 0)
        return tell_errno(why, "open directory", path);
    struct stat status;
    pmm_io result = PMM_IO_OK;
    if (calls->fstat(directory, &status) != 0)
        result = tell_errno(why, "look at", path);
    else if (status.st_uid != geteuid())
        result = tell(PMM_IO_REFUSED, why, "%s belongs to another user; name a directory of your own", path);
    else if ((status.st_mode & 0022) != 0)
        result = tell(PMM_IO_REFUSED, why, "%s is writable by other users; run: chmod go-w '%s'", path, path);
    calls->close(directory);
    return result;
}

static pmm_io read_fully(int file, void *data, size_t size, const char *name, char why[PMM_IO_TEXT]) {
    size_t done = 0;
    while (done < size) {
        long count = calls->read(file, (char *)data + done, size - done);
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

static pmm_io read_opened(int file, const char *name, size_t max_size, void **data, size_t *size, pmm_file_id *id,
                          char why[PMM_IO_TEXT]) {
    struct stat status;
    if (calls->fstat(file, &status) != 0)
        return tell_errno(why, "look at", name);
    *id = (pmm_file_id){.device = (uint64_t)status.st_dev, .inode = (uint64_t)status.st_ino};
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 0022) != 0)
        return tell(PMM_IO_REFUSED, why, "%s is not a plain file that only this user can write", name);
    if (status.st_size < 0 || (uintmax_t)status.st_size > max_size)
        return tell(PMM_IO_REFUSED, why, "%s is larger than any entry can be", name);
    size_t length = (size_t)status.st_size;
    void *bytes = malloc(length > 0 ? length : 1);
    if (bytes == NULL)
        return tell(PMM_IO_FAULT, why, "no memory to read %s", name);
    pmm_io result = read_fully(file, bytes, length, name, why);
    if (result != PMM_IO_OK) {
        free(bytes);
        return result;
    }
    *data = bytes;
    *size = length;
    return PMM_IO_OK;
}

pmm_io pmm_file_read(const char *directory, const char *name, size_t max_size, void **data, size_t *size,
                     pmm_file_id *id, char why[PMM_IO_TEXT]) {
    *id = (pmm_file_id){0};
    int parent = open_directory(directory);
    if (parent < 0)
        return errno == ENOENT ? PMM_IO_MISSING : tell_errno(why, "open directory", directory);
    pmm_io result;
    /* O_NONBLOCK: a planted FIFO must not hang us. */
    int file = calls->openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file >= 0) {
        result = read_opened(file, name, max_size, data, size, id, why);
        calls->close(file);
    } else {
        result = errno == ENOENT ? PMM_IO_MISSING : tell_errno(why, "open", name);
    }
    calls->close(parent);
    return result;
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
    return calls->fsync(file) == 0 ? PMM_IO_OK : tell_errno(why, "sync", name);
}

static pmm_io write_in(int parent, const char *name, const void *data, size_t size, char why[PMM_IO_TEXT]) {
    static atomic_uint_fast64_t counter;
    char temporary[128];
    snprintf(temporary, sizeof temporary, ".%.40s.%ld.%llu.tmp", name, (long)getpid(),
             (unsigned long long)atomic_fetch_add(&counter, 1) ^ (unsigned long long)pmm_clock_ns());
    int file = calls->openat(parent, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return tell_errno(why, "create a file for", name);
    pmm_io result = write_fully(file, data, size, name, why);
    if (calls->close(file) != 0 && result == PMM_IO_OK)
        result = tell_errno(why, "close", name);
    if (result == PMM_IO_OK && calls->renameat(parent, temporary, name) != 0)
        result = tell_errno(why, "rename", name);
    if (result != PMM_IO_OK)
        calls->unlinkat(parent, temporary);
    else
        calls->fsync(parent); /* best effort: a lost entry is only a miss */
    return result;
}

pmm_io pmm_file_write(const char *directory, const char *name, const void *data, size_t size, char why[PMM_IO_TEXT]) {
    pmm_io result = pmm_directory_prepare(directory, true, why); /* it may have been deleted meanwhile */
    if (result != PMM_IO_OK)
        return result;
    int parent = open_directory(directory);
    if (parent < 0)
        return tell_errno(why, "open directory", directory);
    result = write_in(parent, name, data, size, why);
    calls->close(parent);
    return result;
}

pmm_io pmm_file_remove(const char *directory, const char *name, const pmm_file_id *id, char why[PMM_IO_TEXT]) {
    int parent = open_directory(directory);
    if (parent < 0)
        return tell_errno(why, "open directory", directory);
    struct stat status;
    pmm_io result = PMM_IO_OK;
    if (calls->fstatat(parent, name, &status) != 0)
        result = errno == ENOENT ? PMM_IO_MISSING : tell_errno(why, "look at", name);
    else if ((uint64_t)status.st_dev != id->device || (uint64_t)status.st_ino != id->inode)
        result = PMM_IO_MISSING; /* replaced since: not ours to remove */
    else if (calls->unlinkat(parent, name) != 0)
        result = tell_errno(why, "remove", name);
    calls->close(parent);
    return result;
}

pmm_io pmm_file_lock(const char *directory, const char *name, int *file, char why[PMM_IO_TEXT]) {
    pmm_io result = pmm_directory_prepare(directory, true, why);
    if (result != PMM_IO_OK)
        return result;
    int parent = open_directory(directory);
    if (parent < 0)
        return tell_errno(why, "open directory", directory);
    int opened = calls->openat(parent, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (opened < 0)
        result = tell_errno(why, "open lock file", name);
    calls->close(parent);
    if (opened < 0)
        return result;
    if (calls->lock(opened) != 0) {
        result = errno == EWOULDBLOCK ? PMM_IO_BUSY : tell_errno(why, "lock", name);
        calls->close(opened);
        return result;
    }
    *file = opened;
    return PMM_IO_OK;
}

void pmm_file_unlock(int file) {
    calls->close(file);
}
