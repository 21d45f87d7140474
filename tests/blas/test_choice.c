/* SPDX-License-Identifier: Apache-2.0 */
/* Which route is settled on, for given times. */
#include <check.h>
#include <string.h>

#include "choice.h"

static pmm_blas_choices choices;
static const bool all[PMM_BLAS_ROUTES] = {true, true, true}, next_only[PMM_BLAS_ROUTES] = {true};

static pmm_blas_call make_call(int m, int n, int k) {
    return (pmm_blas_call){.type = PMM_BLAS_S, .m = m, .n = n, .k = k};
}

/* Products of one class until it is settled; each takes what `ns` says for its route, the first one ten times that. */
static pmm_blas_route settle(pmm_blas_class *class, const double ns[PMM_BLAS_ROUTES], int used[PMM_BLAS_ROUTES]) {
    const pmm_blas_call call = make_call(100, 100, 100);
    memset(used, 0, PMM_BLAS_ROUTES * sizeof *used);
    for (int i = 0; i < 100 && class->settled < 0; i++) {
        pmm_blas_route route = pmm_blas_choose(class, all, false);
        pmm_blas_note_time(class, route, &call, used[route]++ == 0 ? 10 * ns[route] : ns[route]);
    }
    ck_assert_int_ge(class->settled, 0);
    return (pmm_blas_route) class->settled;
}

START_TEST(choice_is_the_fastest) {
    static const struct {
        double ns[PMM_BLAS_ROUTES];
        pmm_blas_route expected;
        int device_used; /* at most */
    } cases[] = {{{900, 800, 500}, PMM_BLAS_DEVICE, 5},   {{900, 500, 800}, PMM_BLAS_CPU, 5},
                 {{500, 800, 900}, PMM_BLAS_NEXT, 5},     {{500, 490, 480}, PMM_BLAS_NEXT, 5},
                 {{500, 400, 395}, PMM_BLAS_CPU, 5},      {{500, 5000, 1100}, PMM_BLAS_NEXT, 2},
                 {{5000, 5000, 1000}, PMM_BLAS_DEVICE, 5}};
    int used[PMM_BLAS_ROUTES];
    memset(&choices, 0, sizeof choices);
    const pmm_blas_call call = make_call(100, 100, 100);
    ck_assert_int_eq(settle(pmm_blas_class_of(&choices, &call), cases[_i].ns, used), cases[_i].expected);
    ck_assert_int_le(used[PMM_BLAS_DEVICE], cases[_i].device_used);
    ck_assert_int_ge(used[PMM_BLAS_NEXT], PMM_BLAS_TRIALS);
}
END_TEST

START_TEST(choice_waits_for_what_is_not_open) {
    memset(&choices, 0, sizeof choices);
    const pmm_blas_call call = make_call(64, 65, 127);
    pmm_blas_class *class = pmm_blas_class_of(&choices, &call);
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(pmm_blas_choose(class, next_only, true), PMM_BLAS_NEXT);
        pmm_blas_note_time(class, PMM_BLAS_NEXT, &call, 1000);
    }
    ck_assert_int_eq(class->settled, -1);
    ck_assert_int_ne(pmm_blas_choose(class, all, false), PMM_BLAS_NEXT);
}
END_TEST

START_TEST(choice_leaves_what_fails) {
    const double ns[PMM_BLAS_ROUTES] = {1000, 1000, 100};
    int used[PMM_BLAS_ROUTES];
    memset(&choices, 0, sizeof choices);
    const pmm_blas_call call = make_call(100, 100, 100);
    pmm_blas_class *class = pmm_blas_class_of(&choices, &call);
    ck_assert_int_eq(settle(class, ns, used), PMM_BLAS_DEVICE);
    ck_assert_int_eq(pmm_blas_choose(class, next_only, false), PMM_BLAS_NEXT); /* it is gone */
    pmm_blas_note_failure(class, PMM_BLAS_DEVICE);
    ck_assert_int_eq(pmm_blas_choose(class, all, false), PMM_BLAS_NEXT);
}
END_TEST

START_TEST(choice_has_classes) {
    memset(&choices, 0, sizeof choices);
    const pmm_blas_call first = make_call(64, 64, 64), same = make_call(127, 64, 100), other = make_call(128, 64, 64);
    pmm_blas_call of_type = first;
    of_type.type = PMM_BLAS_D;
    pmm_blas_class *class = pmm_blas_class_of(&choices, &first);
    ck_assert_ptr_nonnull(class);
    ck_assert_ptr_eq(pmm_blas_class_of(&choices, &same), class);
    ck_assert_ptr_ne(pmm_blas_class_of(&choices, &other), class);
    ck_assert_ptr_ne(pmm_blas_class_of(&choices, &of_type), class);
    size_t found = 3;
    for (int m = 1; m < 31; m++)
        for (int n = 1; n < 31; n++)
            for (int k = 1; k < 4; k++) {
                const pmm_blas_call call = make_call(1 << m, 1 << n, 1 << k);
                found += pmm_blas_class_of(&choices, &call) != NULL;
            }
    ck_assert_uint_eq(found, PMM_BLAS_MAX_CLASSES);
    ck_assert_ptr_eq(pmm_blas_class_of(&choices, &same), class); /* also in a full table */
}
END_TEST

int main(void) {
    Suite *suite = suite_create("blas choice");
    TCase *tests = tcase_create("choice");
    suite_add_tcase(suite, tests);
    tcase_add_loop_test(tests, choice_is_the_fastest, 0, 7);
    tcase_add_test(tests, choice_waits_for_what_is_not_open);
    tcase_add_test(tests, choice_leaves_what_fails);
    tcase_add_test(tests, choice_has_classes);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
