/* SPDX-License-Identifier: Apache-2.0 */
/* Which backend is taken, where its module is searched, and what is said when that fails. */
#define _POSIX_C_SOURCE 200809L /* setenv, chdir */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"

/* Directories of modules/CMakeLists.txt, and the one of the real modules. */
#define MODULES TEST_MODULES
#define BUILT TEST_BUILT_MODULES

static const char *const backends[] = {"cuda", "opencl", "cpu"};

static portmm_status create(const char *backend, const char *module_path, portmm_context **context) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = backend;
    options.module_path = module_path;
    portmm_status status = portmm_context_create(&options, context);
    ck_assert_msg((status == PORTMM_STATUS_SUCCESS) == (*context != NULL), "status and handle do not agree");
    return status;
}

static void expect_failure(const char *backend, const char *module_path, portmm_status expected, const char *part) {
    portmm_context *context = (portmm_context *)&context;
    test_expect_failure(create(backend, module_path, &context), backend, expected, part);
}

/* ---- specs ---- */

START_TEST(malformed_specs_are_named) {
    static const char *const specs[] = {"",        "gpu",       "CPU",
                                        "cpu ",    " cpu",      "cp",
                                        "cpuu",    "cpu:",      "cpu:x",
                                        "cpu:-1",  "cpu:+0",    "cpu: 0",
                                        "cpu:0x0", "cpu:1.0",   ":0",
                                        ":",       "0",         "auto:0",
                                        "auto ",   "cpu:0:1",   "cpu:0,1",
                                        "cpu,gpu", "cpu;reset", "../../cpu",
                                        "/cpu",    "cpu\n0",    "cpu:opencl:99999999999"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\"", specs[i]);
        expect_failure(specs[i], NULL, PORTMM_STATUS_INVALID_ARGUMENT, quoted);
    }
    expect_failure("cpu:99999999999", NULL, PORTMM_STATUS_INVALID_ARGUMENT, "\"cpu:99999999999\"");
    expect_failure("opencl:18446744073709551616", NULL, PORTMM_STATUS_INVALID_ARGUMENT, "18446744073709551616");
    expect_failure("vulkan", NULL, PORTMM_STATUS_INVALID_ARGUMENT, "opencl"); /* what there is */
}
END_TEST

START_TEST(long_specs_are_survived) {
    char spec[5000];
    memset(spec, 'x', sizeof spec);
    spec[sizeof spec - 1] = '\0';
    expect_failure(spec, NULL, PORTMM_STATUS_INVALID_ARGUMENT, "xxx");
    memcpy(spec, "cpu:", 4);
    expect_failure(spec, NULL, PORTMM_STATUS_INVALID_ARGUMENT, "cpu:");
    memset(spec + 4, '0', sizeof spec - 5);
    portmm_context *context;
    if (create(spec, NULL, &context) == PORTMM_STATUS_SUCCESS) /* 0, written long */
        portmm_context_destroy(context);
}
END_TEST

START_TEST(an_index_out_of_range_lists_what_is_there) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_inventory *inventory;
    TEST_OK(portmm_inventory_create(&options, &inventory));
    for (size_t i = 0; i < portmm_inventory_device_count(inventory); i++) {
        char spec[32];
        portmm_device_info info = PORTMM_DEVICE_INFO_INIT;
        TEST_OK(portmm_inventory_get_device(inventory, i, &info));
        snprintf(spec, sizeof spec, "%s:99", info.backend);
        expect_failure(spec, NULL, PORTMM_STATUS_UNAVAILABLE, spec);
        expect_failure(spec, NULL, PORTMM_STATUS_UNAVAILABLE, info.name);
        expect_failure(spec, NULL, PORTMM_STATUS_UNAVAILABLE, "0: ");
    }
    portmm_inventory_destroy(inventory);
}
END_TEST

/* ---- the environment ---- */

static void expect_backend(const char *asked, const char *expected) {
    portmm_context *context;
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    TEST_OK(create(asked, BUILT, &context));
    TEST_OK(portmm_context_get_info(context, &info));
    ck_assert_str_eq(info.backend, expected);
    portmm_context_destroy(context);
}

START_TEST(the_environment_names_the_backend_unless_an_option_does) {
    setenv("PORTMM_BACKEND", "cpu:0", 1);
    expect_backend(NULL, "cpu");
    setenv("PORTMM_BACKEND", "no-such-backend", 1);
    expect_failure(NULL, BUILT, PORTMM_STATUS_INVALID_ARGUMENT, "no-such-backend");
    expect_backend("cpu", "cpu");
    setenv("PORTMM_BACKEND", "cpu:9", 1);
    expect_backend("auto", "cpu");
    setenv("PORTMM_BACKEND", "", 1); /* the same as unset */
    expect_backend(NULL, "cpu");
    unsetenv("PORTMM_BACKEND");
}
END_TEST

