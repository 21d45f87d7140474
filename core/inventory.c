/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "select.h"
#include "status.h"
#include "structs.h"

struct portmm_inventory {
    pmm_runtime runtime;
    pmm_spec spec;
    size_t backend_count;
    struct backend {
        pmm_opened *opened; /* NULL: unavailable */
        portmm_backend_info info;
        char module_file[4096];
        char reason[1024];
    } backends[PMM_OWN_BACKENDS];
};

static size_t count_devices(const struct backend *backend) {
    return backend->opened != NULL ? backend->opened->backend->device_count(backend->opened->state) : 0;
}

static void look_at_backend(portmm_inventory *inventory, const char *name) {
    struct backend *this = &inventory->backends[inventory->backend_count++];
    pmm_module_find(name, inventory->runtime.config.module_path, this->module_file, sizeof this->module_file);
    if (pmm_backend_open(&inventory->runtime, name, &this->opened) != PORTMM_STATUS_SUCCESS)
        snprintf(this->reason, sizeof this->reason, "%s", portmm_last_error());
    int32_t usable = 0;
    for (size_t i = 0; i < count_devices(this); i++) {
        portmm_device_info info;
        this->opened->backend->device_info(this->opened->state, i, &info);
        usable += info.unavailable_reason[0] == '\0';
        if (info.unavailable_reason[0] != '\0' && this->reason[0] == '\0')
            snprintf(this->reason, sizeof this->reason, "%s: %s", info.name, info.unavailable_reason);
    }
    if (usable == 0 && this->reason[0] == '\0')
        snprintf(this->reason, sizeof this->reason, "backend %s has no device", name);
    if (usable > 0)
        this->reason[0] = '\0';
    this->info = (portmm_backend_info){.struct_size = sizeof this->info,
                                       .name = name,
                                       .module_file = this->module_file,
                                       .available = usable > 0,
                                       .unavailable_reason = this->reason};
}

portmm_status portmm_inventory_create(const portmm_context_options *options, portmm_inventory **inventory) {
    pmm_clear_error();
    if (inventory == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_inventory_create: inventory is NULL");
    *inventory = NULL;
    portmm_inventory *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for an inventory");
    portmm_status status = pmm_runtime_init(&made->runtime, options);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_spec_parse(made->runtime.config.backend, made->runtime.config.module_path, &made->spec);
    if (status != PORTMM_STATUS_SUCCESS) {
        portmm_inventory_destroy(made);
        return status;
    }
    if (made->spec.backend[0] != '\0')
        look_at_backend(made, made->spec.backend);
    else
        for (const char *const *name = pmm_backend_names; *name != NULL; name++)
            look_at_backend(made, *name);
    pmm_clear_error();
    *inventory = made;
    return PORTMM_STATUS_SUCCESS;
}

void portmm_inventory_destroy(portmm_inventory *inventory) {
    if (inventory == NULL)
        return;
    for (size_t i = 0; i < inventory->backend_count; i++)
        pmm_backend_close(inventory->backends[i].opened);
    pmm_runtime_fini(&inventory->runtime);
    free(inventory);
}

size_t portmm_inventory_backend_count(const portmm_inventory *inventory) {
    return inventory != NULL ? inventory->backend_count : 0;
}

portmm_status portmm_inventory_get_backend(const portmm_inventory *inventory, size_t position,
                                           portmm_backend_info *info) {
    pmm_clear_error();
    if (inventory == NULL || info == NULL || position >= inventory->backend_count)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "portmm_inventory_get_backend: inventory or info is NULL, or position = %zu is not below %zu",
                        position, portmm_inventory_backend_count(inventory));
    return pmm_struct_out(info, &inventory->backends[position].info, sizeof *info, "info");
}

size_t portmm_inventory_device_count(const portmm_inventory *inventory) {
    size_t count = 0;
    for (size_t i = 0; inventory != NULL && i < inventory->backend_count; i++)
        count += count_devices(&inventory->backends[i]);
    return count;
}

portmm_status portmm_inventory_get_device(const portmm_inventory *inventory, size_t position,
                                          portmm_device_info *info) {
    pmm_clear_error();
    if (inventory == NULL || info == NULL || position >= portmm_inventory_device_count(inventory))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "portmm_inventory_get_device: inventory or info is NULL, or position = %zu is not below %zu",
                        position, portmm_inventory_device_count(inventory));
    const struct backend *backend = inventory->backends;
    for (; position >= count_devices(backend); backend++)
        position -= count_devices(backend);
    portmm_device_info ours;
    backend->opened->backend->device_info(backend->opened->state, position, &ours);
    ours.dtypes = pmm_backend_dtypes(backend->opened->backend, &ours);
    return pmm_struct_out(info, &ours, sizeof ours, "info");
}

/* ---- properties -------------------------------------------------------------------------------------------------- */

typedef struct visit {
    pmm_properties base;
    portmm_property_callback callback;
    void *user_data;
    bool out_of_memory;
} visit;

static void add_property(pmm_properties *properties, const char *name, const char *format, ...) {
    visit *this = (visit *)properties;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *value = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (value == NULL) {
        this->out_of_memory = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(value, (size_t)length + 1, format, arguments);
    va_end(arguments);
    this->callback(name, value, this->user_data);
    free(value);
}

portmm_status portmm_inventory_visit_properties(const portmm_inventory *inventory, const char *backend, int32_t index,
                                                portmm_property_callback callback, void *user_data) {
    pmm_clear_error();
    if (inventory == NULL || backend == NULL || callback == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "portmm_inventory_visit_properties: inventory, backend or callback is NULL");
    const struct backend *found = NULL;
    for (size_t i = 0; i < inventory->backend_count; i++)
        if (strcmp(inventory->backends[i].info.name, backend) == 0)
            found = &inventory->backends[i];
    if (found == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "portmm_inventory_visit_properties: backend = \"%.40s\" is not in this inventory", backend);
    if (index < -1 || (index >= 0 && (size_t)index >= count_devices(found)))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "portmm_inventory_visit_properties: index = %d: backend %s has %zu devices, and -1 means "
                        "the backend itself",
                        (int)index, backend, count_devices(found));
    if (found->opened == NULL || found->opened->backend->describe == NULL)
        return PORTMM_STATUS_SUCCESS;
    if (pmm_backend_is_cut_off(found->opened))
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE,
                        "portmm_inventory_visit_properties: the inventory was made before this process was forked");
    visit this = {.base = {.add = add_property}, .callback = callback, .user_data = user_data};
    found->opened->backend->describe(found->opened->state, index, &this.base);
    pmm_clear_error();
    return this.out_of_memory ? pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for a property")
                              : PORTMM_STATUS_SUCCESS;
}
