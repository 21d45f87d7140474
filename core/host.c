/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/failure.h"
#include "cache/flight.h"
#include "cache/trial.h"
#include "log.h"
#include "status.h"

static const pmm_opened *get_opened(const pmm_host *host) {
    return (const pmm_opened *)host;
}

static void host_log(const pmm_host *host, portmm_log_level level, const char *format, ...) {
    const pmm_config *config = &get_opened(host)->runtime->config;
    if (config->log == NULL || level > config->log_level)
        return;
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pmm_log(config, level, "%s: %s", get_opened(host)->backend->name, line);
}

static void host_span_begin(const pmm_host *host, portmm_phase phase, const char *detail) {
    pmm_runtime *runtime = get_opened(host)->runtime;
    if (phase == PORTMM_PHASE_BUILD)
        atomic_fetch_add(&runtime->cache.compiled, 1);
    pmm_span_begin(&runtime->timeline, phase, detail);
}

static void host_span_end(const pmm_host *host) {
    (void)host;
    pmm_span_end();
}

static bool host_cache_get(const pmm_host *host, const pmm_cache_key *key, void **data, size_t *size) {
    return pmm_flight_get(&get_opened(host)->runtime->cache, key, data, size);
}

static bool host_cache_put(const pmm_host *host, const pmm_cache_key *key, const void *data, size_t size) {
    return pmm_cache_put(&get_opened(host)->runtime->cache, key, data, size);
}

static bool host_cache_propose(const pmm_host *host, const pmm_cache_key *key, const void *data, size_t size) {
    return pmm_trial_put(&get_opened(host)->runtime->cache, key, data, size);
}

static void host_cache_fail(const pmm_host *host, const pmm_cache_key *key, const char *reason) {
    pmm_cache_remember_failure(&get_opened(host)->runtime->cache, key, reason);
}

static bool host_cache_failed(const pmm_host *host, const pmm_cache_key *key, char *reason, size_t size) {
    return pmm_cache_recall_failure(&get_opened(host)->runtime->cache, key, reason, size);
}

static void host_cache_reject(const pmm_host *host, const pmm_cache_key *key, const char *why) {
    pmm_cache_reject(&get_opened(host)->runtime->cache, key, why);
}

static void host_cache_bypass(const pmm_host *host) {
    atomic_fetch_add(&get_opened(host)->runtime->cache.bypassed, 1);
}

static void *host_library_open(const pmm_host *host, const char *name, bool beside_module, const char **reason) {
    if (!beside_module)
        return pmm_library_open(name, false, reason);
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", get_opened(host)->module->directory, name) >= (int)sizeof path) {
        *reason = "the path is too long";
        return NULL;
    }
    return pmm_library_open(path, true, reason);
}

static void host_lock(const pmm_host *host) {
    pmm_mutex_lock(&get_opened(host)->module->vendor_lock);
}

static void host_unlock(const pmm_host *host) {
    pmm_mutex_unlock(&get_opened(host)->module->vendor_lock);
}

static void host_machine(const pmm_host *host, pmm_machine *machine) {
    *machine = get_opened(host)->runtime->machine;
}

static const char *host_cache_identity(const pmm_host *host) {
    return get_opened(host)->runtime->cache.identity;
}

static const pmm_host host_table = {
    .struct_size = sizeof(pmm_host),
    .log = host_log,
    .fail = pmm_fail,
    .span_begin = host_span_begin,
    .span_end = host_span_end,
    .cache_get = host_cache_get,
    .cache_put = host_cache_put,
    .cache_reject = host_cache_reject,
    .cache_bypass = host_cache_bypass,
    .environment = pmm_config_environment,
    .library_open = host_library_open,
    .library_symbol = pmm_library_symbol,
    .lock = host_lock,
    .unlock = host_unlock,
    .machine = host_machine,
    .cache_identity = host_cache_identity,
    .cache_propose = host_cache_propose,
    .cache_fail = host_cache_fail,
    .cache_failed = host_cache_failed,
};

portmm_status pmm_runtime_init(pmm_runtime *runtime, const portmm_context_options *options) {
    portmm_status status = pmm_config_init(&runtime->config, options);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    if (!pmm_timeline_init(&runtime->timeline) || !pmm_cache_init(&runtime->cache, &runtime->config))
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory for a context");
    pmm_span_begin(&runtime->timeline, PORTMM_PHASE_ENUMERATE, "this machine");
    pmm_machine_read(&runtime->machine, runtime->cpu_name, sizeof runtime->cpu_name);
    pmm_span_end();
    return PORTMM_STATUS_SUCCESS;
}

void pmm_runtime_fini(pmm_runtime *runtime) {
    pmm_cache_fini(&runtime->cache);
    pmm_timeline_fini(&runtime->timeline);
    pmm_config_fini(&runtime->config);
}

/* Whether a driver may be opened here: not in the child of a process that has it open. */
static bool claim(pmm_module *module) {
    int_fast64_t first = 0, own = pmm_process_number();
    return atomic_compare_exchange_strong(&module->process, &first, own) || first == own ||
           module->backend->survives_fork;
}

static portmm_status open_state(pmm_opened *this, const char *name) {
    if (!claim(this->module))
        return pmm_fail(PORTMM_STATUS_UNAVAILABLE,
                        "backend %s: its driver was opened before this process was forked, and does not work in the "
                        "child; fork before the first context or inventory, or call exec after fork",
                        name);
    this->process = pmm_process_number();
    this->backend = this->module->backend;
    return this->backend->open(&this->host, &this->state);
}

portmm_status pmm_backend_open(pmm_runtime *runtime, const char *name, pmm_opened **opened) {
    pmm_opened *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "no memory to open backend %s", name);
    made->host = host_table;
    made->runtime = runtime;
    pmm_span_begin(&runtime->timeline, PORTMM_PHASE_LOAD, "backend module");
    portmm_status status = pmm_module_load(name, runtime->config.module_path, &made->module);
    pmm_span_end();
    if (status == PORTMM_STATUS_SUCCESS)
        status = open_state(made, name);
    if (status != PORTMM_STATUS_SUCCESS) {
        free(made);
        return status;
    }
    *opened = made;
    return PORTMM_STATUS_SUCCESS;
}

void pmm_backend_close(pmm_opened *opened) {
    if (opened == NULL)
        return;
    if (!pmm_backend_is_cut_off(opened))
        opened->backend->close(opened->state);
    free(opened);
}

bool pmm_backend_is_cut_off(const pmm_opened *opened) {
    return !opened->backend->survives_fork && opened->process != pmm_process_number();
}

uint32_t pmm_backend_dtypes(const pmm_backend *backend, const portmm_device_info *info) {
    const uint32_t doubles = PORTMM_DTYPE_BIT(PORTMM_F64) | PORTMM_DTYPE_BIT(PORTMM_C64);
    uint32_t dtypes = 0;
    for (const pmm_engine *const *each = backend->engines; *each != NULL; each++)
        dtypes |= (*each)->dtypes;
    return info->has_f64 ? dtypes : dtypes & ~doubles;
}
