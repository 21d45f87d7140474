/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* setenv, strdup */
/* What holds for every function of the API: NULL where it is not allowed, structures of other sizes, the last error. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"

/* ---- NULL ---- */

#define REFUSED(call) TEST_FAILS((call), PORTMM_STATUS_INVALID_ARGUMENT, "NULL")

START_TEST(destroying_nothing_is_allowed) {
    portmm_context_destroy(NULL);
    portmm_queue_destroy(NULL);
    portmm_buffer_destroy(NULL);
    portmm_event_destroy(NULL);
    portmm_inventory_destroy(NULL);
}
END_TEST

START_TEST(a_context_is_needed) {
    portmm_queue *queue = (portmm_queue *)&queue; /* anything but NULL */
    portmm_buffer *buffer = (portmm_buffer *)&buffer;
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    const portmm_problem problem = PORTMM_PROBLEM_INIT;
    size_t count = 12345;
    uint64_t totals[PORTMM_PHASE_COUNT];
    float one = 1;
    REFUSED(portmm_context_create(NULL, NULL));
    REFUSED(portmm_context_get_info(NULL, &info));
    REFUSED(portmm_queue_create(NULL, &queue));
    ck_assert_ptr_null(queue);
    REFUSED(portmm_buffer_create(NULL, 1, &buffer));
    ck_assert_ptr_null(buffer);
    REFUSED(portmm_sgemm_host(NULL, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, 1, 1, 1, 1, &one, 1, &one, 1, 0,
                              &one, 1));
    REFUSED(portmm_prewarm(NULL, &problem));
    REFUSED(portmm_timeline_read(NULL, 0, NULL, &count));
    ck_assert_uint_eq(count, 12345);
    REFUSED(portmm_timeline_totals(NULL, totals));
    REFUSED(portmm_cache_get_stats(NULL, &stats));
    ck_assert_str_eq(portmm_cache_get_path(NULL), "");
    ck_assert_str_eq(portmm_cache_get_reason(NULL), "");
}
END_TEST

START_TEST(an_output_is_needed) {
    portmm_context *context = test_get_context(_i);
    REFUSED(portmm_context_get_info(context, NULL));
    REFUSED(portmm_queue_create(context, NULL));
    REFUSED(portmm_buffer_create(context, 1, NULL));
    REFUSED(portmm_prewarm(context, NULL));
    REFUSED(portmm_inventory_create(NULL, NULL));
    REFUSED(portmm_timeline_read(context, 0, NULL, NULL));
    size_t count;
    REFUSED(portmm_timeline_read(context, 1, NULL, &count));
    TEST_OK(portmm_timeline_read(context, 0, NULL, &count));
    REFUSED(portmm_timeline_totals(context, NULL));
    REFUSED(portmm_cache_get_stats(context, NULL));
}
END_TEST

START_TEST(queues_buffers_and_events_are_needed) {
    unsigned char byte = 0;
    portmm_queue *queue;
    portmm_buffer *buffer;
    TEST_OK(portmm_queue_create(test_get_context(_i), &queue));
    TEST_OK(portmm_buffer_create(test_get_context(_i), 8, &buffer));
    REFUSED(portmm_queue_finish(NULL));
    REFUSED(portmm_event_wait(NULL));
    REFUSED(portmm_buffer_write(NULL, buffer, 0, 1, &byte));
    REFUSED(portmm_buffer_write(queue, NULL, 0, 1, &byte));
    REFUSED(portmm_buffer_write(queue, buffer, 0, 1, NULL));
    REFUSED(portmm_buffer_read(NULL, buffer, 0, 1, &byte));
    REFUSED(portmm_buffer_read(queue, NULL, 0, 1, &byte));
    REFUSED(portmm_buffer_read(queue, buffer, 0, 1, NULL));
    portmm_buffer_destroy(buffer);
    portmm_queue_destroy(queue);
}
END_TEST

