/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of portmm-bench that need no process: statistics, the check of results, requests, the command line. */
#include "machine_state.h"
#include "options.h"
#include "platform.h"
#include "request.h"
#include "stats.h"
#include "text.h"
#include "verify.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the machine's state ---- */

static void write_text(const char *directory, const char *name, const char *text) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void make_folder(const char *directory, const char *name) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    ck_assert(bench_make_directory(path));
}

START_TEST(test_clock_is_read) {
    static const char *const folders[] = {"cpu0", "cpu0/cpufreq", "cpu0/thermal_throttle", "cpu1",
                                          "cpu1/thermal_throttle"};
    char *cpus = bench_make_private_directory();
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        make_folder(cpus, folders[i]);
    }
    write_text(cpus, "cpu0/cpufreq/scaling_governor", "powersave\n");
    write_text(cpus, "cpu0/cpufreq/scaling_max_freq", "1200000\n");
    write_text(cpus, "cpu0/cpufreq/cpuinfo_max_freq", "3600000\n");
    write_text(cpus, "cpu0/thermal_throttle/core_throttle_count", "2\n");
    write_text(cpus, "cpu1/thermal_throttle/core_throttle_count", "5\n");
    json_t *clock = bench_describe_clock(cpus);
    json_t *expected = json_pack("{s:s, s:i, s:i, s:i}", "governor", "powersave", "limit_khz", 1200000, "most_khz",
                                 3600000, "throttle_count", 7);
    ck_assert(json_equal(clock, expected));
    json_decref(clock);
    ck_assert(bench_remove_tree(cpus));
    clock = bench_describe_clock(cpus);
    ck_assert_str_eq(json_string_value(json_object_get(clock, "governor")), "");
    ck_assert_int_eq(json_integer_value(json_object_get(clock, "limit_khz")), 0);
    json_decref(clock);
    json_decref(expected);
    free(cpus);
}
END_TEST

START_TEST(test_cached_share) {
    char *directory = bench_make_private_directory();
    char path[512];
    write_text(directory, "file", "just written, so it is in memory");
    (void)snprintf(path, sizeof path, "%s/file", directory);
    ck_assert_double_eq(bench_cached_share(path), 1);
    /* A hole that nobody has read is nowhere. */
    FILE *file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, (1 << 24) - 1, SEEK_SET), 0);
    ck_assert_int_ne(fputc('x', file), EOF);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_double_lt(bench_cached_share(path), 0.5);
    ck_assert(bench_remove_tree(directory));
    ck_assert_double_lt(bench_cached_share(path), 0);
    free(directory);
}
END_TEST

/* ---- statistics ---- */

static bench_series make_series(const double *values, size_t count) {
    bench_series series = {0};
    for (size_t i = 0; i < count; i++) {
        bench_series_add(&series, values[i]);
    }
    return series;
}

static const struct summary_case {
    double values[8];
    size_t count;
    double median, min, max, iqr;
} summary_cases[] = {
    {{7}, 1, 7, 7, 7, 0},
    {{4, 2}, 2, 3, 2, 4, 1},
    {{3, 1, 2}, 3, 2, 1, 3, 1},
    {{4, 1, 3, 2}, 4, 2.5, 1, 4, 1.5},
    {{5, 100, 1, 3, 2}, 5, 3, 1, 100, 3},
    {{0}, 0, 0, 0, 0, 0},
};

START_TEST(test_summary) {
    const struct summary_case *row = &summary_cases[_i];
    bench_series series = make_series(row->values, row->count);
    bench_summary summary = bench_summarize(&series);
    ck_assert_double_eq(summary.median, row->median);
    ck_assert_double_eq(summary.min, row->min);
    ck_assert_double_eq(summary.max, row->max);
    ck_assert_double_eq_tol(summary.iqr, row->iqr, 1e-12);
    bench_series_fini(&series);
}
END_TEST

START_TEST(test_summary_keeps_the_order) {
    const double values[] = {3, 1, 2};
    bench_series series = make_series(values, 3);
    (void)bench_summarize(&series);
    ck_assert_mem_eq(series.values, values, sizeof values);
    bench_series_fini(&series);
}
END_TEST

