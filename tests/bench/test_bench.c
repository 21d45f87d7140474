/* SPDX-License-Identifier: Apache-2.0 */
/* portmm-bench as a user starts it: usage, output and the JSON contract. Argument: the suite, usage, cpu or opencl. */
#define _XOPEN_SOURCE 700
#include "contract.h"
#include "drive.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, SLOWEST_S = 300 };

static void assert_contains(const char *text, const char *part) {
    ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%s", part, text);
}

static char *make_text(const char *format, const char *word) {
    char *text = malloc(strlen(format) + strlen(word) + 1);
    ck_assert_ptr_nonnull(text);
    (void)sprintf(text, format, word);
    return text;
}

static bool has_named(const json_t *rows, const char *name) {
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (strcmp(json_string_value(json_object_get(json_array_get(rows, i), "name")), name) == 0) {
            return true;
        }
    }
    return false;
}

static size_t count_lines(const char *text) {
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += *text == '\n';
    }
    return count;
}

/* ---- usage ---- */

static const struct bad_usage {
    const char *arguments;
    int code;
    const char *complaint; /* is in the first line of stderr */
} bad_usages[] = {
    {"-m 0", 2, "-m '0': give a whole number from 1 to 2147483647"},
    {"-m -5", 2, "-m '-5'"},
    {"-n 12x", 2, "-n '12x'"},
    {"-k nan", 2, "-k 'nan'"},
    {"-k 2147483648", 2, "-k '2147483648'"},
    {"-k 99999999999999999999999", 2, "from 1 to 2147483647"},
    {"-m", 2, "-m needs a value"},
    {"--size 64,0", 2, "--size '0'"},
    {"--size 64,,65", 2, "an item of the list is empty"},
    {"--size 1e3", 2, "--size '1e3'"},
    {"--size 256:4096", 2, "--size '256:4096': give FIRST:LAST:xFACTOR"},
    {"--size 256:128:x2", 2, "--size '256:128:x2'"},
    {"--size 1:9:x1", 2, "--size '1:9:x1'"},
    {"--size 1:2000:1", 2, "more than 1000 sizes"},
    {"--fail-on slower", 2, "--fail-on needs --compare"},
    {"--compare a.json --fail-on faster", 2, "--fail-on 'faster': use slower"},
    {"--from a.json --size 3", 2, "--from and --size exclude each other"},
    {"--from /dev/null", 2, "/dev/null: no JSON document"},
    {"--json - --csv -", 2, "--csv -: --json goes there already"},
    {"--size 64 -m 64", 2, "-m and --size exclude each other"},
    {"--size 64 --shape 1x2x3", 2, "--size and --shape exclude each other"},
    {"-k 3 --shape 1x2x3", 2, "-k and --shape exclude each other"},
    {"--size 64 --size 65", 2, "--size is given twice"},
    {"--shape 10x10", 2, "give MxNxK"},
    {"--shape 1x2x3x4", 2, "give MxNxK"},
    {"--shape 1x2x-3", 2, "give MxNxK"},
    {"--size 2147483647", 2, "choose smaller sizes"},
    {"--dtype f16", 2, "use f32 or f64"},
    {"--transa c", 2, "--transa 'c': use n"},
    {"--transb 1", 2, "--transb '1': use n"},
    {"--temperature hot", 2, "use cold, driver, cached, relaunch or warm"},
    {"--temperature cold,cold", 2, "'cold' is listed twice"},
    {"--backend gpu", 2, "unknown backend 'gpu'; use cpu, opencl, cuda, auto or all"},
    {"--backend cpu:one", 2, "the device index is a whole number"},
    {"--backend auto:1", 2, "'auto' takes no device index"},
    {"--backend all,cpu", 2, "'all' stands alone"},
    {"--backend cpu,cpu", 2, "'cpu' is listed twice"},
    {"--samples 0", 2, "--samples '0': give a whole number from 1"},
    {"--samples 1.5", 2, "--samples '1.5'"},
    {"--runs -1", 2, "--runs '-1': give a whole number from 0"},
    {"--loops ten", 2, "--loops 'ten'"},
    {"--verify --no-verify", 2, "exclude each other"},
    {"--quiet --explain", 2, "exclude each other"},
    {"--quiet=yes", 2, "takes no value"},
    {"--list --json x", 2, "--list measures nothing"},
    {"--json", 2, "--json needs a value"},
    {"--json /nowhere/at/all.json", 2, "cannot write it"},
    {"--json /", 2, "cannot write it"},
    {"--frobnicate", 2, "unknown or ambiguous option '--frobnicate'"},
    {"-x", 2, "unknown or ambiguous option '-x'"},
    {"1000", 2, "unexpected argument '1000'"},
    {"--backend cpu --engine nosuch", 2, "nosuch"},
    {"--backend cpu:99", 3, "cpu:99"},
    {"--backend opencl:99", 3, "opencl:99"},
};
enum { BAD_USAGE_COUNT = sizeof bad_usages / sizeof bad_usages[0] };

