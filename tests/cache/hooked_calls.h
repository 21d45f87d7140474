/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's system calls with a hook before each of them, so that a test can count, fail, or end there. */
#ifndef TEST_HOOKED_CALLS_H
#define TEST_HOOKED_CALLS_H

#define TEST_CALLS(X)                                                                                                  \
    X(OPENAT, "openat")                                                                                                \
    X(MKDIRAT, "mkdirat")                                                                                              \
    X(FSTAT, "fstat")                                                                                                  \
    X(FSTATAT, "fstatat")                                                                                              \
    X(OPENDIR, "fdopendir")                                                                                            \
    X(READDIR, "readdir")                                                                                              \
    X(CLOSEDIR, "closedir")                                                                                            \
    X(PREAD, "pread")                                                                                                  \
    X(WRITE, "write")                                                                                                  \
    X(FSYNC, "fsync")                                                                                                  \
    X(FUTIMENS, "futimens")                                                                                            \
    X(CLOSE, "close")                                                                                                  \
    X(RENAMEAT, "renameat")                                                                                            \
    X(UNLINKAT, "unlinkat")                                                                                            \
    X(LOCK, "flock")

typedef enum test_call {
#define TEST_CALL_ENUM(name, text) TEST_##name,
    TEST_CALLS(TEST_CALL_ENUM)
#undef TEST_CALL_ENUM
        TEST_CALL_COUNT
} test_call;

extern const char *const test_call_names[TEST_CALL_COUNT];

/* Returns the errno to fail with, or 0: the real call is made. A close that fails has closed. */
typedef int (*test_hook)(test_call call);

/* Reads and writes are cut into pieces of a few bytes besides. NULL: the real calls again, whole. */
void test_hook_calls(test_hook hook);

/* Added to the wall clock while hooked. */
extern long long test_clock_offset_ns;

#endif
