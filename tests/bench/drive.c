/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
#include "drive.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

char *make_directory(void) {
    char *path = strdup("/tmp/test-bench-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(path));
    return path;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void remove_directory(char *path) {
    ck_assert_int_eq(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(path);
}

bool file_exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    ck_assert_int_ge(size, 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, file), (size_t)size);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

void copy_program(const char *from, const char *to) {
    FILE *source = fopen(from, "rb"), *target = fopen(to, "wb");
    ck_assert_ptr_nonnull(source);
    ck_assert_ptr_nonnull(target);
    char block[65536];
    size_t length;
    while ((length = fread(block, 1, sizeof block, source)) != 0) {
        ck_assert_uint_eq(fwrite(block, 1, length, target), length);
    }
    (void)fclose(source);
    ck_assert_int_eq(fclose(target), 0);
    ck_assert_int_eq(chmod(to, 0700), 0);
}

static void redirect(const char *directory, const char *name, int stream) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, stream) < 0) {
        _exit(99);
    }
}

static void become_program(const char *path, const char *directory, const char *arguments, setting extra) {
    char temporary[256];
    char *words[64] = {(char *)path};
    size_t count = 1;
    (void)snprintf(temporary, sizeof temporary, "%s/tmp", directory);
    (void)setenv("TMPDIR", temporary, 1);
    if (extra.name != NULL) {
        (void)setenv(extra.name, extra.value, 1);
    }
    redirect(directory, "out", STDOUT_FILENO);
    redirect(directory, "err", STDERR_FILENO);
    char *rest = strdup(arguments);
    for (char *word = strtok(rest, " "); word != NULL && count < 63; word = strtok(NULL, " ")) {
        words[count++] = word;
    }
    words[count] = NULL;
    (void)execv(path, words);
    _exit(98);
}

static int await_code(pid_t pid) {
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static size_t count_entries(const char *path) {
    DIR *directory = opendir(path);
    ck_assert_ptr_nonnull(directory);
    size_t count = 0;
    while (readdir(directory) != NULL) {
        count++;
    }
    (void)closedir(directory);
    return count - 2; /* "." and ".." */
}

outcome drive_with(const char *path, const char *arguments, setting extra) {
    char *directory = make_directory();
    char name[256];
    outcome result = {0};
    path = path != NULL ? path : getenv("PORTMM_BENCH");
    ck_assert_ptr_nonnull(path);
    (void)snprintf(name, sizeof name, "%s/tmp", directory);
    ck_assert_int_eq(mkdir(name, 0700), 0);
    double begin = now();
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        become_program(path, directory, arguments, extra);
    }
    result.code = await_code(pid);
    result.seconds = now() - begin;
    ck_assert_msg(count_entries(name) == 0, "'%s' left something in TMPDIR", arguments);
    (void)snprintf(name, sizeof name, "%s/out", directory);
    result.out = read_file(name);
    (void)snprintf(name, sizeof name, "%s/err", directory);
    result.err = read_file(name);
    remove_directory(directory);
    return result;
}

outcome drive(const char *arguments) {
    return drive_with(NULL, arguments, (setting){0});
}

void free_outcome(outcome *result) {
    free(result->out);
    free(result->err);
    *result = (outcome){0};
}