START_TEST(an_inventory_is_needed) {
    portmm_inventory *inventory;
    portmm_backend_info backend = PORTMM_BACKEND_INFO_INIT;
    portmm_device_info device = PORTMM_DEVICE_INFO_INIT;
    TEST_OK(portmm_inventory_create(NULL, &inventory));
    size_t backends = portmm_inventory_backend_count(inventory), devices = portmm_inventory_device_count(inventory);
    ck_assert_uint_ge(backends, 1);
    ck_assert_uint_ge(devices, 1);
    ck_assert_uint_eq(portmm_inventory_backend_count(NULL), 0);
    ck_assert_uint_eq(portmm_inventory_device_count(NULL), 0);
    REFUSED(portmm_inventory_get_backend(NULL, 0, &backend));
    REFUSED(portmm_inventory_get_backend(inventory, 0, NULL));
    REFUSED(portmm_inventory_get_device(NULL, 0, &device));
    REFUSED(portmm_inventory_get_device(inventory, 0, NULL));
    TEST_FAILS(portmm_inventory_get_backend(inventory, backends, &backend), PORTMM_STATUS_INVALID_ARGUMENT, "position");
    TEST_FAILS(portmm_inventory_get_device(inventory, devices, &device), PORTMM_STATUS_INVALID_ARGUMENT, "position");
    TEST_FAILS(portmm_inventory_get_device(inventory, SIZE_MAX, &device), PORTMM_STATUS_INVALID_ARGUMENT, "position");
    ck_assert_ptr_null(device.name); /* not written */
    portmm_inventory_destroy(inventory);
}
END_TEST

typedef struct seen {
    size_t count;
    char numbers[512]; /* the values that are whole numbers, as NAME=VALUE */
} seen;

static void note_property(const char *name, const char *value, void *user_data) {
    seen *this = user_data;
    ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
    ck_assert_uint_gt(strlen(name), 0);
    ck_assert_uint_gt(strlen(value), 0);
    size_t used = strlen(this->numbers);
    if (strspn(value, "0123456789") == strlen(value))
        snprintf(this->numbers + used, sizeof this->numbers - used, "%s=%s ", name, value);
    this->count++;
}

START_TEST(properties_are_told_of_what_is_there) {
    portmm_inventory *inventory;
    TEST_OK(portmm_inventory_create(NULL, &inventory));
    seen cpu = {0}, opencl = {0}, device = {0};
    TEST_OK(portmm_inventory_visit_properties(inventory, "cpu", -1, note_property, &cpu));
    ck_assert_ptr_nonnull(strstr(cpu.numbers, "openblas_threads="));
    TEST_OK(portmm_inventory_visit_properties(inventory, "cpu", 0, note_property, &cpu));
    TEST_OK(portmm_inventory_visit_properties(inventory, "opencl", -1, note_property, &opencl));
    portmm_backend_info info = PORTMM_BACKEND_INFO_INIT;
    size_t position = 0;
    do
        TEST_OK(portmm_inventory_get_backend(inventory, position++, &info));
    while (strcmp(info.name, "opencl") != 0);
    if (info.available) {
        TEST_OK(portmm_inventory_visit_properties(inventory, "opencl", 0, note_property, &device));
        ck_assert_ptr_nonnull(strstr(device.numbers, "max_work_group_size="));
        ck_assert_ptr_nonnull(strstr(device.numbers, "local_mem_size="));
    } else
        ck_assert_uint_eq(opencl.count, 0);
    REFUSED(portmm_inventory_visit_properties(NULL, "cpu", -1, note_property, &cpu));
    REFUSED(portmm_inventory_visit_properties(inventory, NULL, -1, note_property, &cpu));
    REFUSED(portmm_inventory_visit_properties(inventory, "cpu", -1, NULL, NULL));
    TEST_FAILS(portmm_inventory_visit_properties(inventory, "vulkan", -1, note_property, &cpu),
               PORTMM_STATUS_INVALID_ARGUMENT, "backend = \"vulkan\"");
    const int32_t outside[] = {-2, 1, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        TEST_FAILS(portmm_inventory_visit_properties(inventory, "cpu", outside[i], note_property, &cpu),
                   PORTMM_STATUS_INVALID_ARGUMENT, "index = ");
    portmm_inventory_destroy(inventory);
}
END_TEST

/* ---- ranges of buffers ---- */

START_TEST(buffers_have_bounds) {
    portmm_context *context = test_get_context(_i);
    unsigned char bytes[16] = {0};
    portmm_queue *queue;
    portmm_buffer *buffer;
    TEST_OK(portmm_queue_create(context, &queue));
    TEST_FAILS(portmm_buffer_create(context, 0, &buffer), PORTMM_STATUS_INVALID_ARGUMENT, "size = 0");
    ck_assert_ptr_null(buffer);
    TEST_FAILS(portmm_buffer_create(context, SIZE_MAX, &buffer), PORTMM_STATUS_OUT_OF_MEMORY, "");
    TEST_FAILS(portmm_buffer_create(context, SIZE_MAX / 2, &buffer), PORTMM_STATUS_OUT_OF_MEMORY, "");
    ck_assert_ptr_null(buffer);
    TEST_OK(portmm_buffer_create(context, 8, &buffer));
    const size_t outside[][2] = {{0, 9}, {8, 1}, {1, 8}, {9, 0}, {SIZE_MAX, 1}, {1, SIZE_MAX}, {SIZE_MAX, SIZE_MAX}};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        TEST_FAILS(portmm_buffer_write(queue, buffer, outside[i][0], outside[i][1], bytes),
                   PORTMM_STATUS_INVALID_ARGUMENT, "8 bytes");
        TEST_FAILS(portmm_buffer_read(queue, buffer, outside[i][0], outside[i][1], bytes),
                   PORTMM_STATUS_INVALID_ARGUMENT, "8 bytes");
    }
    portmm_buffer_destroy(buffer);
    portmm_queue_destroy(queue);
}
END_TEST

