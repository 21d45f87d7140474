/* SPDX-License-Identifier: Apache-2.0 */
#include "html.h"

#include "advice.h"
#include "document.h"
#include "embedded/page_css.h"
#include "html_charts.h"
#include "html_text.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

typedef bool (*same_function)(const json_t *one, const json_t *other);

/* Whether no earlier row belongs to the same. */
static bool is_first_of(const json_t *rows, size_t position, same_function same) {
    for (size_t i = 0; i < position; i++) {
        if (same(json_array_get(rows, i), json_array_get(rows, position))) {
            return false;
        }
    }
    return true;
}

/* "f32 1000x1000x1000, A transposed"; new text. */
static char *name_problem(const json_t *row) {
    return bench_format("%s %.0fx%.0fx%.0f%s%s", bench_text_of(row, "dtype"), bench_number_of(row, "m"),
                        bench_number_of(row, "n"), bench_number_of(row, "k"),
                        strcmp(bench_text_of(row, "transa"), "t") == 0 ? ", A transposed" : "",
                        strcmp(bench_text_of(row, "transb"), "t") == 0 ? ", B transposed" : "");
}

/* ---- a device, product and start policy ---- */

static bench_series read_series(const json_t *array) {
    bench_series series = {0};
    for (size_t i = 0; i < json_array_size(array); i++) {
        bench_series_add(&series, json_number_value(json_array_get(array, i)));
    }
    return series;
}

static void put_phase_cell(FILE *output, const json_t *row, size_t position, const char *phase) {
    bench_series all = read_series(json_object_get(json_object_get(row, "phases_raw_ms"), phase));
    bench_summary summary = bench_summarize(&all);
    if (summary.max == 0 && summary.min == 0) {
        fputs("<td>&ndash;</td>", output);
    } else {
        fprintf(output, "<td data-row=\"results/%zu\" data-phase=\"", position);
        bench_html_text(output, phase);
        fputs("\">", output);
        bench_html_ms(output, "value", bench_number_of(json_object_get(row, "phases_ms"), phase));
        fputs(" <span class=\"soft\">", output);
        if (all.count > 1) {
            fputs("IQR ", output);
            bench_html_ms(output, "iqr", summary.iqr);
        } else {
            fputs("n=1", output);
        }
        fputs("</span></td>", output);
    }
    bench_series_fini(&all);
}

static void put_phases(FILE *output, const json_t *rows, const json_t *first) {
    fputs("<h3>Phases, ms: of the process with the median time, and their spread over all processes</h3>\n"
          "<div class=\"scroll\"><table><tr><th>phase</th>",
          output);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (bench_html_same_group(row, first)) {
            fputs("<th>", output);
            bench_html_text(output, bench_text_of(row, "temperature"));
            fputs("</th>", output);
        }
    }
    fputs("</tr>\n", output);
    const char *phase;
    json_t *value;
    json_object_foreach(json_object_get(first, "phases_ms"), phase, value) {
        fputs("<tr><td>", output);
        bench_html_text(output, phase);
        fputs("</td>", output);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            if (bench_html_same_group(json_array_get(rows, i), first)) {
                put_phase_cell(output, json_array_get(rows, i), i, phase);
            }
        }
        fputs("</tr>\n", output);
    }
    fputs("</table></div>\n", output);
}

/* The texts that are not empty, with commas between them. */
static void put_joined(FILE *output, const char *const *texts, size_t count) {
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (texts[i][0] != '\0') {
            fputs(any ? ", " : "", output);
            bench_html_text(output, texts[i]);
            any = true;
        }
    }
}

static void put_group(FILE *output, const json_t *rows, const json_t *first) {
    char *problem = name_problem(first);
    char *title = bench_format("%s:%.0f, start policy %s, %s", bench_text_of(first, "backend"),
                               bench_number_of(first, "index"), bench_text_of(first, "start"), problem);
    const char *driver = bench_text_of(first, "driver");
    char *version = driver[0] != '\0' ? bench_format("driver %s", driver) : bench_copy("", 0);
    const char *const facts[] = {bench_text_of(first, "device"), bench_text_of(first, "platform"), version};
    fputs("<section><h2>", output);
    bench_html_text(output, title);
    fputs("</h2>\n<p>", output);
    put_joined(output, facts, sizeof facts / sizeof facts[0]);
    fputs("</p>\n", output);
    bench_html_waterfalls(output, rows, first);
    put_phases(output, rows, first);
    fputs("</section>\n", output);
    free(version);
    free(title);
    free(problem);
}

static void put_groups(FILE *output, const json_t *rows) {
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (is_first_of(rows, i, bench_html_same_group)) {
            put_group(output, rows, json_array_get(rows, i));
        }
    }
}

/* ---- all side by side ---- */

static void put_problems(FILE *output, const json_t *document) {
    const json_t *results = json_object_get(document, "results");
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *row = json_array_get(results, i);
        if (!is_first_of(results, i, bench_html_same_problem)) {
            continue;
        }
        char *problem = name_problem(row);
        fputs("<section><h2>All side by side, ", output);
        bench_html_text(output, problem);
        fputs("</h2>\n<p class=\"soft\">Bars are medians, each chart on its own scale; the thin line reaches from the "
              "fastest to the slowest value. <i class=\"key ours\"></i> libportmm <i class=\"key peer\"></i> other "
              "libraries</p>\n<div class=\"charts\">\n",
              output);
        bench_html_bars(output, document, row);
        fputs("</div></section>\n", output);
        free(problem);
    }
}

