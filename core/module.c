/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

#define PATH_SIZE 4096

static pmm_mutex registry_mutex = PMM_MUTEX_INITIALIZER;
static pmm_module *registry;

typedef struct search {
    char file_name[64];
    char path[PATH_SIZE]; /* the file, once found */
    char tried[1024];     /* directories, for the error text */
} search;

static bool try_directory(search *this, const char *directory, size_t length) {
    bool absolute = length > 0 && directory[0] == '/';
    if (length == 0 || length + strlen(this->file_name) + 2 > sizeof this->path)
        return false;
    snprintf(this->path, sizeof this->path, "%.*s/%s", (int)length, directory, this->file_name);
    if (absolute && pmm_file_exists(this->path))
        return true;
    size_t used = strlen(this->tried);
    snprintf(this->tried + used, sizeof this->tried - used, "%s%.*s%s", used > 0 ? ", " : "", (int)length, directory,
             absolute ? "" : " (passed over: not an absolute path)");
    return false;
}

static bool try_list(search *this, const char *list) {
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ":");
        if (try_directory(this, at, length))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static bool try_own_directories(search *this) {
    static const char anchor = 0;
    char own[PATH_SIZE - 16], below[PATH_SIZE];
    if (!pmm_directory_of(&anchor, own, sizeof own))
        return false;
    snprintf(below, sizeof below, "%s/portmm", own);
    return try_directory(this, own, strlen(own)) || try_directory(this, below, strlen(below));
}

static portmm_status find_module(const char *name, const char *search_path, search *this) {
    snprintf(this->file_name, sizeof this->file_name, "portmm-%.40s.so", name);
    this->tried[0] = '\0';
    if (try_list(this, search_path) || try_own_directories(this) ||
        try_directory(this, PMM_MODULE_DIR, strlen(PMM_MODULE_DIR)))
        return PORTMM_STATUS_SUCCESS;
    return pmm_fail(PORTMM_STATUS_UNAVAILABLE,
                    "backend %s: no module %s in %s; install or build it, or set PORTMM_MODULE_PATH to its directory",
                    name, this->file_name, this->tried);
}

void pmm_module_find(const char *name, const char *search_path, char *path, size_t size) {
    search this;
    bool found = find_module(name, search_path, &this) == PORTMM_STATUS_SUCCESS;
    snprintf(path, size, "%s", found ? this.path : "");
}

static portmm_status check_backend(const char *name, const char *path, const pmm_backend *backend) {
    if (backend == NULL)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "backend %s: %s gives no backend; install it again", name, path);
    if (backend->abi != PMM_BACKEND_ABI)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE,
                        "backend %s: %s was built for another version of libportmm (ABI %u, this library has %u); "
                        "install matching versions",
                        name, path, (unsigned)backend->abi, PMM_BACKEND_ABI);
    if (backend->struct_size < sizeof(pmm_backend))
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE,
                        "backend %s: the table of %s has %zu bytes, this library needs %zu; install a module that was "
                        "built for this version",
                        name, path, backend->struct_size, sizeof(pmm_backend));
    if (strcmp(backend->name, name) != 0)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "backend %s: %s is the module of backend %.40s; install it again",
                        name, path, backend->name);
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status open_module(const char *name, const char *path, const pmm_backend **backend) {
    const char *why = "";
    void *library = pmm_library_open(path, false, &why);
    if (library == NULL)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE,
                        "backend %s: module %s cannot be loaded (%s); install it again, or what it needs", name, path,
                        why);
    pmm_backend_entry_fn entry;
    void *symbol = pmm_library_symbol(library, PMM_BACKEND_ENTRY_NAME);
    if (symbol == NULL)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "backend %s: %s is not a backend module (no %s); install it again",
                        name, path, PMM_BACKEND_ENTRY_NAME);
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from object to function pointer */
    *backend = entry();
    return check_backend(name, path, *backend);
}

static pmm_module *make_module(const char *path, const pmm_backend *backend) {
    size_t size = strlen(path) + 1;
    pmm_module *module = calloc(1, sizeof *module);
    char *texts = malloc(2 * size);
    if (module == NULL || texts == NULL || !pmm_mutex_init(&module->vendor_lock)) {
        free(module);
        free(texts);
        return NULL;
    }
    module->path = memcpy(texts, path, size);
    module->directory = memcpy(texts + size, path, size);
    *strrchr(module->directory, '/') = '\0';
    module->backend = backend;
    return module;
}

static portmm_status load_once(const char *name, const char *path, pmm_module **module) {
    for (pmm_module *each = registry; each != NULL; each = each->next)
        if (strcmp(each->path, path) == 0) {
            *module = each;
            return PORTMM_STATUS_SUCCESS;
        }
    const pmm_backend *backend = NULL;
    portmm_status status = open_module(name, path, &backend);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    for (pmm_module *each = registry; each != NULL; each = each->next)
        if (each->backend == backend) { /* the same file by another name: one lock for it */
            *module = each;
            return PORTMM_STATUS_SUCCESS;
        }
    pmm_module *made = make_module(path, backend);
    if (made == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "backend %s: no memory", name);
    made->next = registry;
    registry = made;
    *module = made;
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_module_load(const char *name, const char *search_path, pmm_module **module) {
    search this;
    portmm_status status = find_module(name, search_path, &this);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_mutex_lock(&registry_mutex);
    status = load_once(name, this.path, module);
    pmm_mutex_unlock(&registry_mutex);
    return status;
}