START_TEST(test_bad_usage) {
    const struct bad_usage *row = &bad_usages[_i];
    outcome result = drive(row->arguments);
    ck_assert_msg(result.code == row->code, "'%s' ended with %d:\n%s", row->arguments, result.code, result.err);
    assert_contains(result.err, row->complaint);
    ck_assert_msg(strncmp(result.err, "portmm-bench: ", 14) == 0, "who complains?\n%s", result.err);
    ck_assert_str_eq(result.out, "");
    /* One clear line; where a device is missing, one more may list what is there. */
    ck_assert_uint_le(count_lines(result.err), row->code == 3 ? 2 : 1);
    free_outcome(&result);
}
END_TEST

START_TEST(test_devices_are_listed_for_a_bad_index) {
    outcome result = drive("--backend cpu:99");
    assert_contains(result.err, "available: cpu:0 (");
    free_outcome(&result);
}
END_TEST

START_TEST(test_unwritable_json_is_told_before_measuring) {
    outcome result = drive("--backend cpu --samples 10000 --json /nowhere/at/all.json");
    ck_assert_int_eq(result.code, 2);
    ck_assert_double_lt(result.seconds, 60); /* 10000 samples take longer */
    free_outcome(&result);
}
END_TEST

START_TEST(test_failure_keeps_an_old_json_file) {
    char *directory = make_directory();
    char path[256], arguments[512];
    (void)snprintf(path, sizeof path, "%s/old.json", directory);
    (void)snprintf(arguments, sizeof arguments, "--backend cpu:99 --json %s", path);
    write_file(path, "old");
    outcome result = drive(arguments);
    ck_assert_int_eq(result.code, 3);
    free_outcome(&result);
    char *text = read_file(path);
    ck_assert_str_eq(text, "old");
    free(text);
    ck_assert_int_eq(remove(path), 0);
    result = drive(arguments);
    ck_assert_int_eq(result.code, 3);
    free_outcome(&result);
    ck_assert(!file_exists(path));
    remove_directory(directory);
}
END_TEST

START_TEST(test_help_is_enough_to_work_from) {
    static const char *const parts[] = {
        "--backend",   "--engine",      "--list",           "--size",    "--shape",     "--dtype",
        "--transa",    "--transb",      "--samples",        "--runs",    "--loops",     "--verify",
        "--no-verify", "--peers",       "--json",           "--explain", "--quiet",     "--help",
        "--version",   "--temperature", "-m M  -n N  -k K", "Examples",  "Exit status", "relaunch  new process",
    };
    outcome result = drive("--help");
    ck_assert_int_eq(result.code, 0);
    ck_assert_str_eq(result.err, "");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert_contains(result.out, parts[i]);
    }
    free_outcome(&result);
}
END_TEST

START_TEST(test_version) {
    outcome result = drive("--version");
    ck_assert_int_eq(result.code, 0);
    assert_contains(result.out, "portmm-bench 0.");
    free_outcome(&result);
}
END_TEST

START_TEST(test_list_names_every_backend) {
    outcome result = drive("--list");
    ck_assert_int_eq(result.code, 0);
    assert_contains(result.out, "cpu: available");
    assert_contains(result.out, "cpu:0  ");
    assert_contains(result.out, "engines   openblas");
    assert_contains(result.out, "opencl: ");
    assert_contains(result.out, "cuda: ");
    if (strstr(result.out, "unavailable") != NULL) {
        assert_contains(result.out, "reason: ");
    }
    free_outcome(&result);
    result = drive("--list --backend cpu");
    ck_assert_int_eq(result.code, 0);
    ck_assert_ptr_null(strstr(result.out, "opencl: "));
    free_outcome(&result);
}
END_TEST

/* ---- measuring on the CPU ---- */