/* ---- prewarm ---- */

START_TEST(prewarm_checks_its_problem) {
    portmm_context *context = test_get_context(_i);
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.dtype = test_get_target(_i)->dtype;
    problem.m = 5, problem.n = 6, problem.k = 7;
    portmm_problem bad = problem;
    bad.dtype = (portmm_dtype)0;
    TEST_FAILS(portmm_prewarm(context, &bad), PORTMM_STATUS_INVALID_ARGUMENT, "dtype = 0");
    bad = problem;
    bad.m = -1;
    TEST_FAILS(portmm_prewarm(context, &bad), PORTMM_STATUS_INVALID_ARGUMENT, "m = -1");
    bad = problem;
    bad.lda = 6;
    TEST_FAILS(portmm_prewarm(context, &bad), PORTMM_STATUS_INVALID_ARGUMENT, "lda = 6");
    bad = problem;
    bad.layout = (portmm_layout)7;
    TEST_FAILS(portmm_prewarm(context, &bad), PORTMM_STATUS_INVALID_ARGUMENT, "layout = 7");
    bad = problem;
    bad.m = bad.n = 1;
    bad.k = test_size_beyond(_i);
    char part[64];
    snprintf(part, sizeof part, "k = %" PRId64, bad.k);
    TEST_FAILS(portmm_prewarm(context, &bad), PORTMM_STATUS_UNSUPPORTED, part);
    bad = problem;
    bad.m = bad.n = bad.k = 0; /* nothing to do */
    TEST_OK(portmm_prewarm(context, &bad));
}
END_TEST

/* ---- structures of other sizes ---- */

/* A structure of a later library: ours, and a member that we do not know. */
#define LATER(type)                                                                                                    \
    struct {                                                                                                           \
        type known;                                                                                                    \
        unsigned char unknown[64];                                                                                     \
    }

START_TEST(a_missing_struct_size_is_named) {
    static const size_t sizes[] = {0, 1, sizeof(size_t), 1000000};
    portmm_context *context = test_get_context(_i), *made = NULL;
    portmm_inventory *inventory, *none;
    TEST_OK(portmm_inventory_create(NULL, &inventory));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        portmm_context_options options = {.struct_size = sizes[i]};
        TEST_FAILS(portmm_context_create(&options, &made), PORTMM_STATUS_INVALID_ARGUMENT, "struct_size");
        ck_assert_ptr_null(made);
        TEST_FAILS(portmm_inventory_create(&options, &none), PORTMM_STATUS_INVALID_ARGUMENT, "struct_size");
        ck_assert_ptr_null(none);
        portmm_problem problem = {.struct_size = sizes[i], .dtype = PORTMM_F32};
        TEST_FAILS(portmm_prewarm(context, &problem), PORTMM_STATUS_INVALID_ARGUMENT, "struct_size");
        portmm_context_info info = {.struct_size = sizes[i]};
        TEST_FAILS(portmm_context_get_info(context, &info), PORTMM_STATUS_INVALID_ARGUMENT, "struct_size");
        ck_assert_ptr_null(info.backend);
        portmm_cache_stats stats = {.struct_size = sizes[i]};
        TEST_FAILS(portmm_cache_get_stats(context, &stats), PORTMM_STATUS_INVALID_ARGUMENT, "struct_size");
        portmm_backend_info backend = {.struct_size = sizes[i]};
        TEST_FAILS(portmm_inventory_get_backend(inventory, 0, &backend), PORTMM_STATUS_INVALID_ARGUMENT, "struct_size");
        portmm_device_info device = {.struct_size = sizes[i]};
        TEST_FAILS(portmm_inventory_get_device(inventory, 0, &device), PORTMM_STATUS_INVALID_ARGUMENT, "struct_size");
    }
    portmm_inventory_destroy(inventory);
}
END_TEST

