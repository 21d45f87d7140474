/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* mincore */
#include "platform.h"
#include "text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool bench_is_readable(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, R_OK) == 0;
}

bool bench_read_numbered_line(const char *path, size_t number, char *line, size_t size) {
    FILE *file = fopen(path, "r");
    bool there = file != NULL;
    for (size_t i = 0; there && i <= number; i++) {
        there = fgets(line, (int)size, file) != NULL;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (there) {
        line[strcspn(line, "\r\n")] = '\0';
    }
    return there;
}

static double count_cached(void *memory, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page, cached = 0;
    unsigned char *states = bench_resize(NULL, pages, 1);
    bool told = mincore(memory, bytes, states) == 0;
    for (size_t i = 0; told && i < pages; i++) {
        cached += states[i] & 1U;
    }
    free(states);
    return told ? (double)cached / (double)pages : -1;
}

double bench_cached_share(const char *path) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    double share = -1;
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        /* Mapping reads nothing. */
        void *memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED) {
            share = count_cached(memory, (size_t)status.st_size);
            (void)munmap(memory, (size_t)status.st_size);
        }
    }
    if (file >= 0) {
        (void)close(file);
    }
    return share;
}