START_TEST(test_contract_on_cpu) {
    static const char *const temperatures[] = {"cold", "driver", "cached", "relaunch", "warm"};
    outcome result = drive("--backend cpu --size 64 --samples 2 --temperature cold,driver,cached,relaunch,warm "
                           "--json -");
    ck_assert_int_eq(result.code, 0);
    json_t *document = parse_document(result.out);
    check_document(document);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "results")), 5);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "peers")), 0);
    for (size_t i = 0; i < 5; i++) {
        json_t *row = find_result(document, temperatures[i]);
        ck_assert_str_eq(json_string_value(json_object_get(row, "backend")), "cpu");
        ck_assert_int_eq(json_integer_value(json_object_get(row, "samples")), 2);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "m")), 64);
        ck_assert_uint_eq(json_array_size(json_object_get(row, "runs_ms")), 10);
    }
    /* The report is not lost: it goes where it does no harm. */
    assert_contains(result.err, "process to result");
    json_decref(document);
    free_outcome(&result);
}
END_TEST

START_TEST(test_shapes_types_and_transposes) {
    outcome result =
        drive("--backend cpu --shape 33x65x129,1x7x5 --dtype f64 --transa t --transb t --samples 2 --runs 0 "
              "--temperature relaunch --quiet --json -");
    ck_assert_int_eq(result.code, 0);
    ck_assert_ptr_null(strchr(result.err, '\r')); /* no progress; a machine that is not quiet may be named */
    json_t *document = parse_document(result.out);
    check_document(document);
    json_t *results = json_object_get(document, "results"), *first = json_array_get(results, 0);
    ck_assert_uint_eq(json_array_size(results), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(first, "m")), 33);
    ck_assert_int_eq(json_integer_value(json_object_get(first, "n")), 65);
    ck_assert_int_eq(json_integer_value(json_object_get(first, "k")), 129);
    ck_assert_str_eq(json_string_value(json_object_get(first, "dtype")), "f64");
    ck_assert_uint_eq(json_array_size(json_object_get(first, "runs_ms")), 0);
    json_decref(document);
    free_outcome(&result);
}
END_TEST

START_TEST(test_unverified_has_no_error) {
    outcome result = drive("--backend cpu --size 16 --samples 1 --runs 0 --temperature relaunch --no-verify --json -");
    ck_assert_int_eq(result.code, 0);
    assert_contains(result.err, "not verified");
    json_t *document = parse_document(result.out);
    ck_assert(json_is_null(json_object_get(find_result(document, "relaunch"), "max_rel_error")));
    json_decref(document);
    free_outcome(&result);
}
END_TEST

START_TEST(test_report) {
    outcome result = drive("--backend cpu --size 64 --samples 2 --runs 4 --loops 3");
    ck_assert_int_eq(result.code, 0);
    ck_assert_str_eq(result.err, "");
    static const char *const parts[] = {
        "first GEMM ms",
        "process-result ms",
        "steady ms",
        "GFLOP/s",
        "unattributed",
        "runs of 3 products, ms, run #0 first",
        "results verified in double precision: right",
        "cold       new process; libportmm's cache empty, the drivers' caches empty",
        "cached     new process; libportmm's cache full, the drivers' caches empty",
        "relaunch   new process; libportmm's cache full, the drivers' caches full",
        "warm       steady state",
        "Where the time of run #0 went, cpu:0 f32 64x64x64 nn fast cold: its 3 products",
        "moving data",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert_contains(result.out, parts[i]);
    }
    for (const char *line = result.out; *line != '\0'; line += strcspn(line, "\n") + 1) {
        ck_assert_msg(strcspn(line, "\n") <= 100, "over 100 columns: %.120s", line);
    }
    free_outcome(&result);
}
END_TEST

START_TEST(test_explain_tells_every_temperature) {
    outcome result = drive("--backend cpu --size 64 --samples 1 --runs 2 --temperature cold,relaunch --explain");
    ck_assert_int_eq(result.code, 0);
    assert_contains(result.out, "fast cold: its ");
    assert_contains(result.out, "fast relaunch: its ");
    assert_contains(result.out, "From cold to relaunch");
    free_outcome(&result);
}
END_TEST

START_TEST(test_wrong_result_is_found) {
    const char *corrupt = getenv("PORTMM_BENCH_CORRUPT");
    if (corrupt == NULL) {
        return; /* a sanitizer does not let anything be loaded before it */
    }
    setting preload = {"LD_PRELOAD", corrupt};
    const char *arguments = "--backend cpu --size 64 --samples 1 --runs 0 --temperature relaunch --json -";
    outcome result = drive_with(NULL, arguments, preload);
    ck_assert_int_eq(result.code, 1);
    assert_contains(result.err, "WRONG RESULT");
    json_t *document = parse_document(result.out);
    const json_t *error = json_object_get(find_result(document, "relaunch"), "max_rel_error");
    ck_assert_double_gt(json_number_value(error), 0x1p-24);
    json_decref(document);
    free_outcome(&result);
}
END_TEST