START_TEST(a_later_structure_is_taken_if_its_new_members_are_zero) {
    LATER(portmm_context_options) options = {.known = {.struct_size = sizeof options}};
    portmm_context *context;
    options.known.backend = test_get_target(_i)->spec;
    TEST_OK(portmm_context_create(&options.known, &context));
    portmm_context_destroy(context);
    options.unknown[63] = 1;
    TEST_FAILS(portmm_context_create(&options.known, &context), PORTMM_STATUS_INVALID_ARGUMENT, "struct_size");
    ck_assert_ptr_null(context);
    portmm_inventory *inventory;
    TEST_FAILS(portmm_inventory_create(&options.known, &inventory), PORTMM_STATUS_INVALID_ARGUMENT, "struct_size");
    LATER(portmm_problem) problem = {.known = PORTMM_PROBLEM_INIT};
    problem.known.struct_size = sizeof problem;
    TEST_OK(portmm_prewarm(test_get_context(_i), &problem.known));
    problem.unknown[0] = 1;
    TEST_FAILS(portmm_prewarm(test_get_context(_i), &problem.known), PORTMM_STATUS_INVALID_ARGUMENT, "struct_size");
}
END_TEST

START_TEST(what_a_later_structure_asks_for_is_zero) {
    LATER(portmm_context_info) info;
    memset(&info, 0xee, sizeof info);
    info.known.struct_size = sizeof info;
    TEST_OK(portmm_context_get_info(test_get_context(_i), &info.known));
    ck_assert_uint_eq(info.known.struct_size, sizeof info);
    ck_assert_str_eq(info.known.engine, test_get_target(_i)->engine);
    for (size_t i = 0; i < sizeof info.unknown; i++)
        ck_assert_uint_eq(info.unknown[i], 0);
}
END_TEST

START_TEST(an_earlier_structure_is_filled_to_its_end) {
    portmm_context_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = offsetof(portmm_context_info, engine);
    TEST_OK(portmm_context_get_info(test_get_context(_i), &info));
    ck_assert_ptr_nonnull(info.driver_version);
    ck_assert_ptr_null(info.engine);
    ck_assert_ptr_null(info.reason);
    portmm_context_options options = {.struct_size = offsetof(portmm_context_options, module_path)};
    options.backend = test_get_target(_i)->spec;
    options.module_path = "/nowhere"; /* beyond the end, so not looked at */
    options.log_level = (portmm_log_level)99;
    portmm_context *context;
    TEST_OK(portmm_context_create(&options, &context));
    portmm_context_destroy(context);
}
END_TEST

/* ---- options ---- */

START_TEST(bad_options_are_named) {
    portmm_context *context;
    portmm_context_options good = PORTMM_CONTEXT_OPTIONS_INIT, options;
    good.backend = test_get_target(_i)->spec;
    options = good;
    options.engine = "steam";
    TEST_FAILS(portmm_context_create(&options, &context), PORTMM_STATUS_INVALID_ARGUMENT, "\"steam\"");
    ck_assert_ptr_null(context);
    TEST_FAILS(portmm_context_create(&options, &context), PORTMM_STATUS_INVALID_ARGUMENT, test_get_target(_i)->engine);
    options = good;
    options.cache_mode = (portmm_cache_mode)99;
    TEST_FAILS(portmm_context_create(&options, &context), PORTMM_STATUS_INVALID_ARGUMENT, "cache_mode = 99");
    options = good;
    options.warmup = (portmm_warmup)-1;
    TEST_FAILS(portmm_context_create(&options, &context), PORTMM_STATUS_INVALID_ARGUMENT, "warmup = -1");
}
END_TEST

START_TEST(bad_environment_variables_are_named) {
    static const char *const names[] = {"PORTMM_CACHE", "PORTMM_WARMUP"};
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = test_get_target(_i)->spec;
    for (int i = 0; i < 2; i++) {
        portmm_context *context;
        const char *set = getenv(names[i]);
        char *kept = set != NULL ? strdup(set) : NULL;
        setenv(names[i], "sometimes", 1);
        portmm_status status = portmm_context_create(&options, &context);
        test_expect_failure(status, names[i], PORTMM_STATUS_INVALID_ARGUMENT, names[i]);
        test_expect_failure(status, names[i], PORTMM_STATUS_INVALID_ARGUMENT, "\"sometimes\"");
        setenv(names[i], "", 1); /* the same as unset */
        TEST_OK(portmm_context_create(&options, &context));
        portmm_context_destroy(context);
        if (kept != NULL)
            setenv(names[i], kept, 1);
        else
            unsetenv(names[i]);
        free(kept);
    }
}
END_TEST

