/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the starter's kernels at their edges, for Oclgrind to watch: scripts/oclgrind.sh. The test driver stands
 * between, so that Oclgrind's device is CPU-like, and gets the wide kernels, or GPU-like, and gets the tiled one.
 *
 *     run_kernels one|few|all     few: each shape with one type; all: each with every type, in several forms
 */
#include <stdio.h>
#include <string.h>

#include "support/case.h"
#include "support/suite.h"

/* One, primes; 8 rows, vectors of 4, 8 and 16, 64 packed rows, slices of 8 and 16 and tiles of 64, each with its
 * neighbours; k = 0. */
static const int64_t sizes[][3] = {{1, 1, 1},    {2, 3, 5},   {5, 4, 0},    {7, 13, 11},  {9, 17, 65},
                                   {8, 16, 64},  {7, 15, 63}, {16, 16, 16}, {65, 63, 17}, {17, 5, 7},
                                   {64, 64, 16}, {1, 67, 3},  {67, 1, 19},  {3, 9, 131},  {63, 65, 9}};
enum { SIZES = sizeof sizes / sizeof *sizes, TYPES = TEST_LAST_DTYPE - TEST_FIRST_DTYPE + 1, ROUNDS = 3 };

/* What is run: cases number `first` to `last`, `types` of all types each. */
static const struct amount {
    const char *name;
    uint32_t first, last;
    int types;
} amounts[] = {{"one", 4, 4, 1}, {"few", 0, SIZES - 1, 1}, {"all", 0, ROUNDS *SIZES - 1, TYPES}};
static const struct amount *amount;

/* Targets are sorted by engine and then by type, f32 first. */
static portmm_context *get_starter(void) {
    int target = 0;
    while (target + 1 < test_target_count() && strcmp(test_get_target(target)->engine, "starter") != 0)
        target++;
    ck_assert_str_eq(test_get_target(target)->engine, "starter");
    return test_get_context(target);
}

/* On buffers that are written once and as a whole: at a second write to one, Oclgrind takes the first for undone. */
static void run(uint32_t index, portmm_dtype dtype) {
    test_case this = test_case_draw(dtype, sizes[index % SIZES], index, true);
    this.on_host = false;
    TEST_OK(test_case_run(get_starter(), &this));
}

START_TEST(kernels_run) {
    for (uint32_t index = amount->first; index <= amount->last; index++)
        for (uint32_t type = 0; type < (uint32_t)amount->types; type++)
            run(index, (portmm_dtype)(TEST_FIRST_DTYPE + (index + type) % TYPES));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("kernels");
    TCase *cases = tcase_create("kernels");
    tcase_set_timeout(cases, 0);
    tcase_add_test(cases, kernels_run);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    for (size_t i = 0; argc == 2 && i < sizeof amounts / sizeof *amounts; i++)
        if (strcmp(argv[1], amounts[i].name) == 0)
            amount = &amounts[i];
    if (amount == NULL) {
        fprintf(stderr, "usage: %s one|few|all\n", argv[0]);
        return 2;
    }
    return test_main_on_devices(2, (char *[]){argv[0], "opencl", NULL}, make_suite);
}
