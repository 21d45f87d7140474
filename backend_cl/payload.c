/* SPDX-License-Identifier: Apache-2.0 */
#include "payload.h"

#include <stdlib.h>
#include <string.h>

/* The names, each with its NUL, an empty one, the binary. */

static size_t find_name(const pmm_launch_set *set, const char *name) {
    size_t i = 0;
    while (i < set->count && strcmp(set->names[i], name) != 0)
        i++;
    return i;
}

bool pmm_launch_set_has(const pmm_launch_set *set, const char *name) {
    return find_name(set, name) < set->count;
}

bool pmm_launch_set_add(pmm_launch_set *set, const char *name) {
    if (pmm_launch_set_has(set, name))
        return true;
    size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    char **names = realloc(set->names, (set->count + 1) * sizeof *names);
    if (names != NULL)
        set->names = names;
    if (copy == NULL || names == NULL) {
        free(copy);
        return false;
    }
    names[set->count++] = memcpy(copy, name, size);
    return true;
}

bool pmm_launch_set_union(pmm_launch_set *set, const pmm_launch_set *more) {
    bool complete = true;
    for (size_t i = 0; i < more->count && complete; i++)
        complete = pmm_launch_set_add(set, more->names[i]);
    return complete;
}

void pmm_launch_set_move(pmm_launch_set *from, const pmm_launch_set *taken, pmm_launch_set *to) {
    for (size_t i = 0; i < taken->count; i++) {
        size_t position = find_name(from, taken->names[i]);
        if (position == from->count || !pmm_launch_set_add(to, taken->names[i]))
            continue;
        free(from->names[position]);
        from->names[position] = from->names[--from->count];
    }
}

void pmm_launch_set_clear(pmm_launch_set *set) {
    for (size_t i = 0; i < set->count; i++)
        free(set->names[i]);
    free(set->names);
    *set = (pmm_launch_set){0};
}

void *pmm_payload_make(const pmm_launch_set *launches, const unsigned char *binary, size_t binary_size, size_t *size) {
    size_t total = 1 + binary_size;
    for (size_t i = 0; i < launches->count; i++)
        total += strlen(launches->names[i]) + 1;
    unsigned char *data = malloc(total), *at = data;
    if (data == NULL)
        return NULL;
    for (size_t i = 0; i < launches->count; i++) {
        size_t length = strlen(launches->names[i]) + 1;
        memcpy(at, launches->names[i], length);
        at += length;
    }
    *at++ = '\0';
    memcpy(at, binary, binary_size);
    *size = total;
    return data;
}

bool pmm_payload_read(const void *data, size_t size, pmm_launch_set *launches, const unsigned char **binary,
                      size_t *binary_size) {
    const char *at = data, *end = at + size;
    *launches = (pmm_launch_set){0};
    for (;;) {
        const char *nul = memchr(at, '\0', (size_t)(end - at));
        if (nul == NULL || (nul != at && !pmm_launch_set_add(launches, at))) {
            pmm_launch_set_clear(launches);
            return false;
        }
        bool last = nul == at;
        at = nul + 1;
        if (last)
            break;
    }
    *binary = (const unsigned char *)at;
    *binary_size = (size_t)(end - at);
    return true;
}