START_TEST(test_lower_median_was_measured) {
    const double values[] = {9, 5, 1, 7};
    bench_series series = make_series(values, 4);
    ck_assert_uint_eq(bench_median_position(&series), 1);
    bench_series_fini(&series);
}
END_TEST

START_TEST(test_noisy_above_ten_percent) {
    ck_assert(!bench_is_noisy(&(bench_summary){.median = 100, .iqr = 10}));
    ck_assert(bench_is_noisy(&(bench_summary){.median = 100, .iqr = 10.1}));
    ck_assert(!bench_is_noisy(&(bench_summary){.median = 100, .iqr = 0}));
}
END_TEST

START_TEST(test_series_grows) {
    bench_series series = {0};
    for (int i = 0; i < 1000; i++) {
        bench_series_add(&series, i);
    }
    ck_assert_uint_eq(series.count, 1000);
    ck_assert_double_eq(bench_quantile(&series, 0.5), 499.5);
    ck_assert_double_eq(bench_quantile(&series, 0), 0);
    ck_assert_double_eq(bench_quantile(&series, 1), 999);
    bench_series_fini(&series);
}
END_TEST

/* ---- the check of results ---- */

typedef struct product {
    bench_problem problem;
    float *a, *b, *c;
} product;

static double element(const float *matrix, bool transposed, int64_t ld, int64_t row, int64_t column) {
    return (double)(transposed ? matrix[column * ld + row] : matrix[row * ld + column]);
}

/* The product in the plainest order there is. */
static product make_product(int64_t m, int64_t n, int64_t k, bool transa, bool transb) {
    product self = {.problem = {m, n, k, BENCH_F32, transa, transb}};
    self.a = bench_resize(NULL, (size_t)(m * k), sizeof(float));
    self.b = bench_resize(NULL, (size_t)(k * n), sizeof(float));
    self.c = bench_resize(NULL, (size_t)(m * n), sizeof(float));
    for (int64_t i = 0; i < m * k; i++) {
        self.a[i] = (float)((i * 7919 + 13) % 2001 - 1000) * 1e-3F;
    }
    for (int64_t i = 0; i < k * n; i++) {
        self.b[i] = (float)((i * 104729 + 7) % 2003 - 1001) * 1e-3F;
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++) {
                sum += element(self.a, transa, bench_lda(&self.problem), i, l) *
                       element(self.b, transb, bench_ldb(&self.problem), l, j);
            }
            self.c[i * n + j] = (float)sum;
        }
    }
    return self;
}

static bench_verdict verify(const product *self) {
    return bench_verify(&self->problem, self->a, self->b, self->c);
}

static void free_product(product *self) {
    free(self->a);
    free(self->b);
    free(self->c);
}

static const bench_shape verify_shapes[] = {
    {1, 1, 1}, {3, 5, 7}, {64, 64, 64}, {65, 513, 257}, {130, 1, 300}, {1, 600, 2}, {67, 66, 1},
};
enum { VERIFY_SHAPE_COUNT = sizeof verify_shapes / sizeof verify_shapes[0] };

/* Every shape with every transpose, right and with its last element a little wrong. */
START_TEST(test_verify) {
    const bench_shape *shape = &verify_shapes[_i / 4];
    product self = make_product(shape->m, shape->n, shape->k, (_i & 1) != 0, (_i & 2) != 0);
    bench_verdict verdict = verify(&self);
    ck_assert(verdict.correct);
    ck_assert_double_lt(verdict.relative_error, 0x1p-24);
    ck_assert_int_eq(verdict.rows, shape->m);
    self.c[shape->m * shape->n - 1] += 0.02F;
    ck_assert(!verify(&self).correct);
    self.c[shape->m * shape->n - 1] = NAN;
    ck_assert(!verify(&self).correct);
    free_product(&self);
}
END_TEST

START_TEST(test_verify_sees_a_small_error_everywhere) {
    product self = make_product(64, 64, 64, false, false);
    for (int i = 0; i < 64 * 64; i++) {
        self.c[i] *= 1 + 1e-4F;
    }
    bench_verdict verdict = verify(&self);
    ck_assert(!verdict.correct);
    ck_assert_double_gt(verdict.relative_error, 0x1p-24);
    free_product(&self);
}
END_TEST

