/* SPDX-License-Identifier: Apache-2.0 */
/* Every type, batch and epilogue, on every engine that has it; where an engine lacks a type, it says so. README.md
 * states the bounds. */
#include <stdbool.h>
#include <string.h>

#include "support/case.h"
#include "support/suite.h"

/* ---- the cases ---- */

/* What an engine has; one that is not here has f32 and f64, without epilogues. */
static const struct {
    const char *backend, *engine;
    portmm_dtype last; /* and all before it */
    bool has_epilogues;
} engines[] = {{"cpu", "openblas", PORTMM_BF16, true},
               {"opencl", "starter", PORTMM_BF16, true},
               {"opencl", "clblast", PORTMM_C64, false}};
enum { ENGINES = sizeof engines / sizeof *engines };

static bool has_type(int target, portmm_dtype dtype, bool *has_epilogues) {
    const test_target *this = test_get_target(target);
    portmm_dtype last = PORTMM_F64;
    *has_epilogues = false;
    for (int i = 0; i < ENGINES; i++)
        if (strncmp(this->spec, engines[i].backend, strlen(engines[i].backend)) == 0 &&
            strcmp(this->engine, engines[i].engine) == 0) {
            last = engines[i].last;
            *has_epilogues = engines[i].has_epilogues;
        }
    bool is_double = dtype == PORTMM_F64 || dtype == PORTMM_C64;
    bool device_has_doubles = false; /* then there is a target for it */
    for (int i = 0; i < test_target_count(); i++)
        if (strcmp(test_get_target(i)->spec, this->spec) == 0 && test_get_target(i)->dtype == PORTMM_F64)
            device_has_doubles = true;
    return dtype <= last && (!is_double || device_has_doubles);
}

static const int64_t sizes[][3] = {{1, 1, 1},    {2, 3, 4},    {17, 33, 9}, {64, 32, 48}, {5, 4, 0},
                                   {37, 70, 65}, {16, 16, 16}, {1, 40, 3},  {65, 1, 20},  {7, 9, 300}};
enum { SIZES = sizeof sizes / sizeof *sizes };

START_TEST(every_type_batch_and_epilogue_is_right) {
    if (test_get_target(_i)->dtype != PORTMM_F32)
        return; /* the engine's turn has been */
    for (int type = TEST_FIRST_DTYPE; type <= TEST_LAST_DTYPE; type++) {
        bool has_epilogues, has = has_type(_i, (portmm_dtype)type, &has_epilogues);
        for (uint32_t index = 0; index < 180 && has; index++) {
            test_case this = test_case_draw((portmm_dtype)type, sizes[index % SIZES], index, has_epilogues);
            TEST_OK(test_case_run(test_get_context(_i), &this));
        }
    }
}
END_TEST

START_TEST(a_type_that_is_missing_is_named) {
    static const char *const names[] = {[PORTMM_F32] = "f32", [PORTMM_F64] = "f64", [PORTMM_C32] = "c32",
                                        [PORTMM_C64] = "c64", [PORTMM_F16] = "f16", [PORTMM_BF16] = "bf16"};
    for (int type = TEST_FIRST_DTYPE; type <= TEST_LAST_DTYPE; type++) {
        bool has_epilogues;
        test_case this = {.dtype = (portmm_dtype)type, .m = 3, .n = 4, .k = 5, .form = test_get_form(0), .alpha = 1};
        if (!has_type(_i, (portmm_dtype)type, &has_epilogues))
            TEST_FAILS(test_case_run(test_get_context(_i), &this), PORTMM_STATUS_UNSUPPORTED, names[type]);
    }
}
END_TEST

START_TEST(an_epilogue_that_is_missing_is_named) {
    bool has_epilogues;
    test_case this = {.dtype = PORTMM_F32, .m = 3, .n = 4, .k = 5, .form = test_get_form(0), .alpha = 1};
    this.activation = PORTMM_ACTIVATION_RELU;
    has_type(_i, PORTMM_F32, &has_epilogues);
    if (!has_epilogues)
        TEST_FAILS(test_case_run(test_get_context(_i), &this), PORTMM_STATUS_UNSUPPORTED, "no bias and no activation");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("types");
    TCase *cases = tcase_create("types");
    int targets = test_target_count();
    tcase_add_loop_test(cases, every_type_batch_and_epilogue_is_right, 0, targets);
    tcase_add_loop_test(cases, a_type_that_is_missing_is_named, 0, targets);
    tcase_add_loop_test(cases, an_epilogue_that_is_missing_is_named, 0, targets);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
