/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "guarded.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t get_page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_to_pages(size_t size) {
    size_t page = get_page_size();
    return (size + page - 1) / page * page;
}

static unsigned char *map(size_t size, int protection) {
    void *memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        abort();
    }
    return memory;
}

void *test_guarded_alloc(size_t size) {
    size_t room = round_to_pages(size);
    unsigned char *memory = map(room + get_page_size(), PROT_READ | PROT_WRITE);
    if (mprotect(memory + room, get_page_size(), PROT_NONE) != 0) {
        perror("mprotect");
        abort();
    }
    return memory + room - size;
}

void test_guarded_free(void *memory, size_t size) {
    if (memory == NULL)
        return;
    size_t room = round_to_pages(size);
    munmap((unsigned char *)memory + size - room, room + get_page_size());
}

void *test_forbidden_address(void) {
    static unsigned char *page;
    if (page == NULL)
        page = map(get_page_size(), PROT_NONE);
    return page;
}
