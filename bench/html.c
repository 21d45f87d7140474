/* SPDX-License-Identifier: Apache-2.0 */
#include "html.h"

#include "document.h"
#include "embedded/page_css.h"
#include "report.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static void put(FILE *output, const char *text) {
    static const struct escape {
        char character;
        const char *entity;
    } escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    for (; *text != '\0'; text++) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
            entity = *text == escapes[i].character ? escapes[i].entity : entity;
        }
        entity != NULL ? fputs(entity, output) : fputc(*text, output);
    }
}

/* "12.3 ms (IQR 0.4)" */
static void put_spread(FILE *output, const json_t *summary) {
    char median[24], iqr[24];
    fprintf(output, "%s ms <span class=\"soft\">(IQR %s)</span>",
            bench_format_ms(median, bench_number_of(summary, "median")),
            bench_format_ms(iqr, bench_number_of(summary, "iqr")));
}

/* ---- rows that belong together: one device, product and start policy ---- */

static bool is_same_problem(const json_t *one, const json_t *other) {
    static const char *const keys[] = {"m", "n", "k", "dtype", "transa", "transb"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!json_equal(json_object_get(one, keys[i]), json_object_get(other, keys[i]))) {
            return false;
        }
    }
    return true;
}

static bool is_same_group(const json_t *one, const json_t *other) {
    static const char *const keys[] = {"backend", "index", "start"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!json_equal(json_object_get(one, keys[i]), json_object_get(other, keys[i]))) {
            return false;
        }
    }
    return is_same_problem(one, other);
}

/* ---- waterfall ---- */

static double first_result_ms(const json_t *row) {
    return json_number_value(json_array_get(json_object_get(json_object_get(row, "process_to_result_ms"), "raw"), 0));
}

/* Inner spans lie over those around them. */
static void put_spans(FILE *output, const json_t *timeline, double scale_ms, double end_ms) {
    for (int depth = 0; depth < 8; depth++) {
        for (size_t i = 0; i < json_array_size(timeline); i++) {
            const json_t *span = json_array_get(timeline, i);
            double begin = bench_number_of(span, "begin_ms"), end = bench_number_of(span, "end_ms");
            if (bench_number_of(span, "depth") != depth || bench_number_of(span, "thread") != 0 || begin > end_ms) {
                continue;
            }
            end = end < end_ms ? end : end_ms;
            char number[24];
            fprintf(output, "<i class=\"%s\" style=\"left:%.3f%%;width:%.3f%%\" title=\"%s, ",
                    bench_text_of(span, "phase"), 100 * begin / scale_ms, 100 * (end - begin) / scale_ms,
                    bench_text_of(span, "phase"));
            put(output, bench_text_of(span, "detail"));
            fprintf(output, ": %s ms\"></i>", bench_format_ms(number, end - begin));
        }
    }
}

static void put_waterfall(FILE *output, const json_t *rows, const json_t *first) {
    double longest = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        longest = is_same_group(row, first) && first_result_ms(row) > longest ? first_result_ms(row) : longest;
    }
    fputs(
        "<div class=\"chart\"><h3>From the start of the process to the first result</h3>\n<p class=\"soft\">The first "
        "process of each temperature, all on one scale. Beside it, the median of all processes.</p>\n",
        output);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (is_same_group(row, first)) {
            double end_ms = first_result_ms(row);
            fprintf(output, "<div class=\"lane\"><b>%s</b><div class=\"bar\" aria-hidden=\"true\">",
                    bench_text_of(row, "temperature"));
            fprintf(output, "<i class=\"unattributed\" style=\"left:0;width:%.3f%%\" title=\"unattributed\"></i>",
                    100 * end_ms / longest);
            put_spans(output, json_object_get(row, "timeline"), longest, end_ms);
            fputs("</div><span>", output);
            put_spread(output, json_object_get(row, "process_to_result_ms"));
            fputs("</span></div>\n", output);
        }
    }
    fputs("<ul class=\"legend\">", output);
    const char *phase;
    json_t *value, *phases = json_object_get(first, "phases_ms");
    json_object_foreach(phases, phase, value) {
        fprintf(output, "<li><i class=\"%s\"></i>%s</li>", phase, phase);
    }
    fputs("</ul></div>\n", output);
}