START_TEST(test_all_goes_on_with_what_is_there) {
    outcome result = drive("--backend all --size 16 --samples 1 --runs 0 --temperature driver --no-verify --json -");
    ck_assert_int_eq(result.code, 0);
    json_t *document = parse_document(result.out);
    size_t there = json_array_size(json_object_get(document, "results"));
    ck_assert_uint_ge(there, 1);
    ck_assert_msg((strstr(result.err, "not measured: ") != NULL) == (there < 3), "%s", result.err);
    json_decref(document);
    free_outcome(&result);
}
END_TEST

START_TEST(test_peer_beside_cpu) {
    outcome result = drive("--backend cpu --size 64 --samples 2 --runs 2 --temperature cold,warm --peers --json -");
    ck_assert_int_eq(result.code, 0);
    json_t *document = parse_document(result.out);
    check_document(document);
    if (getenv("PORTMM_BENCH_PEER_openblas") != NULL) {
        (void)find_peer(document, "openblas", "cold");
        (void)find_peer(document, "openblas", "driver");
        (void)find_peer(document, "openblas", "warm");
        assert_contains(result.err, "cpu warm gemm / raw openblas warm gemm");
        assert_contains(result.err, "cpu cold first_gemm / raw openblas driver first_gemm");
    } else {
        assert_contains(result.err, "openblas: absent: ");
    }
    static const char *const frameworks[] = {"pytorch", "tensorflow", "jax", "numpy"};
    for (size_t i = 0; i < sizeof frameworks / sizeof frameworks[0]; i++) {
        bool measured = has_named(json_object_get(document, "peers"), frameworks[i]);
        ck_assert_int_ne(measured, has_named(json_object_get(document, "absent_peers"), frameworks[i]));
        char *line = make_text("%s: absent: ", frameworks[i]);
        ck_assert_int_ne(measured, strstr(result.err, line) != NULL);
        free(line);
    }
    json_decref(document);
    free_outcome(&result);
}
END_TEST

/* A framework that does not wait shows both times of a run; the stand-in's device needs 20 ms a product. */
START_TEST(test_misleading_runs_stand_beside_the_real_ones) {
    setting fakes = {"PYTHONPATH", getenv("PORTMM_BENCH_FAKES")};
    ck_assert_int_eq(setenv("FAKE_DELAY_MS", "20", 1), 0);
    outcome result =
        drive_with(NULL, "--backend cpu --size 8 --samples 1 --runs 2 --temperature driver --peers --json -", fakes);
    ck_assert_int_eq(result.code, 0);
    json_t *document = parse_document(result.out);
    check_document(document);
    const json_t *row = find_peer(document, "jax", "driver");
    double complete = json_number_value(json_array_get(json_object_get(row, "runs_ms"), 1));
    double returned = json_number_value(json_array_get(json_object_get(row, "runs_unsynchronised_ms"), 1));
    ck_assert_double_ge(complete, 200);
    ck_assert_double_lt(returned, complete / 2);
    assert_contains(result.err, "raw jax on fake cuda:0");
    assert_contains(result.err, "unwaited");
    assert_contains(result.err, "only what a script shows that does not wait");
    json_decref(document);
    free_outcome(&result);
}
END_TEST

START_TEST(test_absent_peer_is_named) {
    char *directory = make_directory();
    char path[256];
    (void)snprintf(path, sizeof path, "%s/portmm-bench", directory);
    copy_program(getenv("PORTMM_BENCH"), path);
    outcome result =
        drive_with(path, "--backend cpu --size 16 --samples 1 --runs 0 --temperature driver --peers", (setting){0});
    ck_assert_int_eq(result.code, 0);
    assert_contains(result.out, "openblas: absent: its program portmm-peer-openblas is not beside portmm-bench");
    free_outcome(&result);
    remove_directory(directory);
}
END_TEST

/* ---- measuring on OpenCL ---- */

static double cache_count(const json_t *document, const char *temperature, const char *name) {
    const json_t *cache = json_object_get(find_result(document, temperature), "cache");
    return json_number_value(json_object_get(cache, name));
}

