/* SPDX-License-Identifier: Apache-2.0 */
#include "html_charts.h"

#include "document.h"
#include "html_text.h"
#include "report.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_same(const json_t *one, const json_t *other, const char *const *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!json_equal(json_object_get(one, keys[i]), json_object_get(other, keys[i]))) {
            return false;
        }
    }
    return true;
}

bool bench_html_same_problem(const json_t *one, const json_t *other) {
    static const char *const keys[] = {"m", "n", "k", "dtype", "transa", "transb"};
    return is_same(one, other, keys, sizeof keys / sizeof keys[0]);
}

bool bench_html_same_group(const json_t *one, const json_t *other) {
    static const char *const keys[] = {"backend", "index", "start"};
    return is_same(one, other, keys, sizeof keys / sizeof keys[0]) && bench_html_same_problem(one, other);
}

/* ---- waterfalls ---- */

enum { DEPTH_MOST = 8 };

static double first_result_ms(const json_t *row) {
    return json_number_value(json_array_get(json_object_get(json_object_get(row, "process_to_result_ms"), "raw"), 0));
}

static void put_span(FILE *output, const json_t *span, double whole_ms) {
    double begin = bench_number_of(span, "begin_ms"), end = fmin(bench_number_of(span, "end_ms"), whole_ms);
    char number[24];
    fputs("<i class=\"", output);
    bench_html_text(output, bench_text_of(span, "phase"));
    fprintf(output, "\" style=\"left:%.3f%%;width:%.3f%%\" title=\"", 100 * begin / whole_ms,
            100 * (end - begin) / whole_ms);
    bench_html_text(output, bench_text_of(span, "phase"));
    fputs(", ", output);
    bench_html_text(output, bench_text_of(span, "detail"));
    fprintf(output, ": %s ms\"></i>", bench_format_ms(number, end - begin));
}

/* The spans of one thread, the inner ones over those around them. Returns how many. */
static size_t put_thread(FILE *output, const json_t *timeline, int thread, double whole_ms) {
    size_t count = 0;
    for (int depth = 0; depth < DEPTH_MOST; depth++) {
        for (size_t i = 0; i < json_array_size(timeline); i++) {
            const json_t *span = json_array_get(timeline, i);
            if (bench_number_of(span, "thread") == thread && bench_number_of(span, "depth") == depth &&
                bench_number_of(span, "begin_ms") < whole_ms) {
                if (output != NULL) {
                    put_span(output, span, whole_ms);
                }
                count++;
            }
        }
    }
    return count;
}

static int count_threads(const json_t *timeline) {
    int count = 1;
    for (size_t i = 0; i < json_array_size(timeline); i++) {
        int thread = (int)bench_number_of(json_array_get(timeline, i), "thread");
        count = thread + 1 > count ? thread + 1 : count;
    }
    return count;
}

static void put_axis(FILE *output, double whole_ms) {
    char number[24];
    fputs("<b></b><div class=\"axis\" aria-hidden=\"true\">", output);
    for (int quarter = 0; quarter <= 4; quarter++) {
        fprintf(output, "<span>%s%s</span>", quarter > 0 ? bench_format_ms(number, whole_ms * quarter / 4) : "0",
                quarter == 4 ? " ms" : "");
    }
    fputs("</div><span></span>", output);
}

static void put_waterfall(FILE *output, const json_t *row, size_t position) {
    const json_t *timeline = json_object_get(row, "timeline");
    double whole_ms = first_result_ms(row);
    fprintf(output, "<div class=\"lane waterfall\" data-row=\"results/%zu\" data-metric=\"process_to_result_ms\"><b>",
            position);
    bench_html_text(output, bench_text_of(row, "temperature"));
    fputs("</b><div class=\"bar unattributed\" aria-hidden=\"true\">", output);
    (void)put_thread(output, timeline, 0, whole_ms);
    fputs("</div><span>", output);
    bench_html_summary(output, json_object_get(row, "process_to_result_ms"));
    fputs("</span>", output);
    for (int thread = 1; thread < count_threads(timeline); thread++) {
        if (put_thread(NULL, timeline, thread, whole_ms) != 0) {
            fputs("<b class=\"soft\">behind it</b><div class=\"bar behind\" aria-hidden=\"true\">", output);
            (void)put_thread(output, timeline, thread, whole_ms);
            fputs("</div><span></span>", output);
        }
    }
    put_axis(output, whole_ms);
    fputs("</div>\n", output);
}

