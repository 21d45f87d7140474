/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include "document.h"
#include "report.h"
#include "significance.h"

#include <stdlib.h>
#include <string.h>

static const double MOST_PROBABILITY = 0.01;
static const char *const change_names[] = {
    [BENCH_SAME] = "same", [BENCH_SLOWER] = "slower", [BENCH_FASTER] = "faster", [BENCH_UNSURE] = "unsure"};

static bench_series read_series(const json_t *array) {
    bench_series series = {0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        bench_series_add(&series, json_number_value(json_array_get(array, i)));
    }
    return series;
}

static bench_change judge(const bench_comparison *c, double least_effect) {
    bool significant = c->probability < MOST_PROBABILITY;
    if (significant && c->ratio >= 1 + least_effect && c->low > 1) {
        return BENCH_SLOWER;
    }
    if (significant && c->ratio <= 1 / (1 + least_effect) && c->high < 1) {
        return BENCH_FASTER;
    }
    bool within = c->low >= 1 / (1 + least_effect) && c->high <= 1 + least_effect;
    return within ? BENCH_SAME : BENCH_UNSURE;
}

bench_comparison bench_compare_series(const json_t *older, const json_t *newer, double least_effect) {
    bench_series before = read_series(older), after = read_series(newer);
    bench_summary old_summary = bench_summarize(&before), new_summary = bench_summarize(&after);
    bench_interval interval = bench_ratio_interval(&after, &before);
    bench_comparison comparison = {
        .old_median = old_summary.median,
        .new_median = new_summary.median,
        .old_iqr = old_summary.iqr,
        .new_iqr = new_summary.iqr,
        .ratio = new_summary.median / old_summary.median,
        .low = interval.low,
        .high = interval.high,
        .probability = bench_rank_test(&after, &before),
    };
    comparison.change = judge(&comparison, least_effect);
    bench_series_fini(&before);
    bench_series_fini(&after);
    return comparison;
}

static const json_t *raw_of(const json_t *row) {
    const json_t *summary = json_object_get(row, "gemm_by_process_ms");
    summary = summary != NULL ? summary : json_object_get(row, "process_to_result_ms");
    return json_object_get(summary, "raw");
}

/* The row of the same device, product, start policy and temperature. */
static const json_t *find_match(const json_t *rows, const json_t *row) {
    static const char *const keys[] = {"backend", "index",  "m",      "n",     "k",
                                       "dtype",   "transa", "transb", "start", "temperature"};
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *other = json_array_get(rows, i);
        bool same = true;
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            same = same && json_equal(json_object_get(row, keys[k]), json_object_get(other, keys[k]));
        }
        if (same) {
            return other;
        }
    }
    return NULL;
}

static void print_comparison(FILE *output, const char *label, const bench_comparison *c) {
    char before[24], before_iqr[24], after[24], after_iqr[24];
    fprintf(output,
            "  %-6s  %s\n          %s (IQR %s) to %s (IQR %s) ms, ratio %.3f, 99%% interval %.3f to %.3f, p %.2g\n",
            change_names[c->change], label, bench_format_ms(before, c->old_median),
            bench_format_ms(before_iqr, c->old_iqr), bench_format_ms(after, c->new_median),
            bench_format_ms(after_iqr, c->new_iqr), c->ratio, c->low, c->high, c->probability);
}

static void print_unmatched(FILE *output, const char *where, const json_t *rows, const json_t *others) {
    for (size_t i = 0; output != NULL && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (find_match(others, row) == NULL) {
            char *label = bench_row_label(row);
            fprintf(output, "  only in the %s run: %s\n", where, label);
            free(label);
        }
    }
}

static void print_method(FILE *output, double least_effect) {
    fprintf(output,
            "  process to result, for warm the median product of each process. slower, faster: Mann-Whitney's p\n"
            "  below %g, medians %g %% apart or more, and 1 outside the bootstrap interval of their ratio; same:\n"
            "  the interval lies within %g %%; unsure: more samples would tell\n",
            MOST_PROBABILITY, 100 * least_effect, 100 * least_effect);
}

bool bench_compare(FILE *output, const json_t *older, const json_t *newer, double least_effect, bool *matched) {
    const json_t *before = json_object_get(older, "results"), *after = json_object_get(newer, "results");
    bool slower = false;
    *matched = false;
    if (output != NULL) {
        fprintf(output, "\ncompared with the run of %s, revision %s\n",
                bench_text_of(json_object_get(older, "environment"), "date"),
                bench_text_of(json_object_get(older, "environment"), "revision"));
    }
    for (size_t i = 0; i < json_array_size(after); i++) {
        const json_t *row = json_array_get(after, i), *match = find_match(before, row);
        if (match == NULL || json_array_size(raw_of(match)) == 0) {
            continue;
        }
        *matched = true;
        bench_comparison comparison = bench_compare_series(raw_of(match), raw_of(row), least_effect);
        slower = slower || comparison.change == BENCH_SLOWER;
        if (output != NULL) {
            char *label = bench_row_label(row);
            print_comparison(output, label, &comparison);
            free(label);
        }
    }
    print_unmatched(output, "earlier", before, after);
    print_unmatched(output, "later", after, before);
    if (output != NULL) {
        print_method(output, least_effect);
    }
    return slower;
}