static void put_phase_cell(FILE *output, const json_t *row, const char *phase) {
    char number[24];
    double ms = json_number_value(json_object_get(json_object_get(row, "phases_ms"), phase));
    fprintf(output, "<td>%s</td>", ms != 0 ? bench_format_ms(number, ms) : "&ndash;");
}

static void put_phases(FILE *output, const json_t *rows, const json_t *first) {
    fputs("<h3>Phases, ms, of the process with the median time</h3>\n<div class=\"scroll\"><table><tr><th>phase</th>",
          output);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (is_same_group(row, first)) {
            fprintf(output, "<th>%s</th>", bench_text_of(row, "temperature"));
        }
    }
    fputs("</tr>\n", output);
    const char *phase;
    json_t *value, *phases = json_object_get(first, "phases_ms");
    json_object_foreach(phases, phase, value) {
        fprintf(output, "<tr><td>%s</td>", phase);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            if (is_same_group(json_array_get(rows, i), first)) {
                put_phase_cell(output, json_array_get(rows, i), phase);
            }
        }
        fputs("</tr>\n", output);
    }
    fputs("</table></div>\n", output);
}

static void put_group(FILE *output, const json_t *rows, const json_t *first) {
    fputs("<section><h2>", output);
    char *title =
        bench_format("%s:%.0f, start policy %s, %s %.0fx%.0fx%.0f", bench_text_of(first, "backend"),
                     bench_number_of(first, "index"), bench_text_of(first, "start"), bench_text_of(first, "dtype"),
                     bench_number_of(first, "m"), bench_number_of(first, "n"), bench_number_of(first, "k"));
    put(output, title);
    free(title);
    fputs("</h2>\n<p>", output);
    put(output, bench_text_of(first, "device"));
    fputs("; ", output);
    put(output, bench_text_of(first, "platform"));
    fputs(", driver ", output);
    put(output, bench_text_of(first, "driver"));
    fputs("</p>\n", output);
    put_waterfall(output, rows, first);
    put_phases(output, rows, first);
    fputs("</section>\n", output);
}

static void put_groups(FILE *output, const json_t *rows) {
    for (size_t i = 0; i < json_array_size(rows); i++) {
        bool shown = false;
        for (size_t j = 0; j < i; j++) {
            shown = shown || is_same_group(json_array_get(rows, i), json_array_get(rows, j));
        }
        if (!shown) {
            put_group(output, rows, json_array_get(rows, i));
        }
    }
}

/* ---- all side by side ---- */

static void put_bar(FILE *output, const json_t *row, const json_t *summary, double longest) {
    double median = bench_number_of(summary, "median"), min = bench_number_of(summary, "min"),
           max = bench_number_of(summary, "max");
    bool peer = json_object_get(row, "name") != NULL;
    fputs("<div class=\"lane\"><b>", output);
    put(output, peer ? bench_text_of(row, "name") : bench_text_of(row, "backend"));
    fputs(peer ? "" : " ", output);
    put(output, bench_text_of(row, "start"));
    fprintf(output,
            ", %s</b><div class=\"bar\" aria-hidden=\"true\"><i class=\"%s\" style=\"left:0;width:%.3f%%\"></i>",
            bench_text_of(row, "temperature"), peer ? "peer" : "ours", 100 * median / longest);
    fprintf(output, "<i class=\"spread\" style=\"left:%.3f%%;width:%.3f%%\"></i></div><span>", 100 * min / longest,
            100 * (max - min) / longest);
    put_spread(output, summary);
    fputs("</span></div>\n", output);
}

static void put_bars(FILE *output, const json_t *const lists[2], const json_t *first, const char *metric,
                     const char *title) {
    double longest = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t l = 0; l < 2; l++) {
            for (size_t i = 0; i < json_array_size(lists[l]); i++) {
                const json_t *row = json_array_get(lists[l], i), *summary = json_object_get(row, metric);
                if (summary == NULL || !is_same_problem(row, first)) {
                    continue;
                }
                double max = bench_number_of(summary, "max");
                if (pass == 0) {
                    longest = max > longest ? max : longest;
                } else {
                    put_bar(output, row, summary, longest);
                }
            }
        }
        if (pass == 0 && longest > 0) {
            fprintf(output, "<div class=\"chart\"><h3>%s</h3>\n", title);
        }
    }
    fputs(longest > 0 ? "</div>\n" : "", output);
}