START_TEST(test_verify_takes_64_rows_of_a_large_product) {
    /* 2^30 multiplications and a few more, of zeros: what counts here is which rows are looked at. */
    bench_problem problem = {.m = 70000, .n = 16, .k = 1024, .dtype = BENCH_F32};
    float *a = calloc((size_t)(problem.m * problem.k), sizeof(float));
    float *b = calloc((size_t)(problem.k * problem.n), sizeof(float));
    float *c = calloc((size_t)(problem.m * problem.n), sizeof(float));
    ck_assert(a != NULL && b != NULL && c != NULL);
    bench_verdict verdict = bench_verify(&problem, a, b, c);
    ck_assert(verdict.correct);
    ck_assert_int_eq(verdict.rows, 64);
    for (int64_t i = 0; i < problem.m * problem.n; i++) {
        c[i] = 1;
    }
    ck_assert(!bench_verify(&problem, a, b, c).correct);
    free(a);
    free(b);
    free(c);
}
END_TEST

/* ---- requests ---- */

START_TEST(test_request_survives_the_way) {
    bench_request sent = {
        .backend = "opencl:1",
        .engine = "clblast",
        .start = "hybrid",
        .device_index = 1,
        .problem = {3, 4, 5, BENCH_F64, true, false},
        .runs = 6,
        .loops = 7,
        .runs_bounded = true,
        .steady = true,
    };
    bench_request got;
    void *storage = NULL;
    char *text = bench_request_encode(&sent);
    ck_assert(bench_request_decode(text, &got, &storage));
    ck_assert_str_eq(got.backend, "opencl:1");
    ck_assert_str_eq(got.engine, "clblast");
    ck_assert_str_eq(got.start, "hybrid");
    ck_assert_int_eq(got.device_index, 1);
    ck_assert_int_eq(got.problem.m * 100 + got.problem.n * 10 + got.problem.k, 345);
    ck_assert_int_eq(got.problem.dtype, BENCH_F64);
    ck_assert(got.problem.transa && !got.problem.transb && got.runs_bounded && got.steady && !got.verify &&
              !got.resolve);
    ck_assert_int_eq(got.runs * 10 + got.loops, 67);
    bench_request_free(storage);
    free(text);
    ck_assert(!bench_request_decode("{}", &got, &storage));
    ck_assert(!bench_request_decode("x", &got, &storage));
}
END_TEST

START_TEST(test_any_bytes_become_a_json_string) {
    json_t *string = bench_json_string("Devi\xff"
                                       "ce");
    ck_assert_str_eq(json_string_value(string), "Devi?ce");
    json_decref(string);
}
END_TEST

/* ---- the command line ---- */

static char *parse(const char *arguments, bench_options *options) {
    /* The options keep pointers into it. */
    static char line[512];
    char *words[64] = {(char *)"portmm-bench"};
    int count = 1;
    strcpy(line, arguments);
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        words[count++] = word;
    }
    return bench_options_parse(count, words, options);
}

START_TEST(test_defaults) {
    bench_options options;
    ck_assert_ptr_null(parse("", &options));
    ck_assert_int_eq(options.action, BENCH_MEASURE);
    ck_assert_uint_eq(options.backend_count, 1);
    ck_assert_str_eq(options.backends[0], "auto");
    ck_assert_uint_eq(options.shape_count, 1);
    ck_assert_int_eq(options.shapes[0].m, 1000);
    ck_assert_int_eq(options.shapes[0].n, 1000);
    ck_assert_int_eq(options.shapes[0].k, 1000);
    ck_assert_int_eq(options.dtype, BENCH_F32);
    ck_assert(options.temperatures[BENCH_COLD] && !options.temperatures[BENCH_DRIVER]);
    ck_assert(options.temperatures[BENCH_CACHED] && options.temperatures[BENCH_RELAUNCH]);
    ck_assert(options.temperatures[BENCH_WARM]);
    ck_assert_int_eq(options.runs, 10);
    ck_assert_int_eq(options.loops, 10);
    ck_assert_int_eq(options.samples, 5);
    ck_assert(options.verify && !options.peers && !options.explain && !options.quiet);
    ck_assert_str_eq(options.engine, "");
    ck_assert_ptr_null(options.paths[BENCH_JSON]);
    bench_options_fini(&options);
}
END_TEST