/* ---- texts ---- */

START_TEST(a_success_clears_the_last_error) {
    portmm_context *context = test_get_context(_i);
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    uint64_t totals[PORTMM_PHASE_COUNT];
    float one = 1;
    portmm_queue *queue;
    REFUSED(portmm_queue_finish(NULL));
    TEST_OK(portmm_context_get_info(context, &info));
    ck_assert_str_eq(portmm_last_error(), "");
    REFUSED(portmm_queue_finish(NULL));
    TEST_OK(portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, 1, 1, 1, 1, &one, 1, &one, 1,
                              0, &one, 1));
    ck_assert_str_eq(portmm_last_error(), "");
    REFUSED(portmm_queue_finish(NULL));
    TEST_OK(portmm_queue_create(context, &queue));
    ck_assert_str_eq(portmm_last_error(), "");
    REFUSED(portmm_queue_finish(NULL));
    TEST_OK(portmm_queue_finish(queue));
    ck_assert_str_eq(portmm_last_error(), "");
    REFUSED(portmm_queue_finish(NULL));
    TEST_OK(portmm_timeline_totals(context, totals));
    ck_assert_str_eq(portmm_last_error(), "");
    portmm_queue_destroy(queue);
}
END_TEST

static void *fail_in_a_thread(void *argument) {
    bool *right = argument;
    *right = portmm_last_error()[0] == '\0'; /* what failed elsewhere */
    *right = *right && portmm_event_wait(NULL) == PORTMM_STATUS_INVALID_ARGUMENT;
    *right = *right && strstr(portmm_last_error(), "portmm_event_wait") != NULL;
    return NULL;
}

START_TEST(the_last_error_is_that_of_the_thread) {
    pthread_t thread;
    bool right = false;
    REFUSED(portmm_queue_finish(NULL));
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_in_a_thread, &right), 0);
    pthread_join(thread, NULL);
    ck_assert(right);
    ck_assert_ptr_nonnull(strstr(portmm_last_error(), "portmm_queue_finish"));
}
END_TEST

START_TEST(every_number_has_a_name) {
    ck_assert_str_eq(portmm_version(), PORTMM_VERSION_STRING);
    ck_assert_str_eq(portmm_status_name(PORTMM_STATUS_UNAVAILABLE), "UNAVAILABLE");
    ck_assert_str_eq(portmm_phase_name(PORTMM_PHASE_FIRST_LAUNCH), "first_launch");
    for (int i = -1; i < 20; i++) {
        ck_assert_str_ne(portmm_status_name((portmm_status)i), "");
        ck_assert_str_ne(portmm_status_text((portmm_status)i), "");
        ck_assert_str_ne(portmm_phase_name((portmm_phase)i), "");
    }
    for (int i = 0; i < PORTMM_PHASE_COUNT; i++)
        ck_assert_str_ne(portmm_phase_name((portmm_phase)i), portmm_phase_name((portmm_phase)PORTMM_PHASE_COUNT));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("api");
    TCase *cases = tcase_create("api");
    int targets = test_target_count();
    tcase_add_test(cases, destroying_nothing_is_allowed);
    tcase_add_test(cases, a_context_is_needed);
    tcase_add_loop_test(cases, an_output_is_needed, 0, targets);
    tcase_add_loop_test(cases, queues_buffers_and_events_are_needed, 0, targets);
    tcase_add_test(cases, an_inventory_is_needed);
    tcase_add_test(cases, properties_are_told_of_what_is_there);
    tcase_add_loop_test(cases, buffers_have_bounds, 0, targets);
    tcase_add_loop_test(cases, prewarm_checks_its_problem, 0, targets);
    tcase_add_loop_test(cases, a_missing_struct_size_is_named, 0, targets);
    tcase_add_loop_test(cases, a_later_structure_is_taken_if_its_new_members_are_zero, 0, targets);
    tcase_add_loop_test(cases, what_a_later_structure_asks_for_is_zero, 0, targets);
    tcase_add_loop_test(cases, an_earlier_structure_is_filled_to_its_end, 0, targets);
    tcase_add_loop_test(cases, bad_options_are_named, 0, targets);
    tcase_add_loop_test(cases, bad_environment_variables_are_named, 0, targets);
    tcase_add_loop_test(cases, a_success_clears_the_last_error, 0, targets);
    tcase_add_test(cases, the_last_error_is_that_of_the_thread);
    tcase_add_test(cases, every_number_has_a_name);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
