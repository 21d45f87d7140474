/* SPDX-License-Identifier: Apache-2.0 */
/* The product that a helper makes in place of a large one needs the same kernels and little time. */
#include <check.h>
#include <stdint.h>

#include "gemm_check.h"
#include "warmup.h"

static pmm_gemm make_gemm(portmm_layout layout, portmm_transpose transa, portmm_transpose transb, int64_t m, int64_t n,
                          int64_t k, int64_t padding) {
    pmm_gemm gemm = {.dtype = PORTMM_F32, .layout = layout, .transa = transa, .transb = transb, .m = m, .n = n, .k = k};
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(&gemm, shapes);
    gemm.lda = shapes[PMM_A].inner + padding;
    gemm.ldb = shapes[PMM_B].inner + padding;
    gemm.ldc = shapes[PMM_C].inner + padding;
    return gemm;
}

static void check_shrunk(const pmm_gemm *before, int64_t padding) {
    pmm_gemm after = *before;
    pmm_warmup_shrink(&after);
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(&after, shapes);
    ck_assert_int_eq(after.lda, shapes[PMM_A].inner + padding);
    ck_assert_int_eq(after.ldb, shapes[PMM_B].inner + padding);
    ck_assert_int_eq(after.ldc, shapes[PMM_C].inner + padding);
    ck_assert_int_eq((before->m - after.m) % 1024, 0);
    ck_assert_int_eq((before->n - after.n) % 1024, 0);
    ck_assert_int_eq((before->k - after.k) % 1024, 0);
    double steps = (double)after.m * (double)after.n * (double)after.k;
    double given = (double)before->m * (double)before->n * (double)before->k;
    ck_assert(after.m >= 1 && after.n >= 1 && after.k >= 1);
    ck_assert(steps >= (given < 1073741824.0 ? given : 1073741824.0));
    ck_assert(steps <= (given < 1e10 ? given : 1e10)); /* at most what 2047^3 is */
}

START_TEST(test_all_forms) {
    static const int64_t sizes[][3] = {
        {1000, 1000, 1000},  {1, 1, 1},          {2048, 2048, 2048}, {5000, 7, 100000},
        {10001, 20003, 777}, {16, 65536, 65537}, {INT32_MAX, 1, 1},  {100000, 100000, 100000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int form = 0; form < 8; form++)
            for (int64_t padding = 0; padding < 4; padding += 3) {
                pmm_gemm gemm = make_gemm(
                    form & 1 ? PORTMM_ROW_MAJOR : PORTMM_COL_MAJOR, form & 2 ? PORTMM_TRANS : PORTMM_NO_TRANS,
                    form & 4 ? PORTMM_CONJ_TRANS : PORTMM_NO_TRANS, sizes[i][0], sizes[i][1], sizes[i][2], padding);
                check_shrunk(&gemm, padding);
            }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("warm-up sizes");
    TCase *tests = tcase_create("shrink");
    tcase_add_test(tests, test_all_forms);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