START_TEST(the_environment_names_directories_unless_an_option_comes_first) {
    char path[4096];
    setenv("PORTMM_MODULE_PATH", MODULES "/null_entry", 1);
    expect_failure("cpu", NULL, PORTMM_STATUS_UNAVAILABLE, MODULES "/null_entry/portmm-cpu.so");
    expect_failure("cpu", MODULES "/no_entry", PORTMM_STATUS_UNAVAILABLE, MODULES "/no_entry/portmm-cpu.so");
    expect_backend("cpu", "cpu");
    snprintf(path, sizeof path, "/nowhere:%s::%s:/nowhere", MODULES "/nothing", MODULES "/no_entry");
    setenv("PORTMM_MODULE_PATH", path, 1); /* the first that has the file */
    expect_failure("cpu", NULL, PORTMM_STATUS_UNAVAILABLE, MODULES "/no_entry/portmm-cpu.so");
    unsetenv("PORTMM_MODULE_PATH");
    portmm_context *context;
    TEST_OK(create("cpu", NULL, &context)); /* beside libportmm */
    portmm_context_destroy(context);
}
END_TEST

/* ---- broken modules ---- */

static const char *const faults[] = {"wrong_abi",  "short_table",  "no_entry",  "null_entry",
                                     "other_name", "needs_absent", "text_file", "empty_file"};
#define FAULTS (int)(sizeof faults / sizeof *faults)

/* The text names the file and what to do, for each backend alike. */
START_TEST(a_broken_module_is_named_with_advice) {
    for (int i = 0; i < 3; i++) {
        char directory[4096], file[4096 + 32];
        snprintf(directory, sizeof directory, "%s/%s", MODULES, faults[_i]);
        snprintf(file, sizeof file, "%s/portmm-%s.so", directory, backends[i]);
        expect_failure(backends[i], directory, PORTMM_STATUS_UNAVAILABLE, file);
        expect_failure(backends[i], directory, PORTMM_STATUS_UNAVAILABLE, backends[i]);
        expect_failure(backends[i], directory, PORTMM_STATUS_UNAVAILABLE, "install");
    }
}
END_TEST

START_TEST(a_missing_library_of_a_module_is_named) {
    expect_failure("opencl", MODULES "/needs_absent", PORTMM_STATUS_UNAVAILABLE, "libtest-absent-opencl.so");
    expect_failure("cpu", MODULES "/needs_absent", PORTMM_STATUS_UNAVAILABLE, "libtest-absent-cpu.so");
}
END_TEST

START_TEST(a_module_of_another_version_is_called_so) {
    expect_failure("opencl", MODULES "/wrong_abi", PORTMM_STATUS_UNAVAILABLE, "version");
    expect_failure("opencl", MODULES "/short_table", PORTMM_STATUS_UNAVAILABLE, "bytes, this library needs");
    expect_failure("opencl", MODULES "/other_name", PORTMM_STATUS_UNAVAILABLE, "something-else");
}
END_TEST

START_TEST(a_backend_without_device_is_unavailable) {
    expect_failure("opencl", MODULES "/no_devices", PORTMM_STATUS_UNAVAILABLE, "no device");
    expect_failure("opencl:3", MODULES "/no_devices", PORTMM_STATUS_UNAVAILABLE, "no device");
    expect_failure("cuda", MODULES "/fails_to_open", PORTMM_STATUS_UNAVAILABLE, "the planted module was loaded");
}
END_TEST

START_TEST(a_directory_in_place_of_a_module_does_no_harm) {
    portmm_context *context;
    if (create("cpu", MODULES "/a_directory", &context) != PORTMM_STATUS_SUCCESS)
        ck_assert_ptr_nonnull(strstr(portmm_last_error(), "a_directory/portmm-cpu.so"));
    portmm_context_destroy(context);
}
END_TEST

static const portmm_backend_info *find_backend(const portmm_inventory *inventory, const char *name,
                                               portmm_backend_info *info) {
    for (size_t i = 0; i < portmm_inventory_backend_count(inventory); i++) {
        *info = (portmm_backend_info)PORTMM_BACKEND_INFO_INIT;
        TEST_OK(portmm_inventory_get_backend(inventory, i, info));
        if (strcmp(info->name, name) == 0)
            return info;
    }
    ck_abort_msg("the inventory lacks %s", name);
    return NULL;
}