START_TEST(test_everything_given) {
    bench_options options;
    ck_assert_ptr_null(
        parse("--backend cpu,opencl:1 --shape 1x2x3,4x5x6 --dtype f64 --transa t --transb n --engine e "
              "--temperature driver --runs 0 --loops 2 --samples 3 --no-verify --peers --json - --explain",
              &options));
    ck_assert_uint_eq(options.backend_count, 2);
    ck_assert_str_eq(options.backends[1], "opencl:1");
    ck_assert(!bench_options_want_all(&options));
    ck_assert_uint_eq(options.shape_count, 2);
    ck_assert_int_eq(options.shapes[1].m * 100 + options.shapes[1].n * 10 + options.shapes[1].k, 456);
    ck_assert_int_eq(options.dtype, BENCH_F64);
    ck_assert(options.transa && !options.transb);
    ck_assert_str_eq(options.engine, "e");
    ck_assert(options.temperatures[BENCH_DRIVER] && !options.temperatures[BENCH_COLD]);
    ck_assert_int_eq(options.runs * 100 + options.loops * 10 + options.samples, 23);
    ck_assert(!options.verify && options.peers && options.explain);
    ck_assert_str_eq(options.paths[BENCH_JSON], "-");
    bench_options_fini(&options);
}
END_TEST

START_TEST(test_dimensions_default_one_by_one) {
    bench_options options;
    ck_assert_ptr_null(parse("-n 7 -k8", &options));
    ck_assert_int_eq(options.shapes[0].m, 1000);
    ck_assert_int_eq(options.shapes[0].n, 7);
    ck_assert_int_eq(options.shapes[0].k, 8);
    bench_options_fini(&options);
    ck_assert_ptr_null(parse("--size 2147483647,5 --backend all", &options));
    ck_assert_int_eq(options.shapes[0].k, 2147483647);
    ck_assert_int_eq(options.shapes[1].m, 5);
    ck_assert(bench_options_want_all(&options));
    bench_options_fini(&options);
}
END_TEST

START_TEST(test_complaint_leaves_nothing_behind) {
    bench_options options;
    char *complaint = parse("--size 5,x", &options);
    ck_assert_ptr_nonnull(complaint);
    ck_assert_ptr_null(strchr(complaint, '\n'));
    ck_assert_ptr_null(options.shapes);
    free(complaint);
}
END_TEST

static const struct number_case {
    const char *text;
    bool valid;
} number_cases[] = {
    {"1", true},    {"100", true},   {"007", true},  {"0", false},   {"101", false},
    {"", false},    {" 1", false},   {"1 ", false},  {"+1", false},  {"-1", false},
    {"1.0", false}, {"0x10", false}, {"1e1", false}, {"ten", false}, {"99999999999999999999999999", false},
};

START_TEST(test_numbers_are_strict) {
    int64_t value = -7;
    const struct number_case *row = &number_cases[_i];
    ck_assert_msg(bench_parse_integer(row->text, 1, 100, &value) == row->valid, "'%s'", row->text);
    ck_assert_msg(row->valid == (value != -7), "'%s' was written on failure", row->text);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("bench_units");
    TCase *tests = tcase_create("units");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_clock_is_read);
    tcase_add_test(tests, test_cached_share);
    tcase_add_loop_test(tests, test_summary, 0, sizeof summary_cases / sizeof summary_cases[0]);
    tcase_add_test(tests, test_summary_keeps_the_order);
    tcase_add_test(tests, test_lower_median_was_measured);
    tcase_add_test(tests, test_noisy_above_ten_percent);
    tcase_add_test(tests, test_series_grows);
    tcase_add_loop_test(tests, test_verify, 0, 4 * VERIFY_SHAPE_COUNT);
    tcase_add_test(tests, test_verify_sees_a_small_error_everywhere);
    tcase_add_test(tests, test_verify_takes_64_rows_of_a_large_product);
    tcase_add_test(tests, test_request_survives_the_way);
    tcase_add_test(tests, test_any_bytes_become_a_json_string);
    tcase_add_test(tests, test_defaults);
    tcase_add_test(tests, test_everything_given);
    tcase_add_test(tests, test_dimensions_default_one_by_one);
    tcase_add_test(tests, test_complaint_leaves_nothing_behind);
    tcase_add_loop_test(tests, test_numbers_are_strict, 0, sizeof number_cases / sizeof number_cases[0]);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
