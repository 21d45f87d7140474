/* SPDX-License-Identifier: Apache-2.0 */
#include "explain.h"

#include "advice.h"
#include "compare.h"
#include "document.h"
#include "report.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts of the way to the first result, each made of phases; every phase but unattributed is in one. */
static const struct part_kind {
    const char *name;
    const char *meaning;
    const char *phases[4]; /* ends with NULL */
} part_kinds[] = {
    {"loading the driver", "libportmm's module, the driver and the vendor's library", {"load"}},
    {"finding devices", "the driver lists what there is", {"enumerate"}},
    {"opening the context", "the driver's context and queue", {"context"}},
    {"compiling kernels", "source text to device code; a full cache removes it", {"build"}},
    {"reading the cache", "an entry of libportmm's cache goes to the driver", {"cache_lookup", "binary_load"}},
    {"starting the engine", "the vendor library's own start, and kernel objects", {"engine_init", "kernel_create"}},
    {"moving data", "memory on both sides, A and B there, C back", {"allocate", "upload", "download"}},
    {"first launch", "until the first product is complete; some drivers compile only here", {"first_launch", "steady"}},
};
enum { KIND_COUNT = sizeof part_kinds / sizeof part_kinds[0], PART_COUNT = KIND_COUNT + 2, MOVING_DATA = 6 };
enum { BAR_COLUMNS = 40, GROUPS_MOST = 3 };

typedef struct part {
    const char *name;
    double ms;
} part;

/* What run #0 of a row's first sample (without runs: its way to the first result) was made of. */
typedef struct account {
    double total_ms;
    part parts[PART_COUNT]; /* as in part_kinds, then the other products of the run, then unattributed */
} account;

static double first_of(const json_t *array) {
    return json_number_value(json_array_get(array, 0));
}

static const json_t *raw_of(const json_t *row, const char *metric) {
    return json_object_get(json_object_get(row, metric), "raw");
}

/* Until the first call into the library: the timeline's own span of the process. */
static double before_first_call_ms(const json_t *row) {
    const json_t *timeline = json_object_get(row, "timeline");
    for (size_t i = 0; i < json_array_size(timeline); i++) {
        const json_t *span = json_array_get(timeline, i);
        if (strcmp(bench_text_of(span, "detail"), "process") == 0) {
            return bench_number_of(span, "end_ms");
        }
    }
    return 0;
}

static account make_account(const json_t *row) {
    const json_t *phases = json_object_get(row, "phases_raw_ms"), *runs = json_object_get(row, "runs_ms");
    double before = before_first_call_ms(row), first = first_of(raw_of(row, "process_to_result_ms")) - before;
    account sums = {.total_ms = json_array_size(runs) != 0 ? first_of(runs) : first};
    for (size_t i = 0; i < KIND_COUNT; i++) {
        sums.parts[i].name = part_kinds[i].name;
        for (const char *const *phase = part_kinds[i].phases; *phase != NULL; phase++) {
            sums.parts[i].ms += first_of(json_object_get(phases, *phase));
        }
    }
    /* Run #0 starts at the first call; what the process did before it is no part of it. */
    sums.parts[0].ms -= before;
    sums.parts[KIND_COUNT] = (part){"the run's other products", sums.total_ms - first};
    sums.parts[KIND_COUNT + 1] = (part){"unattributed", first_of(json_object_get(phases, "unattributed"))};
    return sums;
}

static int compare_parts(const void *left, const void *right) {
    double a = ((const part *)left)->ms, b = ((const part *)right)->ms;
    return (a < b) - (a > b);
}

static double share(double value, double total) {
    return total > 0 ? value / total : 0;
}

/* ---- one row ---- */

static void print_part(FILE *output, const part *item, double total_ms) {
    static const char full[] = "########################################";
    char number[24];
    double portion = share(item->ms, total_ms);
    int columns = (int)lround(BAR_COLUMNS * fmin(fmax(portion, 0), 1));
    fprintf(output, "  %-24s %9s ms %5.1f %%%s%.*s\n", item->name, bench_format_ms(number, item->ms), 100 * portion,
            columns > 0 ? "  " : "", columns, full);
}

