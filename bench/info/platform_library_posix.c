/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dlinfo */
#include "platform_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

bool info_open_library(const char *name, char *file, size_t file_size, char *error, size_t error_size) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        (void)snprintf(error, error_size, "%s", why != NULL ? why : "unknown");
        return false;
    }
    struct link_map *map = NULL;
    const char *found = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name != NULL ? map->l_name : name;
    char *resolved = realpath(found, NULL);
    (void)snprintf(file, file_size, "%s", resolved != NULL ? resolved : found);
    free(resolved);
    return true;
}