START_TEST(the_inventory_tells_what_is_wrong_with_a_module) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_inventory *inventory;
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/%s", MODULES, faults[_i]);
    options.module_path = directory;
    TEST_OK(portmm_inventory_create(&options, &inventory)); /* broken modules are no failure of the inventory */
    ck_assert_str_eq(portmm_last_error(), "");
    for (int i = 0; i < 3; i++) {
        char file[4096 + 32];
        portmm_backend_info info;
        snprintf(file, sizeof file, "%s/portmm-%s.so", directory, backends[i]);
        find_backend(inventory, backends[i], &info);
        ck_assert_int_eq(info.available, 0);
        ck_assert_ptr_nonnull(strstr(info.unavailable_reason, file));
        ck_assert_str_eq(info.module_file, file); /* it was found, if broken */
    }
    ck_assert_uint_eq(portmm_inventory_device_count(inventory), 0);
    portmm_inventory_destroy(inventory);
}
END_TEST

START_TEST(the_inventory_can_be_of_one_backend) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_inventory *inventory = (portmm_inventory *)&options;
    portmm_backend_info info;
    options.backend = "cpu";
    TEST_OK(portmm_inventory_create(&options, &inventory));
    ck_assert_uint_eq(portmm_inventory_backend_count(inventory), 1);
    find_backend(inventory, "cpu", &info);
    ck_assert_int_eq(info.available, 1);
    ck_assert_str_eq(info.unavailable_reason, "");
    ck_assert_ptr_nonnull(strstr(info.module_file, "/portmm-cpu.so"));
    portmm_inventory_destroy(inventory);
    options.backend = "warp";
    TEST_FAILS(portmm_inventory_create(&options, &inventory), PORTMM_STATUS_INVALID_ARGUMENT, "warp");
    ck_assert_ptr_null(inventory);
}
END_TEST

/* ---- backends of others ---- */

START_TEST(a_module_of_somebody_else_is_found_by_its_name) {
    static const char *const forms[] = {"other", "other:0"};
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_inventory *inventory;
    portmm_backend_info info;
    for (int i = 0; i < 2; i++) {
        expect_failure(forms[i], MODULES "/no_devices", PORTMM_STATUS_UNAVAILABLE, "other has no device");
        expect_failure(forms[i], MODULES "/wrong_abi", PORTMM_STATUS_UNAVAILABLE, "/portmm-other.so");
        expect_failure(forms[i], MODULES "/nothing", PORTMM_STATUS_INVALID_ARGUMENT, "portmm-NAME.so");
    }
    expect_failure("other:x", MODULES "/no_devices", PORTMM_STATUS_INVALID_ARGUMENT, "\"other:x\"");
    expect_failure("no_devices/portmm-other", MODULES, PORTMM_STATUS_INVALID_ARGUMENT, "not known");
    options.module_path = MODULES "/no_devices";
    options.backend = "other";
    TEST_OK(portmm_inventory_create(&options, &inventory));
    ck_assert_uint_eq(portmm_inventory_backend_count(inventory), 1);
    find_backend(inventory, "other", &info);
    ck_assert_str_eq(info.module_file, MODULES "/no_devices/portmm-other.so");
    portmm_inventory_destroy(inventory);
    options.backend = NULL; /* `auto` and the whole inventory are of the library's own */
    TEST_OK(portmm_inventory_create(&options, &inventory));
    ck_assert_uint_eq(portmm_inventory_backend_count(inventory), 3);
    portmm_inventory_destroy(inventory);
}
END_TEST

/* ---- auto ---- */

START_TEST(auto_passes_broken_backends_over_and_says_why) {
    portmm_context *context;
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    TEST_OK(create("auto", MODULES "/broken_gpus:" BUILT, &context));
    ck_assert_str_eq(portmm_last_error(), "");
    TEST_OK(portmm_context_get_info(context, &info));
    ck_assert_str_eq(info.backend, "cpu");
    ck_assert_msg(strstr(info.reason, MODULES "/broken_gpus/portmm-opencl.so") != NULL, "reason: %s", info.reason);
    ck_assert_msg(strstr(info.reason, "cuda") != NULL, "reason: %s", info.reason);
    float a = 2, b = 3, c = 1;
    TEST_OK(portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, 1, 1, 1, 1, &a, 1, &b, 1, 1,
                              &c, 1));
    ck_assert(c == 7);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(auto_says_why_nothing_serves) {
    for (int i = 0; i < 3; i++)
        expect_failure("auto", MODULES "/null_entry", PORTMM_STATUS_UNAVAILABLE, backends[i]);
    expect_failure("auto", MODULES "/no_devices", PORTMM_STATUS_UNAVAILABLE, "no device");
}
END_TEST

/* ---- where modules are never searched ---- */

