/* SPDX-License-Identifier: Apache-2.0 */
#include "select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "status.h"

const char *const pmm_backend_names[PMM_OWN_BACKENDS + 1] = {"cuda", "opencl", "cpu", NULL};

/* The position of a backend in pmm_backend_names; all others share the one after it. */
static size_t find_position(const char *backend) {
    size_t position = 0;
    while (position < PMM_OWN_BACKENDS && strcmp(pmm_backend_names[position], backend) != 0)
        position++;
    return position;
}

/* A name is a part of a file's name, so it is letters, digits and '_' only. */
static bool has_module(const char *name, const char *module_path) {
    char file[4096];
    if (*name == '\0' || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
        return false;
    pmm_module_find(name, module_path, file, sizeof file);
    return file[0] != '\0';
}

static bool parse_index(const char *text, int32_t *index) {
    int32_t value = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || value > 99999)
            return false;
        value = 10 * value + (*text - '0');
    }
    *index = value;
    return true;
}

portmm_status pmm_spec_parse(const char *text, const char *module_path, pmm_spec *spec) {
    *spec = (pmm_spec){.index = -1};
    if (strcmp(text, "auto") == 0)
        return PORTMM_STATUS_SUCCESS;
    size_t length = strcspn(text, ":");
    if (length < sizeof spec->backend)
        memcpy(spec->backend, text, length); /* the rest is zero */
    if (find_position(spec->backend) == PMM_OWN_BACKENDS && !has_module(spec->backend, module_path))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "backend \"%.100s\" is not known: use auto, cpu, opencl or cuda, or NAME of a module "
                        "portmm-NAME.so in PORTMM_MODULE_PATH; a device index may follow, as in opencl:1",
                        text);
    if (text[length] == ':' && !parse_index(text + length + 1, &spec->index))
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "backend \"%.100s\": the device index after ':' must be a whole number from 0 to 999999", text);
    return PORTMM_STATUS_SUCCESS;
}

void pmm_list_devices(const pmm_opened *opened, char *text, size_t size) {
    size_t count = opened->backend->device_count(opened->state), used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        portmm_device_info info;
        opened->backend->device_info(opened->state, i, &info);
        used += (size_t)snprintf(text + used, size - used, "%s%zu: %s", i > 0 ? ", " : "", i, info.name);
    }
}

/* One try of `auto`: the first usable device of a backend whose type fits. */
typedef struct choice {
    const char *backend;
    bool gpu_only;
} choice;

static const choice auto_order[] = {{"cuda", true}, {"opencl", true}, {"cpu", false}, {"opencl", false}};

typedef struct selection {
    pmm_runtime *runtime;
    pmm_try_device try;
    void *user;
    pmm_opened *backends[PMM_OWN_BACKENDS + 1]; /* opened so far, by their positions */
    char why_not[PMM_OWN_BACKENDS][512];        /* why a backend did not serve `auto`; "" if not tried */
} selection;

static portmm_status open_once(selection *this, const char *backend) {
    size_t position = find_position(backend);
    if (this->backends[position] != NULL)
        return PORTMM_STATUS_SUCCESS;
    if (position < PMM_OWN_BACKENDS && this->why_not[position][0] != '\0')
        return PORTMM_STATUS_UNAVAILABLE;
    return pmm_backend_open(this->runtime, backend, &this->backends[position]);
}

static portmm_status try_index(selection *this, size_t position, int32_t index) {
    pmm_opened *opened = this->backends[position];
    portmm_device_info info;
    opened->backend->device_info(opened->state, (size_t)index, &info);
    if (info.unavailable_reason[0] != '\0')
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "%s:%d (%s): %s", opened->backend->name, (int)index, info.name,
                        info.unavailable_reason);
    return this->try(this->user, opened, index);
}

static portmm_status try_choice(selection *this, const choice *wanted, int32_t *index) {
    size_t position = find_position(wanted->backend);
    portmm_status status = open_once(this, wanted->backend);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_opened *opened = this->backends[position];
    size_t count = opened->backend->device_count(opened->state);
    status = pmm_fail(PORTMM_STATUS_UNAVAILABLE, count == 0 ? "no device" : "no GPU among its devices");
    for (size_t i = 0; i < count; i++) {
        portmm_device_info info;
        opened->backend->device_info(opened->state, i, &info);
        if (wanted->gpu_only && info.type != PORTMM_DEVICE_GPU)
            continue;
        status = try_index(this, position, (int32_t)i);
        if (status == PORTMM_STATUS_SUCCESS) {
            *index = (int32_t)i;
            break;
        }
    }
    return status;
}

static portmm_status select_auto(selection *this, size_t *taken, char *reason, size_t reason_size) {
    for (size_t i = 0; i < sizeof auto_order / sizeof *auto_order; i++) {
        size_t position = find_position(auto_order[i].backend);
        int32_t index = 0;
        if (try_choice(this, &auto_order[i], &index) != PORTMM_STATUS_SUCCESS) {
            if (this->why_not[position][0] == '\0') /* the first reason tells most */
                snprintf(this->why_not[position], sizeof this->why_not[position], "%s", portmm_last_error());
            continue;
        }
        *taken = position;
        if (auto_order[i].gpu_only)
            snprintf(reason, reason_size, "auto: the first GPU that works");
        else
            snprintf(reason, reason_size, "auto: %s serves, because no GPU does (cuda: %s; opencl: %s)",
                     auto_order[i].backend, this->why_not[0], this->why_not[1]);
        return PORTMM_STATUS_SUCCESS;
    }
    return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "no backend can be used: cuda: %s; opencl: %s; cpu: %s",
                    this->why_not[0], this->why_not[1], this->why_not[2]);
}

static portmm_status select_named(selection *this, const pmm_spec *spec, size_t *taken, char *reason,
                                  size_t reason_size) {
    size_t position = find_position(spec->backend);
    portmm_status status = open_once(this, spec->backend);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_opened *opened = this->backends[position];
    size_t count = opened->backend->device_count(opened->state);
    int32_t index = spec->index < 0 ? 0 : spec->index;
    char list[512];
    pmm_list_devices(opened, list, sizeof list);
    if (count == 0)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "backend %s has no device", spec->backend);
    if ((size_t)index >= count)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "%s:%d: there is no such device; there %s %s", spec->backend,
                        (int)index, count == 1 ? "is only" : "are", list);
    status = try_index(this, position, index);
    bool asks_native = this->runtime->config.native_context != NULL && spec->index < 0;
    while (asks_native && status == PORTMM_STATUS_INVALID_ARGUMENT && (size_t)index + 1 < count)
        status = try_index(this, position, ++index); /* the first device of the application's context */
    *taken = position;
    snprintf(reason, reason_size, "asked for: %s:%d", spec->backend, (int)index);
    return status;
}

portmm_status pmm_select(pmm_runtime *runtime, const pmm_spec *spec, pmm_try_device try, void *user,
                         pmm_opened **opened, char *reason, size_t reason_size) {
    selection this = {.runtime = runtime, .try = try, .user = user};
    size_t taken = 0;
    portmm_status status = spec->backend[0] == '\0' ? select_auto(&this, &taken, reason, reason_size)
                                                    : select_named(&this, spec, &taken, reason, reason_size);
    for (size_t i = 0; i < sizeof this.backends / sizeof *this.backends; i++)
        if (status != PORTMM_STATUS_SUCCESS || i != taken)
            pmm_backend_close(this.backends[i]);
    if (status == PORTMM_STATUS_SUCCESS)
        *opened = this.backends[taken];
    return status;
}