static void print_headline(FILE *output, const json_t *row, const account *sums) {
    char first[24], second[24];
    const json_t *runs = json_object_get(row, "runs_ms");
    char *label = bench_row_label(row), *text = NULL;
    int loops = (int)bench_number_of(row, "loops");
    if (json_array_size(runs) > 1) {
        text = bench_format("Where the time of run #0 went, %s: its %d product%s took %s ms, those of run #1 %s ms "
                            "(the first of %.0f process%s).",
                            label, loops, loops == 1 ? "" : "s", bench_format_ms(first, sums->total_ms),
                            bench_format_ms(second, json_number_value(json_array_get(runs, 1))),
                            bench_number_of(row, "samples"), bench_number_of(row, "samples") == 1 ? "" : "es");
    } else {
        text = bench_format("Where the time of the first result went, %s: %s ms from the first call into libportmm "
                            "(the first of %.0f process%s).",
                            label, bench_format_ms(first, sums->total_ms), bench_number_of(row, "samples"),
                            bench_number_of(row, "samples") == 1 ? "" : "es");
    }
    bench_print_wrapped(output, "", text);
    free(text);
    free(label);
}

/* Moving data is shown whatever its size: it is what an answer to the question had blamed. */
static void print_account(FILE *output, const json_t *row) {
    account sums = make_account(row);
    print_headline(output, row, &sums);
    const char *moving = sums.parts[MOVING_DATA].name, *unexplained = sums.parts[PART_COUNT - 1].name;
    qsort(sums.parts, PART_COUNT, sizeof sums.parts[0], compare_parts);
    for (size_t i = 0; i < PART_COUNT; i++) {
        const part *item = &sums.parts[i];
        bool always = item->name == moving || item->name == unexplained;
        if (always || fabs(share(item->ms, sums.total_ms)) >= 0.0005) {
            print_part(output, item, sums.total_ms);
        }
    }
    fputc('\n', output);
}

static void print_meanings(FILE *output) {
    fputs("what the parts are\n", output);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        fprintf(output, "  %-24s %s\n", part_kinds[i].name, part_kinds[i].meaning);
    }
    fputs("  the run's other products products after the first\n  unattributed             what no phase explains\n\n",
          output);
}

/* ---- rows that belong together ---- */

static bool belong_together(const json_t *one, const json_t *other) {
    static const char *const keys[] = {"backend", "index", "start", "m", "n", "k", "dtype", "transa", "transb"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!json_equal(json_object_get(one, keys[i]), json_object_get(other, keys[i]))) {
            return false;
        }
    }
    return true;
}

static bool is_first_of_group(const json_t *rows, size_t position) {
    for (size_t i = 0; i < position; i++) {
        if (belong_together(json_array_get(rows, i), json_array_get(rows, position))) {
            return false;
        }
    }
    return true;
}

static const json_t *find_in_group(const json_t *rows, const json_t *first, const char *temperature) {
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (belong_together(row, first) && strcmp(bench_text_of(row, "temperature"), temperature) == 0) {
            return row;
        }
    }
    return NULL;
}

static void print_saving(FILE *output, const json_t *rows, const json_t *first, const char *from, const char *to) {
    const json_t *before = find_in_group(rows, first, from), *after = find_in_group(rows, first, to);
    if (before == NULL || after == NULL) {
        return;
    }
    char old_ms[24], new_ms[24];
    bench_comparison c =
        bench_compare_series(raw_of(after, "process_to_result_ms"), raw_of(before, "process_to_result_ms"), 0.05);
    char *text = bench_format("From %s to %s, the first result comes after %s ms instead of %s ms: %.3g times as fast "
                              "(99 %% interval %.3g to %.3g, n=%zu).",
                              from, to, bench_format_ms(new_ms, c.old_median), bench_format_ms(old_ms, c.new_median),
                              c.ratio, c.low, c.high, json_array_size(raw_of(before, "process_to_result_ms")));
    bench_print_wrapped(output, "", text);
    free(text);
}

void bench_explain(FILE *output, const json_t *document, bool fully) {
    const json_t *rows = json_object_get(document, "results");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (fully || is_first_of_group(rows, i)) {
            print_account(output, json_array_get(rows, i));
        }
    }
    for (size_t i = 0; fully && i < json_array_size(rows); i++) {
        if (is_first_of_group(rows, i)) {
            const json_t *first = json_array_get(rows, i);
            print_saving(output, rows, first, "cold", "cached");
            print_saving(output, rows, first, "cold", "relaunch");
            print_saving(output, rows, first, "driver", "relaunch");
            fputc('\n', output);
        }
    }
    if (fully) {
        print_meanings(output);
    }
    bench_print_advice(output, document, fully);
}

/* ---- the answer ---- */