static void put_problems(FILE *output, const json_t *results, const json_t *peers) {
    const json_t *const lists[2] = {results, peers};
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *row = json_array_get(results, i);
        bool shown = false;
        for (size_t j = 0; j < i; j++) {
            shown = shown || is_same_problem(row, json_array_get(results, j));
        }
        if (shown) {
            continue;
        }
        fprintf(output, "<section><h2>All side by side, %s %.0fx%.0fx%.0f</h2>\n", bench_text_of(row, "dtype"),
                bench_number_of(row, "m"), bench_number_of(row, "n"), bench_number_of(row, "k"));
        fputs(
            "<p class=\"soft\">Medians; the thin line reaches from the fastest to the slowest value. Blue: libportmm, "
            "brown: other libraries.</p>\n",
            output);
        put_bars(output, lists, row, "process_to_result_ms", "Start of the process to the first result");
        put_bars(output, lists, row, "first_gemm_ms", "The first product, the device being open");
        put_bars(output, lists, row, "gemm_ms", "A product in steady state");
        fputs("</section>\n", output);
    }
}

/* ---- environment, commands ---- */

static void put_fact(FILE *output, const char *name, const json_t *value) {
    char *text = json_is_string(value) ? bench_copy(json_string_value(value), json_string_length(value))
                 : json_is_object(value) && json_object_size(value) == 0
                     ? bench_copy("none", 4)
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    fputs("<tr><td>", output);
    put(output, name);
    fputs("</td><td>", output);
    put(output, text != NULL && text[0] != '\0' ? text : "unknown");
    fputs("</td></tr>\n", output);
    free(text);
}

static void put_environment(FILE *output, const json_t *document) {
    const char *name;
    json_t *value, *environment = json_object_get(document, "environment");
    fputs("<section><h2>Environment</h2>\n<div class=\"scroll\"><table class=\"facts\">\n", output);
    json_object_foreach(environment, name, value) {
        put_fact(output, name, value);
    }
    fputs("</table></div></section>\n", output);
}

static void put_list(FILE *output, const char *title, const json_t *texts) {
    if (json_array_size(texts) == 0) {
        return;
    }
    fprintf(output, "<section><h2>%s</h2>\n<ul>\n", title);
    for (size_t i = 0; i < json_array_size(texts); i++) {
        fputs("<li>", output);
        put(output, json_string_value(json_array_get(texts, i)));
        fputs("</li>\n", output);
    }
    fputs("</ul></section>\n", output);
}

static void put_temperatures(FILE *output) {
    fputs("<section><h2>Temperatures</h2>\n<div class=\"scroll\"><table class=\"facts\">\n", output);
    for (int t = 0; t < BENCH_TEMPERATURE_COUNT; t++) {
        fprintf(output, "<tr><td>%s</td><td>", bench_temperature_name((bench_temperature)t));
        put(output, bench_temperature_definition((bench_temperature)t));
        fputs("</td></tr>\n", output);
    }
    fputs("</table></div></section>\n", output);
}

static void put_commands(FILE *output, const json_t *results) {
    fputs("<section><h2>To repeat a row</h2>\n", output);
    for (size_t i = 0; i < json_array_size(results); i++) {
        fputs("<pre>", output);
        put(output, bench_text_of(json_array_get(results, i), "repeat"));
        fputs("</pre>\n", output);
    }
    fputs("</section>\n", output);
}

bool bench_write_html(FILE *output, const json_t *document) {
    const json_t *results = json_object_get(document, "results");
    const json_t *environment = json_object_get(document, "environment");
    fprintf(
        output,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<title>portmm-bench</title>\n<style>\n%s</style></head>\n"
        "<body><main>\n<h1>How long the first matrix product takes</h1>\n<p class=\"soft\">portmm-bench %s, ",
        page_css, bench_text_of(document, "portmm"));
    put(output, bench_text_of(environment, "date"));
    fputs(" on ", output);
    put(output, bench_text_of(environment, "cpu"));
    fprintf(output, ", %.0f cores%s</p>\n", bench_number_of(environment, "cores"),
            json_is_true(json_object_get(document, "interrupted")) ? "; interrupted before the end" : "");
    put_list(output, "Warnings", json_object_get(document, "warnings"));
    put_groups(output, results);
    put_problems(output, results, json_object_get(document, "peers"));
    put_temperatures(output);
    put_environment(output, document);
    put_commands(output, results);
    fputs("</main></body></html>\n", output);
    return ferror(output) == 0;
}
