/* SPDX-License-Identifier: Apache-2.0 */
#include "hooked_calls.h"

#include <errno.h>
#include <stddef.h>

#include "platform.h"

const char *const test_call_names[TEST_CALL_COUNT] = {
#define TEST_CALL_NAME(name, text) text,
    TEST_CALLS(TEST_CALL_NAME)
#undef TEST_CALL_NAME
};

long long test_clock_offset_ns;
static test_hook current;

static bool fails(test_call call) {
    int error = current(call);
    if (error != 0)
        errno = error;
    return error != 0;
}

static int try_openat(int at, const char *path, int flags, unsigned mode) {
    return fails(TEST_OPENAT) ? -1 : pmm_posix_file_calls.openat(at, path, flags, mode);
}

static int try_mkdirat(int at, const char *path, unsigned mode) {
    return fails(TEST_MKDIRAT) ? -1 : pmm_posix_file_calls.mkdirat(at, path, mode);
}

static int try_fstat(int file, struct stat *status) {
    return fails(TEST_FSTAT) ? -1 : pmm_posix_file_calls.fstat(file, status);
}

static int try_fstatat(int at, const char *path, struct stat *status) {
    return fails(TEST_FSTATAT) ? -1 : pmm_posix_file_calls.fstatat(at, path, status);
}

static void *try_opendir(int file) {
    return fails(TEST_OPENDIR) ? NULL : pmm_posix_file_calls.opendir(file);
}

static struct dirent *try_readdir(void *listing) {
    return fails(TEST_READDIR) ? NULL : pmm_posix_file_calls.readdir(listing);
}

static long try_pread(int file, void *bytes, size_t size, int64_t offset) {
    return fails(TEST_PREAD) ? -1 : pmm_posix_file_calls.pread(file, bytes, size > 97 ? 97 : size, offset);
}

static long try_write(int file, const void *bytes, size_t size) {
    return fails(TEST_WRITE) ? -1 : pmm_posix_file_calls.write(file, bytes, size > 89 ? 89 : size);
}

static int try_fsync(int file) {
    return fails(TEST_FSYNC) ? -1 : pmm_posix_file_calls.fsync(file);
}

static int try_futimens(int file) {
    return fails(TEST_FUTIMENS) ? -1 : pmm_posix_file_calls.futimens(file);
}

static int try_close(int file) {
    bool failing = fails(TEST_CLOSE);
    int error = errno, result = pmm_posix_file_calls.close(file);
    errno = error;
    return failing ? -1 : result;
}

static int try_renameat(int at, const char *from, const char *to) {
    return fails(TEST_RENAMEAT) ? -1 : pmm_posix_file_calls.renameat(at, from, to);
}

static int try_unlinkat(int at, const char *path) {
    return fails(TEST_UNLINKAT) ? -1 : pmm_posix_file_calls.unlinkat(at, path);
}

static int try_lock(int file, bool shared) {
    return fails(TEST_LOCK) ? -1 : pmm_posix_file_calls.lock(file, shared);
}

static int give_lock(int file) {
    return pmm_posix_file_calls.unlock(file);
}

static int try_closedir(void *listing) {
    bool failing = fails(TEST_CLOSEDIR);
    int error = errno, result = pmm_posix_file_calls.closedir(listing);
    errno = error;
    return failing ? -1 : result;
}

static int64_t shifted_now(void) {
    return pmm_posix_file_calls.now() + test_clock_offset_ns;
}

void test_hook_calls(test_hook hook) {
    static const pmm_file_calls hooked = {.openat = try_openat,
                                          .mkdirat = try_mkdirat,
                                          .fstat = try_fstat,
                                          .fstatat = try_fstatat,
                                          .opendir = try_opendir,
                                          .readdir = try_readdir,
                                          .closedir = try_closedir,
                                          .pread = try_pread,
                                          .write = try_write,
                                          .fsync = try_fsync,
                                          .futimens = try_futimens,
                                          .close = try_close,
                                          .renameat = try_renameat,
                                          .unlinkat = try_unlinkat,
                                          .lock = try_lock,
                                          .now = shifted_now,
                                          .unlock = give_lock};
    current = hook;
    pmm_file_calls_replace(hook != NULL ? &hooked : NULL);
}
