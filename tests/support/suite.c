/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define MAX_TARGETS 64

static test_target targets[MAX_TARGETS];
static portmm_context *contexts[MAX_TARGETS]; /* NULL until asked for */
static int target_count;

int test_target_count(void) {
    return target_count;
}

const test_target *test_get_target(int number) {
    return &targets[number];
}

/* CLBlast, our own kernels and a BLAS with 32-bit integers; cuBLAS's functions in use take 64 bits. */
int64_t test_size_beyond(int number) {
    return strcmp(targets[number].engine, "cublas") == 0 ? INT64_MAX / 16 + 1 : (int64_t)INT32_MAX + 1;
}

portmm_context *test_get_context(int number) {
    if (contexts[number] == NULL) {
        portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
        options.backend = targets[number].spec;
        options.engine = targets[number].engine;
        TEST_OK(portmm_context_create(&options, &contexts[number]));
    }
    return contexts[number];
}

void test_expect_failure(portmm_status status, const char *call, portmm_status expected, const char *part) {
    const char *text = portmm_last_error();
    ck_assert_msg(status == expected, "%s gives %s instead of %s; its text: \"%s\"", call, portmm_status_name(status),
                  portmm_status_name(expected), text);
    ck_assert_msg(text[0] != '\0' && strstr(text, part) != NULL, "%s: the error text lacks \"%s\": \"%s\"", call, part,
                  text);
}

int test_main(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- devices ---- */

static void add_target(const portmm_device_info *info, const char *engine, size_t length, portmm_dtype dtype) {
    if (target_count == MAX_TARGETS)
        return;
    test_target *added = &targets[target_count++];
    snprintf(added->spec, sizeof added->spec, "%s:%d", info->backend, (int)info->index);
    snprintf(added->device, sizeof added->device, "%s", info->name);
    snprintf(added->engine, sizeof added->engine, "%.*s", (int)length, engine);
    added->dtype = dtype;
    printf("target %d: %s (%s), engine %s, %s\n", target_count - 1, added->spec, added->device, added->engine,
           dtype == PORTMM_F64 ? "f64" : "f32");
}

static void add_device(const portmm_device_info *info) {
    for (const char *engine = info->engines; *engine != '\0';) {
        size_t length = strcspn(engine, ",");
        add_target(info, engine, length, PORTMM_F32);
        if (info->has_f64)
            add_target(info, engine, length, PORTMM_F64);
        engine += length;
        engine += strspn(engine, ", ");
    }
}

/* Whether the spec is this backend, with any index, or exactly this device. */
static bool is_meant(const char *spec, const portmm_device_info *info) {
    char exact[32];
    snprintf(exact, sizeof exact, "%s:%d", info->backend, (int)info->index);
    return strcmp(spec, info->backend) == 0 || strcmp(spec, exact) == 0;
}

static void find_targets(const portmm_inventory *inventory, const char *spec) {
    for (size_t i = 0; i < portmm_inventory_backend_count(inventory); i++) {
        portmm_backend_info info = PORTMM_BACKEND_INFO_INIT;
        if (portmm_inventory_get_backend(inventory, i, &info) == PORTMM_STATUS_SUCCESS && !info.available)
            printf("%s: %s\n", info.name, info.unavailable_reason);
    }
    for (size_t i = 0; i < portmm_inventory_device_count(inventory); i++) {
        portmm_device_info info = PORTMM_DEVICE_INFO_INIT;
        if (portmm_inventory_get_device(inventory, i, &info) != PORTMM_STATUS_SUCCESS || !is_meant(spec, &info))
            continue;
        if (info.unavailable_reason[0] == '\0')
            add_device(&info);
        else
            printf("%s:%d (%s) left out: %s\n", info.backend, (int)info.index, info.name, info.unavailable_reason);
    }
}

/* PORTMM_TEST_REQUIRE is a comma-separated list of backends. */
static bool is_required(const char *spec) {
    const char *list = getenv("PORTMM_TEST_REQUIRE");
    size_t wanted = strcspn(spec, ":");
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");
        if (length == wanted && memcmp(list, spec, length) == 0)
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

int test_skip(const char *spec) {
    return is_required(spec) ? EXIT_FAILURE : EXIT_SKIPPED;
}

int test_main_on_devices(int argc, char **argv, Suite *(*make_suite)(void)) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s SPEC, such as cpu, opencl or opencl:1\n", argv[0]);
        return 2;
    }
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = argv[1];
    portmm_inventory *inventory;
    if (portmm_inventory_create(&options, &inventory) != PORTMM_STATUS_SUCCESS) {
        fprintf(stderr, "no inventory: %s\n", portmm_last_error());
        return EXIT_FAILURE;
    }
    find_targets(inventory, argv[1]);
    portmm_inventory_destroy(inventory);
    if (target_count == 0) {
        printf("skipped: %s has no device here\n", argv[1]);
        return test_skip(argv[1]);
    }
    fflush(stdout);
    int code = test_main(make_suite());
    for (int i = 0; i < target_count; i++)
        portmm_context_destroy(contexts[i]);
    return code;
}
