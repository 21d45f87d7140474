/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's program, built against the installed library.
 * usage: consumer BACKEND PREFIX
 * Makes a product and says what the cache did. The backend's module has to come from PREFIX. Exit code 77: the backend
 * has no device here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/portmm.h>

static void stop(const char *what) {
    fprintf(stderr, "consumer: %s: %s\n", what, portmm_last_error());
    exit(1);
}

static void check_module(const char *backend, const char *prefix) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_backend_info info = PORTMM_BACKEND_INFO_INIT;
    portmm_inventory *inventory;
    options.backend = backend;
    if (portmm_inventory_create(&options, &inventory) != PORTMM_STATUS_SUCCESS ||
        portmm_inventory_get_backend(inventory, 0, &info) != PORTMM_STATUS_SUCCESS)
        stop("inventory");
    int available = info.available, ours = strncmp(info.module_file, prefix, strlen(prefix)) == 0;
    printf("module %s%s%s\n", info.module_file, available ? "" : ": ", info.unavailable_reason);
    portmm_inventory_destroy(inventory);
    if (!available)
        exit(77);
    if (!ours)
        stop("this module is not the installed one");
}

static void check_product(portmm_context *context) {
    const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 2, 0, 1, 3};
    const float expected[] = {8, 9, 20, 18};
    float c[4];
    if (portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, 2, 2, 3, 1.0F, a, 3, b, 2, 0.0F,
                          c, 2) != PORTMM_STATUS_SUCCESS)
        stop("portmm_sgemm_host");
    for (int i = 0; i < 4; i++)
        if (c[i] != expected[i])
            stop("wrong product");
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    check_module(argv[1], argv[2]);
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    portmm_context *context;
    options.backend = argv[1];
    if (portmm_context_create(&options, &context) != PORTMM_STATUS_SUCCESS)
        stop("portmm_context_create");
    check_product(context);
    if (portmm_cache_get_stats(context, &stats) != PORTMM_STATUS_SUCCESS)
        stop("portmm_cache_get_stats");
    printf("hits %" PRIu64 ", helpers %" PRIu64 "\n", stats.hits, stats.helpers);
    portmm_context_destroy(context);
    return 0;
}
