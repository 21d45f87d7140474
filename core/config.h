/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a context: options, then the environment, then defaults. The only reader of the environment. */
#ifndef PMM_CONFIG_H
#define PMM_CONFIG_H

#include "platform.h"

typedef struct pmm_config {
    char *backend;     /* a spec, "auto" by default */
    char *engine;      /* NULL: the backend's best */
    char *module_path; /* directories with ':' between; NULL: none */
    portmm_cache_mode cache_mode;
    char *cache_dir;          /* NULL: there is none; cache_reason says why */
    const char *cache_reason; /* "" or static text */
    char *cache_path_ro;      /* directories and bundles with ':' between; NULL: none */
    uint64_t cache_max_size;  /* bytes; 0: no limit */
    portmm_warmup warmup;
    portmm_start start;
    uint32_t needs_dtypes;
    void *native_context; /* NULL: the library makes one */
    portmm_log_callback log;
    void *log_user_data;
    portmm_log_level log_level;
} pmm_config;

/* `options` may be NULL. pmm_config_fini is right after a failure, too. */
portmm_status pmm_config_init(pmm_config *config, const portmm_context_options *options);
void pmm_config_fini(pmm_config *config);

/* See pmm_host.environment. */
char *pmm_config_environment(const char *prefix, const char *const *except);

#endif