/* The working directory is one that has a module for each backend, and the search path tries to name it. */
START_TEST(the_working_directory_is_never_searched) {
    static const char *const paths[] = {NULL, "", ".", "./", ":", "::", ":.:", "fails_to_open", "./fails_to_open",
                                        ".."};
    char before[4096];
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    for (int inside = 0; inside < 2; inside++) {
        ck_assert_int_eq(chdir(inside ? MODULES "/fails_to_open" : MODULES), 0);
        for (size_t i = 0; i < 2 * sizeof paths / sizeof *paths; i++)
            for (int j = 0; j < 3; j++) {
                portmm_context *context;
                const char *path = paths[i / 2];
                bool in_environment = i % 2 != 0;
                if (in_environment && path != NULL)
                    setenv("PORTMM_MODULE_PATH", path, 1);
                else
                    unsetenv("PORTMM_MODULE_PATH");
                if (create(backends[j], in_environment ? NULL : path, &context) != PORTMM_STATUS_SUCCESS &&
                    strstr(portmm_last_error(), "planted") != NULL)
                    ck_abort_msg("path \"%s\": %s", path != NULL ? path : "(unset)", portmm_last_error());
                portmm_context_destroy(context);
            }
    }
    ck_assert_int_eq(chdir(before), 0);
    /* The planted module works, so that the above can fail. */
    expect_failure("cpu", MODULES "/fails_to_open", PORTMM_STATUS_UNAVAILABLE, "planted");
}
END_TEST

/* A copy of libportmm far from all modules: the text lists where it looked and what to do. */
START_TEST(a_missing_module_is_named_with_where_it_was_searched) {
    unsetenv("PORTMM_MODULE_PATH");
    void *library = dlopen(MODULES "/alone/libportmm-alone.so", RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    portmm_status (*create_there)(const portmm_context_options *, portmm_context **);
    const char *(*last_error_there)(void);
    void *symbols[2] = {dlsym(library, "portmm_context_create"), dlsym(library, "portmm_last_error")};
    ck_assert(symbols[0] != NULL && symbols[0] != (void *)(size_t)portmm_context_create);
    memcpy(&create_there, &symbols[0], sizeof create_there);
    memcpy(&last_error_there, &symbols[1], sizeof last_error_there);
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    for (int i = 0; i < 3; i++) {
        const char *expected[] = {backends[i], MODULES "/nothing", MODULES "/alone", "install", "PORTMM_MODULE_PATH"};
        options.backend = backends[i];
        options.module_path = MODULES "/nothing";
        ck_assert_int_eq(create_there(&options, &context), PORTMM_STATUS_UNAVAILABLE);
        for (size_t j = 0; j < sizeof expected / sizeof *expected; j++)
            ck_assert_msg(strstr(last_error_there(), expected[j]) != NULL, "the text lacks \"%s\": \"%s\"", expected[j],
                          last_error_there());
    }
}
END_TEST

/* Each test sets what it needs. */
static void clear_environment(void) {
    unsetenv("PORTMM_BACKEND");
    unsetenv("PORTMM_MODULE_PATH");
}

int main(void) {
    Suite *suite = suite_create("loader");
    TCase *cases = tcase_create("loader");
    tcase_add_checked_fixture(cases, clear_environment, clear_environment);
    tcase_add_test(cases, malformed_specs_are_named);
    tcase_add_test(cases, long_specs_are_survived);
    tcase_add_test(cases, an_index_out_of_range_lists_what_is_there);
    tcase_add_test(cases, the_environment_names_the_backend_unless_an_option_does);
    tcase_add_test(cases, the_environment_names_directories_unless_an_option_comes_first);
    tcase_add_loop_test(cases, a_broken_module_is_named_with_advice, 0, FAULTS);
    tcase_add_test(cases, a_missing_library_of_a_module_is_named);
    tcase_add_test(cases, a_module_of_another_version_is_called_so);
    tcase_add_test(cases, a_backend_without_device_is_unavailable);
    tcase_add_test(cases, a_directory_in_place_of_a_module_does_no_harm);
    tcase_add_loop_test(cases, the_inventory_tells_what_is_wrong_with_a_module, 0, FAULTS);
    tcase_add_test(cases, the_inventory_can_be_of_one_backend);
    tcase_add_test(cases, a_module_of_somebody_else_is_found_by_its_name);
    tcase_add_test(cases, auto_passes_broken_backends_over_and_says_why);
    tcase_add_test(cases, auto_says_why_nothing_serves);
    tcase_add_test(cases, the_working_directory_is_never_searched);
    tcase_add_test(cases, a_missing_module_is_named_with_where_it_was_searched);
    suite_add_tcase(suite, cases);
    return test_main(suite);
}