/* One run for everything, because a cold one costs seconds. */
START_TEST(test_contract_on_opencl) {
    char *page = make_text("%s/opencl.html", getenv("PORTMM_BENCH_KEEP"));
    char *copy = make_text("%s/opencl.json", getenv("PORTMM_BENCH_KEEP"));
    char *arguments = make_text("--backend opencl --size 64 --samples 1 --runs 2 --temperature "
                                "cold,cached,relaunch,warm --peers --json - --html %s",
                                page);
    (void)remove(page);
    outcome result = drive(arguments);
    ck_assert_msg(result.code == 0, "ended with %d:\n%s", result.code, result.err);
    write_file(copy, result.out);
    free(arguments);
    free(copy);
    free(page);
    json_t *document = parse_document(result.out);
    check_document(document);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "results")), 4);
    ck_assert_double_gt(cache_count(document, "cold", "misses"), 0);
    ck_assert_double_eq(cache_count(document, "cold", "hits"), 0);
    ck_assert_double_gt(cache_count(document, "cached", "hits"), 0);
    ck_assert_double_eq(cache_count(document, "cached", "misses"), 0);
    ck_assert_double_eq(cache_count(document, "relaunch", "misses"), 0);
    ck_assert_double_gt(cache_count(document, "warm", "bytes"), 0);
    if (getenv("PORTMM_BENCH_PEER_clblast") != NULL) {
        (void)find_peer(document, "clblast", "cold");
        (void)find_peer(document, "clblast", "driver");
        (void)find_peer(document, "clblast", "warm");
        assert_contains(result.err, "opencl cached first_gemm / raw clblast cold first_gemm");
        assert_contains(result.err, "opencl cached first_gemm / raw clblast driver first_gemm");
        assert_contains(result.err, "opencl cold first_gemm / raw clblast cold first_gemm");
        assert_contains(result.err, "opencl warm gemm / raw clblast warm gemm");
    }
    json_decref(document);
    free_outcome(&result);
}
END_TEST

/* ---- the program ---- */

static bool is_required(const char *backend) {
    const char *list = getenv("PORTMM_TEST_REQUIRE");
    return list != NULL && strstr(list, backend) != NULL;
}

/* Says on stdout why not. */
static bool is_available(const char *backend) {
    char command[128];
    (void)snprintf(command, sizeof command, "\"$PORTMM_BENCH\" --list --backend %s", backend);
    return system(command) == 0;
}

static void add_usage_tests(TCase *tests) {
    tcase_add_loop_test(tests, test_bad_usage, 0, BAD_USAGE_COUNT);
    tcase_add_test(tests, test_devices_are_listed_for_a_bad_index);
    tcase_add_test(tests, test_unwritable_json_is_told_before_measuring);
    tcase_add_test(tests, test_failure_keeps_an_old_json_file);
    tcase_add_test(tests, test_help_is_enough_to_work_from);
    tcase_add_test(tests, test_version);
    tcase_add_test(tests, test_list_names_every_backend);
}

static void add_cpu_tests(TCase *tests) {
    tcase_add_test(tests, test_contract_on_cpu);
    tcase_add_test(tests, test_shapes_types_and_transposes);
    tcase_add_test(tests, test_unverified_has_no_error);
    tcase_add_test(tests, test_report);
    tcase_add_test(tests, test_explain_tells_every_temperature);
    tcase_add_test(tests, test_wrong_result_is_found);
    tcase_add_test(tests, test_all_goes_on_with_what_is_there);
    tcase_add_test(tests, test_peer_beside_cpu);
    tcase_add_test(tests, test_misleading_runs_stand_beside_the_real_ones);
    tcase_add_test(tests, test_absent_peer_is_named);
}

static void add_opencl_tests(TCase *tests) {
    tcase_add_test(tests, test_contract_on_opencl);
}

int main(int argc, char **argv) {
    const struct {
        const char *name, *backend; /* needs it; NULL: none */
        void (*add)(TCase *);
    } suites[] = {
        {"usage", NULL, add_usage_tests}, {"cpu", "cpu", add_cpu_tests}, {"opencl", "opencl", add_opencl_tests}};
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        if (argc != 2 || strcmp(argv[1], suites[i].name) != 0) {
            continue;
        }
        const char *backend = suites[i].backend;
        if (backend != NULL && !is_required(backend) && !is_available(backend)) {
            return SKIPPED;
        }
        Suite *suite = suite_create(suites[i].name);
        TCase *tests = tcase_create(suites[i].name);
        tcase_set_timeout(tests, SLOWEST_S);
        suites[i].add(tests);
        suite_add_tcase(suite, tests);
        SRunner *runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        int failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    fprintf(stderr, "usage: %s usage|cpu|opencl\n", argv[0]);
    return EXIT_FAILURE;
}