static void put_legend(FILE *output, const json_t *results, const json_t *first) {
    const char *phase;
    json_t *value;
    fputs("<ul class=\"legend\">", output);
    json_object_foreach(json_object_get(first, "phases_ms"), phase, value) {
        bool any = strcmp(phase, "unattributed") == 0;
        for (size_t i = 0; i < json_array_size(results); i++) {
            const json_t *row = json_array_get(results, i);
            any = any ||
                  (bench_html_same_group(row, first) && bench_number_of(json_object_get(row, "phases_ms"), phase) > 0);
        }
        if (any) {
            fputs("<li><i class=\"", output);
            bench_html_text(output, phase);
            fputs("\"></i>", output);
            bench_html_text(output, phase);
            fputs("</li>", output);
        }
    }
    fputs("</ul>\n", output);
}

void bench_html_waterfalls(FILE *output, const json_t *results, const json_t *first) {
    fputs("<div class=\"chart\"><h3>From the start of the process to the first result</h3>\n<p class=\"soft\">The "
          "first process of each temperature, each on its own scale; beside it, the median of all processes. Spans "
          "have their details as tooltips.</p>\n",
          output);
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *row = json_array_get(results, i);
        if (bench_html_same_group(row, first) && first_result_ms(row) > 0) {
            put_waterfall(output, row, i);
        }
    }
    put_legend(output, results, first);
    fputs("</div>\n", output);
}

/* ---- bars ---- */

typedef struct chart {
    const json_t *lists[2];
    const char *paths[2];
    const json_t *first;
    const char *temperature, *metric;
} chart;

static const json_t *summary_at(const chart *self, const json_t *row) {
    bool shown =
        bench_html_same_problem(row, self->first) && strcmp(bench_text_of(row, "temperature"), self->temperature) == 0;
    return shown ? json_object_get(row, self->metric) : NULL;
}

static void put_bar(FILE *output, const json_t *row, const json_t *summary, double longest) {
    const char *name = bench_text_of(row, "name");
    double median = bench_number_of(summary, "median"), min = bench_number_of(summary, "min"),
           max = bench_number_of(summary, "max");
    char *label = name[0] != '\0' ? bench_format("%s, %s", name, bench_text_of(row, "backend"))
                                  : bench_format("%s:%.0f %s", bench_text_of(row, "backend"),
                                                 bench_number_of(row, "index"), bench_text_of(row, "start"));
    fputs("<b>", output);
    bench_html_text(output, label);
    fprintf(output, "</b><div class=\"bar\" aria-hidden=\"true\"><i class=\"%s\" style=\"left:0;width:%.3f%%\"></i>",
            name[0] != '\0' ? "peer" : "ours", 100 * median / longest);
    fprintf(output, "<i class=\"spread\" style=\"left:%.3f%%;width:%.3f%%\"></i></div><span>", 100 * min / longest,
            100 * (max - min) / longest);
    free(label);
    bench_html_summary(output, summary);
    fputs("</span>", output);
}

static void put_chart(FILE *output, const chart *self, const char *title) {
    double longest = 0;
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < json_array_size(self->lists[l]); i++) {
            const json_t *summary = summary_at(self, json_array_get(self->lists[l], i));
            longest = fmax(longest, bench_number_of(summary, "max"));
        }
    }
    if (longest <= 0) {
        return;
    }
    fprintf(output, "<div class=\"chart\"><h3>%s: %s</h3>\n", self->temperature, title);
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < json_array_size(self->lists[l]); i++) {
            const json_t *row = json_array_get(self->lists[l], i), *summary = summary_at(self, row);
            if (summary != NULL) {
                fprintf(output, "<div class=\"lane\" data-row=\"%s/%zu\" data-metric=\"%s\">", self->paths[l], i,
                        self->metric);
                put_bar(output, row, summary, longest);
                fputs("</div>\n", output);
            }
        }
    }
    fputs("</div>\n", output);
}

void bench_html_bars(FILE *output, const json_t *document, const json_t *first) {
    static const struct metric {
        const char *name, *title;
        bool warm;
    } metrics[] = {{"process_to_result_ms", "start of the process to the first result", false},
                   {"first_gemm_ms", "the first product, the device being open", false},
                   {"gemm_ms", "a product in steady state", true}};
    for (int t = 0; t < BENCH_TEMPERATURE_COUNT; t++) {
        for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
            if (metrics[i].warm == (t == BENCH_WARM)) {
                const chart one = {.lists = {json_object_get(document, "results"), json_object_get(document, "peers")},
                                   .paths = {"results", "peers"},
                                   .first = first,
                                   .temperature = bench_temperature_name((bench_temperature)t),
                                   .metric = metrics[i].name};
                put_chart(output, &one, metrics[i].title);
            }
        }
    }
}
