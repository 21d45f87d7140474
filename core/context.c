/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm.h"
#include "log.h"
#include "select.h"
#include "status.h"
#include "structs.h"

portmm_phase pmm_context_product_phase(portmm_context *context) {
    return atomic_load(&context->first_product_done) ? PORTMM_PHASE_STEADY : PORTMM_PHASE_FIRST_LAUNCH;
}

bool pmm_context_is_cut_off(const portmm_context *context) {
    const pmm_hybrid *hybrid = &context->hybrid;
    if (hybrid->thread_process != 0) /* whose thread may just be writing the rest */
        return hybrid->thread_process != pmm_process_number();
    return context->opened != NULL && pmm_backend_is_cut_off(context->opened);
}

portmm_status pmm_context_check_process(const char *function, const portmm_context *context) {
    if (!pmm_context_is_cut_off(context))
        return PORTMM_STATUS_SUCCESS;
    return pmm_fail(PORTMM_STATUS_UNAVAILABLE,
                    "%s: the context was made before this process was forked, and its driver does not work in the "
                    "child; fork before the first context, or call exec after fork",
                    function);
}

static void close_device(portmm_context *context) {
    if (context->device == NULL || pmm_context_is_cut_off(context))
        return;
    pmm_engines_close(context);
    context->backend->device_close(context->device);
    context->device = NULL;
}

/* Opens it, or works in the application's own driver context. */
static portmm_status take_device(portmm_context *context, pmm_opened *opened, size_t index) {
    const pmm_backend *backend = opened->backend;
    void *native = context->runtime.config.native_context;
    if (native == NULL)
        return backend->device_open(opened->state, index, &context->device);
    if (backend->device_borrow == NULL)
        return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "options.native_context: backend %s has no contexts of a driver",
                        backend->name);
    return backend->device_borrow(opened->state, index, native, &context->device);
}

/* What pmm_select tries: opens the device; where `auto` could still take another one, its starter, too. */
static portmm_status try_device(void *user, pmm_opened *opened, int32_t index) {
    portmm_context *context = user;
    context->backend = opened->backend;
    opened->backend->device_info(opened->state, (size_t)index, &context->info);
    portmm_status status = pmm_engines_take(context);
    uint32_t needed = context->runtime.config.needs_dtypes;
    for (int dtype = PORTMM_F32; dtype < PMM_DTYPES && status == PORTMM_STATUS_SUCCESS; dtype++)
        if (needed & PORTMM_DTYPE_BIT(dtype))
            status = pmm_gemm_check_dtype("options.needs_dtypes", context, (portmm_dtype)dtype);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_span_begin(&context->runtime.timeline, PORTMM_PHASE_CONTEXT, "open the device");
    status = take_device(context, opened, (size_t)index);
    pmm_span_end();
    pmm_engine_state *engine;
    if (status == PORTMM_STATUS_SUCCESS && strcmp(context->runtime.config.backend, "auto") == 0)
        status = pmm_engines_open(context, pmm_engines_get_starter(context), &engine);
    if (status != PORTMM_STATUS_SUCCESS)
        close_device(context);
    return status;
}

portmm_status pmm_context_open_device(portmm_context *context, const char *spec_text) {
    pmm_spec spec;
    portmm_status status = pmm_spec_parse(spec_text, context->runtime.config.module_path, &spec);
    if (status == PORTMM_STATUS_SUCCESS)
        status = pmm_select(&context->runtime, &spec, try_device, context, &context->opened, context->reason,
                            sizeof context->reason);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_clear_error(); /* of candidates that were passed over */
    pmm_log(&context->runtime.config, PORTMM_LOG_INFO, "%s:%d (%s): %s", context->info.backend,
            (int)context->info.index, context->info.name, context->reason);
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status open_context(portmm_context *context, const portmm_context_options *options) {
    portmm_status status = pmm_runtime_init(&context->runtime, options);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    const pmm_config *config = &context->runtime.config;
    pmm_spec spec;
    /* A bad one is an error under every policy. */
    status = pmm_spec_parse(config->backend, config->module_path, &spec);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (config->native_context != NULL && spec.backend[0] == '\0')
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "options.native_context is set, but options.backend = \"auto\": name the context's backend, "
                        "opencl or cuda");
    if (config->start == PORTMM_START_HYBRID && config->native_context == NULL && config->engine == NULL &&
        strcmp(config->backend, "cpu") != 0 && pmm_hybrid_start(context) == PORTMM_STATUS_SUCCESS)
        return PORTMM_STATUS_SUCCESS;
    return pmm_context_open_device(context, config->backend); /* also where the CPU backend is missing */
}

portmm_status portmm_context_create(const portmm_context_options *options, portmm_context **context) {
    pmm_clear_error();
    if (context == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_context_create: context is NULL");
    *context = NULL;
    portmm_context *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for a context");
    bool has_locks = pmm_engines_init(&made->engines) && pmm_hybrid_init(&made->hybrid) &&
                     pmm_mutex_init(&made->host_mutex) && pmm_mutex_init(&made->zeros_mutex) &&
                     pmm_warmup_init(&made->warmup);
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
    pmm_hybrid_stop(context);
    pmm_engines_stop(context);
    pmm_warmup_fini(&context->warmup);
    portmm_queue_destroy(context->host_queue);
    for (size_t i = 0; i < context->zeros_count && !pmm_context_is_cut_off(context); i++)
        context->backend->buffer_destroy(context->zeros[i]);
    close_device(context);
    pmm_backend_close(context->opened);
    pmm_mutex_fini(&context->zeros_mutex);
    pmm_mutex_fini(&context->host_mutex);
    pmm_engines_fini(&context->engines);
    pmm_hybrid_fini(&context->hybrid);
    pmm_runtime_fini(&context->runtime);
    free(context);
}

portmm_status portmm_context_get_info(portmm_context *context, portmm_context_info *info) {
    pmm_clear_error();
    if (context == NULL || info == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "portmm_context_get_info: context or info is NULL");
    portmm_status status = pmm_context_await_device("portmm_context_get_info", context);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    portmm_context_info ours = {.struct_size = sizeof ours,
                                .backend = context->info.backend,
                                .device_index = context->info.index,
                                .device_name = context->info.name,
                                .platform_name = context->info.platform_name,
                                .driver_version = context->info.driver_version,
                                .engine = atomic_load(&context->engines.served),
                                .reason = context->reason};
    return pmm_struct_out(info, &ours, sizeof ours, "info");
}