/* ---- environment, commands ---- */

static void put_value(FILE *output, const json_t *value);

static void put_members(FILE *output, const json_t *object) {
    const char *name;
    json_t *value;
    bool any = false;
    json_object_foreach((json_t *)object, name, value) {
        fputs(any ? ", " : "", output);
        bench_html_text(output, name);
        fputs(" ", output);
        put_value(output, value);
        any = true;
    }
    fputs(any ? "" : "none", output);
}

static void put_value(FILE *output, const json_t *value) {
    if (json_is_string(value)) {
        bench_html_text(output, json_string_length(value) != 0 ? json_string_value(value) : "unknown");
    } else if (json_is_object(value)) {
        put_members(output, value);
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            fputs(i != 0 ? "<br>" : "", output);
            put_value(output, json_array_get(value, i));
        }
        fputs(json_array_size(value) == 0 ? "none" : "", output);
    } else if (json_is_number(value)) {
        fprintf(output, "%.*g", BENCH_DIGITS, json_number_value(value));
    } else {
        fputs(json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "unknown", output);
    }
}

static void put_facts(FILE *output, const char *title, const json_t *facts) {
    const char *name;
    json_t *value;
    fprintf(output, "<section><h2>%s</h2>\n<div class=\"scroll\"><table class=\"facts\">\n", title);
    json_object_foreach((json_t *)facts, name, value) {
        fputs("<tr><td>", output);
        bench_html_text(output, name);
        fputs("</td><td>", output);
        put_value(output, value);
        fputs("</td></tr>\n", output);
    }
    fputs("</table></div></section>\n", output);
}

static void put_temperatures(FILE *output) {
    json_t *definitions = json_object();
    for (int t = 0; t < BENCH_TEMPERATURE_COUNT; t++) {
        (void)json_object_set_new(definitions, bench_temperature_name((bench_temperature)t),
                                  json_string(bench_temperature_definition((bench_temperature)t)));
    }
    put_facts(output, "Temperatures", definitions);
    json_decref(definitions);
}

static void put_list(FILE *output, const char *title, const json_t *texts) {
    if (json_array_size(texts) == 0) {
        return;
    }
    fprintf(output, "<section><h2>%s</h2>\n<ul>\n", title);
    for (size_t i = 0; i < json_array_size(texts); i++) {
        fputs("<li>", output);
        put_value(output, json_array_get(texts, i));
        fputs("</li>\n", output);
    }
    fputs("</ul></section>\n", output);
}

static void put_advice(FILE *output, const json_t *document) {
    json_t *advice = bench_list_advice(document), *lines = json_array();
    for (size_t i = 0; i < json_array_size(advice); i++) {
        const json_t *item = json_array_get(advice, i);
        (void)json_array_append_new(
            lines, json_sprintf("%s: %s", bench_text_of(item, "found"), bench_text_of(item, "advice")));
    }
    put_list(output, "What would help here", lines);
    json_decref(lines);
    json_decref(advice);
}

static void put_commands(FILE *output, const json_t *results) {
    fputs("<section><h2>To repeat a row</h2>\n", output);
    for (size_t i = 0; i < json_array_size(results); i++) {
        fputs("<pre>", output);
        bench_html_text(output, bench_text_of(json_array_get(results, i), "repeat"));
        fputs("</pre>\n", output);
    }
    fputs("</section>\n", output);
}

static void put_head(FILE *output, const json_t *document) {
    const json_t *environment = json_object_get(document, "environment");
    fprintf(
        output,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<title>portmm-bench</title>\n<style>\n%s</style></head>\n"
        "<body><main>\n<h1>How long the first matrix product takes</h1>\n<p class=\"soft\">",
        page_css);
    char *version = bench_format("portmm-bench %s", bench_text_of(document, "portmm"));
    char *cores = bench_format("%.0f cores", bench_number_of(environment, "cores"));
    const char *const facts[] = {version, bench_text_of(environment, "date"), bench_text_of(environment, "cpu"), cores,
                                 json_is_true(json_object_get(document, "interrupted")) ? "interrupted before the end"
                                                                                        : ""};
    put_joined(output, facts, sizeof facts / sizeof facts[0]);
    fputs("</p>\n", output);
    free(cores);
    free(version);
}

bool bench_write_html(FILE *output, const json_t *document) {
    const json_t *results = json_object_get(document, "results");
    put_head(output, document);
    put_list(output, "Warnings", json_object_get(document, "warnings"));
    put_advice(output, document);
    put_groups(output, results);
    put_problems(output, document);
    put_list(output, "Peers that are absent", json_object_get(document, "absent_peers"));
    put_temperatures(output);
    put_facts(output, "Environment", json_object_get(document, "environment"));
    put_commands(output, results);
    fputs("</main></body></html>\n", output);
    return ferror(output) == 0;
}
