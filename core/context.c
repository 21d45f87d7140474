/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "select.h"
#include "status.h"
#include "structs.h"

static portmm_status find_engine(const pmm_backend *backend, const char *name, const pmm_engine **engine) {
    char known[128] = "";
    size_t used = 0;
    for (const pmm_engine *const *each = backend->engines; *each != NULL; each++) {
        if (name == NULL || strcmp((*each)->name, name) == 0) {
            *engine = *each;
            return PORTMM_STATUS_SUCCESS;
        }
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", (*each)->name);
    }
    if (name == NULL)
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE, "backend %s has no engine", backend->name);
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "engine \"%.60s\" is not one of backend %s; it has: %s", name,
                    backend->name, known);
}

portmm_status pmm_context_engine(portmm_context *context, pmm_engine_state **engine) {
    pmm_engine_state *state = atomic_load(&context->engine_state);
    portmm_status status = PORTMM_STATUS_SUCCESS;
    if (state == NULL) {
        pmm_mutex_lock(&context->engine_mutex);
        state = atomic_load(&context->engine_state);
        if (state == NULL) {
            pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_ENGINE_INIT, context->engine->name);
            status = context->engine->open(context->device, &state);
            pmm_span_end();
            if (status == PORTMM_STATUS_SUCCESS)
                atomic_store(&context->engine_state, state);
        }
        pmm_mutex_unlock(&context->engine_mutex);
    }
    if (status == PORTMM_STATUS_SUCCESS)
        *engine = state;
    return status;
}

portmm_phase pmm_context_product_phase(portmm_context *context) {
    return atomic_load(&context->first_product_done) ? PORTMM_PHASE_STEADY : PORTMM_PHASE_FIRST_LAUNCH;
}

static void close_device(portmm_context *context) {
    if (context->device == NULL)
        return;
    pmm_engine_state *engine = atomic_load(&context->engine_state);
    if (engine != NULL)
        context->engine->close(engine);
    atomic_store(&context->engine_state, NULL);
    context->backend->device_close(context->device);
    context->device = NULL;
}

/* What pmm_select tries: opens the device; where `auto` could still take another one, its engine, too. */
static portmm_status try_device(void *user, pmm_opened *opened, int32_t index) {
    portmm_context *context = user;
    const pmm_config *config = &context->runtime.config;
    context->backend = opened->backend;
    opened->backend->device_info(opened->state, (size_t)index, &context->info);
    portmm_status status = find_engine(opened->backend, config->engine, &context->engine);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_CONTEXT, "open the device");
    status = opened->backend->device_open(opened->state, (size_t)index, &context->device);
    pmm_span_end();
    pmm_engine_state *engine;
    if (status == PORTMM_STATUS_SUCCESS && strcmp(config->backend, "auto") == 0)
        status = pmm_context_engine(context, &engine);
    if (status != PORTMM_STATUS_SUCCESS)
        close_device(context);
    return status;
}

static portmm_status open_context(portmm_context *context, const portmm_context_options *options) {
    portmm_status status = pmm_runtime_init(&context->runtime, options);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_spec spec;
    status = pmm_spec_parse(context->runtime.config.backend, &spec);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    status = pmm_select(&context->runtime, &spec, try_device, context, &context->opened, context->reason,
                        sizeof context->reason);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_clear_error(); /* of candidates that were passed over */
    pmm_log(&context->runtime.config, PORTMM_LOG_INFO, "%s:%d (%s): %s", context->info.backend,
            (int)context->info.index, context->info.name, context->reason);
    return PORTMM_STATUS_SUCCESS;
}

portmm_status portmm_context_create(const portmm_context_options *options, portmm_context **context) {
    pmm_clear_error();
    if (context == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_context_create: context is NULL");
    *context = NULL;
    portmm_context *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for a context");
    bool has_locks = pmm_mutex_init(&made->engine_mutex) && pmm_mutex_init(&made->host_mutex) &&
                     pmm_mutex_init(&made->zeros_mutex) && pmm_warmup_init(&made->warmup);
    portmm_status status =
        has_locks ? open_context(made, options) : pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for a context");
    if (status != PORTMM_STATUS_SUCCESS) {
        portmm_context_destroy(made);
        return status;
    }
    *context = made;
    return PORTMM_STATUS_SUCCESS;
}

void portmm_context_destroy(portmm_context *context) {
    if (context == NULL)
        return;
    pmm_warmup_fini(&context->warmup);
    portmm_queue_destroy(context->host_queue);
    for (size_t i = 0; i < context->zeros_count; i++)
        context->backend->buffer_destroy(context->zeros[i]);
    close_device(context);
    pmm_backend_close(context->opened);
    pmm_mutex_fini(&context->zeros_mutex);
    pmm_mutex_fini(&context->host_mutex);
    pmm_mutex_fini(&context->engine_mutex);
    pmm_runtime_fini(&context->runtime);
    free(context);
}

portmm_status portmm_context_get_info(portmm_context *context, portmm_context_info *info) {
    pmm_clear_error();
    if (context == NULL || info == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_context_get_info: context or info is NULL");
    portmm_context_info ours = {.struct_size = sizeof ours,
                                .backend = context->info.backend,
                                .device_index = context->info.index,
                                .device_name = context->info.name,
                                .platform_name = context->info.platform_name,
                                .driver_version = context->info.driver_version,
                                .engine = context->engine->name,
                                .reason = context->reason};
    return pmm_struct_out(info, &ours, sizeof ours, "info");
}
