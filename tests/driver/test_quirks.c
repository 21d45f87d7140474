/* SPDX-License-Identifier: Apache-2.0 */
/* Which records of backend_cl/quirks.c hold for which device, and what a record about binaries does to a capture. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "payload.h"
#include "program.h"
#include "quirks.h"

static struct {
    const char *platform, *driver; /* NULL: the driver fails */
    cl_device_type type;
} told;

static cl_int give(const void *value, size_t size, size_t room, void *target) {
    if (size > room)
        return CL_INVALID_VALUE;
    memcpy(target, value, size);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id id, cl_platform_info property, size_t room, void *value,
                                            size_t *size) {
    (void)id, (void)size;
    if (property != CL_PLATFORM_NAME || told.platform == NULL)
        return CL_INVALID_VALUE;
    return give(told.platform, strlen(told.platform) + 1, room, value);
}

static cl_int CL_API_CALL get_device_info(cl_device_id id, cl_device_info property, size_t room, void *value,
                                          size_t *size) {
    cl_platform_id platform = NULL;
    (void)id, (void)size;
    if (property == CL_DEVICE_PLATFORM)
        return give(&platform, sizeof platform, room, value);
    if (property == CL_DEVICE_TYPE && told.type != 0)
        return give(&told.type, sizeof told.type, room, value);
    if (property == CL_DRIVER_VERSION && told.driver != NULL)
        return give(told.driver, strlen(told.driver) + 1, room, value);
    return CL_INVALID_DEVICE;
}

static pmm_cl_match match(const char *platform, const char *driver, cl_device_type type) {
    const pmm_cl_api api = {.clGetDeviceInfo = get_device_info, .clGetPlatformInfo = get_platform_info};
    told.platform = platform, told.driver = driver, told.type = type;
    return pmm_cl_quirks_match(&api, NULL);
}

static const struct {
    const char *platform, *driver;
    cl_device_type type;
    unsigned quirks;
    int reasons;
} cases[] = {
    {"Portable Computing Language", "3.1+debian", CL_DEVICE_TYPE_CPU, PMM_CL_ONE_QUEUE_AT_A_TIME, 2},
    {"Portable Computing Language", "3.1+debian", CL_DEVICE_TYPE_GPU, PMM_CL_ONE_QUEUE_AT_A_TIME, 1},
    {"Portable Computing Language", "6.0+debian", CL_DEVICE_TYPE_CPU, PMM_CL_ONE_QUEUE_AT_A_TIME, 1},
    {"Portable Computing Language", "6.0+debian", CL_DEVICE_TYPE_GPU, 0, 0},
    {"Intel(R) OpenCL", "2026.22.10.0.01_160000", CL_DEVICE_TYPE_CPU,
     PMM_CL_ONE_QUEUE_AT_A_TIME | PMM_CL_COMPLETE_AT_BUILD, 2},
    {"Intel(R) OpenCL Graphics", "25.18", CL_DEVICE_TYPE_GPU, 0, 0},
    {"Intel(R) OpenCL", NULL, CL_DEVICE_TYPE_GPU, 0, 0},
    {"NVIDIA CUDA", "580.95", CL_DEVICE_TYPE_GPU, 0, 0},
    {NULL, NULL, CL_DEVICE_TYPE_CPU, PMM_CL_ONE_QUEUE_AT_A_TIME, 1},
    {NULL, NULL, 0, 0, 0},
    {"a name that is longer than the one of any record, and longer than the room for one", "3.1", 0, 0, 0},
};

START_TEST(the_records_of_a_device) {
    const pmm_cl_match found = match(cases[_i].platform, cases[_i].driver, cases[_i].type);
    int reasons = 0;
    while (pmm_cl_quirks_reason(&found, reasons) != NULL)
        ck_assert_uint_gt(strlen(pmm_cl_quirks_reason(&found, reasons++)), 20);
    ck_assert_msg(pmm_cl_quirks_find(&found) == cases[_i].quirks, "%s: %u", cases[_i].platform,
                  pmm_cl_quirks_find(&found));
    ck_assert_int_eq(reasons, cases[_i].reasons);
}
END_TEST

/* A driver that finishes code at a launch is asked again for each new kernel and size; one that does not, once. */
START_TEST(a_complete_binary_is_taken_once) {
    const size_t sizes[2] = {8, 8}, others[2] = {16, 4};
    pmm_program late = {0}, complete = {.quirks = PMM_CL_COMPLETE_AT_BUILD};
    ck_assert(pmm_program_note_launch(&late, "Xgemm", 2, sizes));
    ck_assert(!pmm_program_note_launch(&late, "Xgemm", 2, sizes));
    ck_assert(pmm_program_note_launch(&late, "Xgemm", 2, others));
    ck_assert(pmm_program_note_launch(&complete, "Xgemm", 2, sizes));
    ck_assert(!pmm_program_note_launch(&complete, "Xgemm", 2, others));
    ck_assert(!pmm_program_note_launch(&complete, "CopyPad", 2, others));
    ck_assert_uint_eq(complete.launched.count, 1);
    pmm_launch_set_clear(&complete.stored); /* as from the cache */
    complete.stored = complete.launched;
    complete.launched = (pmm_launch_set){0};
    ck_assert(!pmm_program_note_launch(&complete, "CopyPad", 2, others));
    pmm_launch_set_clear(&complete.stored);
    pmm_launch_set_clear(&late.launched);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("quirks");
    TCase *tests = tcase_create("quirks");
    tcase_add_loop_test(tests, the_records_of_a_device, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tests, a_complete_binary_is_taken_once);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