/* "12.3 ms (IQR 0.4, n=5)"; new text. */
static char *tell_series(const bench_series *series) {
    char median[24], iqr[24];
    bench_summary summary = bench_summarize(series);
    bench_format_ms(median, summary.median);
    return series->count > 1
               ? bench_format("%s ms (IQR %s, n=%zu)", median, bench_format_ms(iqr, summary.iqr), series->count)
               : bench_format("%s ms (n=%zu)", median, series->count);
}

static char *tell_values(const json_t *array, size_t from) {
    bench_series series = {0};
    for (size_t i = from; i < json_array_size(array); i++) {
        bench_series_add(&series, json_number_value(json_array_get(array, i)));
    }
    char *text = tell_series(&series);
    bench_series_fini(&series);
    return text;
}

/* Both texts are taken over. */
static void print_line(FILE *output, char *lead, char *text) {
    bench_print_wrapped(output, lead, text);
    free(lead);
    free(text);
}

static char *answer_runs(const json_t *row) {
    const json_t *runs = json_object_get(row, "runs_ms");
    if (json_array_size(runs) < 2) {
        return bench_format("%s", bench_text_of(row, "device"));
    }
    char first[24], *later = tell_values(runs, 1);
    char *text = bench_format("%.0f products, %s: run #0 %s ms (n=1), later %s", bench_number_of(row, "loops"),
                              bench_text_of(row, "temperature"), bench_format_ms(first, first_of(runs)), later);
    free(later);
    return text;
}

static char *answer_starts(const json_t *rows, const json_t *first) {
    const json_t *again = find_in_group(rows, first, "relaunch"), *warm = find_in_group(rows, first, "warm");
    bool restarts = again != NULL && again != first, goes_on = !restarts && warm != NULL && warm != first;
    char *one = tell_values(raw_of(first, "process_to_result_ms"), 0), *other = bench_copy("", 0);
    if (restarts || goes_on) {
        free(other);
        other = tell_values(restarts ? raw_of(again, "process_to_result_ms") : raw_of(warm, "gemm_ms"), 0);
    }
    char *text = bench_format("process to result: %s %s%s%s", bench_text_of(first, "temperature"), one,
                              restarts  ? ", next start "
                              : goes_on ? "; a product later "
                                        : "",
                              other);
    free(one);
    free(other);
    return text;
}

/* The two largest parts, and moving data. */
static char *answer_shares(const json_t *row) {
    account sums = make_account(row);
    part moving = sums.parts[MOVING_DATA];
    const char *left_out[] = {moving.name, sums.parts[KIND_COUNT].name};
    qsort(sums.parts, PART_COUNT, sizeof sums.parts[0], compare_parts);
    const part *largest[2];
    size_t count = 0;
    for (size_t i = 0; i < PART_COUNT && count < 2; i++) {
        if (sums.parts[i].name != left_out[0] && sums.parts[i].name != left_out[1]) {
            largest[count++] = &sums.parts[i];
        }
    }
    return bench_format("of that run #0: %s %.0f %%, %s %.0f %%, %s %.1f %%", largest[0]->name,
                        100 * share(largest[0]->ms, sums.total_ms), largest[1]->name,
                        100 * share(largest[1]->ms, sums.total_ms), moving.name, 100 * share(moving.ms, sums.total_ms));
}

static void answer_group(FILE *output, const json_t *rows, const json_t *first) {
    char *label = bench_format("%s:%.0f %s", bench_text_of(first, "backend"), bench_number_of(first, "index"),
                               bench_text_of(first, "start"));
    print_line(output, bench_format("  %-14s ", label), answer_runs(first));
    print_line(output, bench_format("  %-14s ", ""), answer_starts(rows, first));
    print_line(output, bench_format("  %-14s ", ""), answer_shares(first));
    free(label);
}

void bench_answer(FILE *output, const json_t *document) {
    static const char *const same[] = {"start", "m", "n", "k", "dtype", "transa", "transb"};
    const json_t *rows = json_object_get(document, "results"), *asked = json_array_get(rows, 0);
    int groups = 0;
    fputs("Asked: why 443 ms at first, then 1 ms, on a GPU, and 100 ms each time on a CPU? On this machine:\n", output);
    for (size_t i = 0; i < json_array_size(rows) && groups < GROUPS_MOST; i++) {
        const json_t *row = json_array_get(rows, i);
        bool is_asked = is_first_of_group(rows, i);
        for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
            is_asked = is_asked && json_equal(json_object_get(row, same[k]), json_object_get(asked, same[k]));
        }
        if (is_asked) {
            answer_group(output, rows, row);
            groups++;
        }
    }
}
