/* SPDX-License-Identifier: Apache-2.0 */
#include "html_text.h"

#include "document.h"
#include "report.h"

void bench_html_text(FILE *output, const char *text) {
    static const struct escape {
        char character;
        const char *entity;
    } escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (; *text != '\0'; text++) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
            entity = *text == escapes[i].character ? escapes[i].entity : entity;
        }
        entity != NULL ? fputs(entity, output) : fputc(*text, output);
    }
}

void bench_html_ms(FILE *output, const char *name, double milliseconds) {
    char number[24];
    fprintf(output, "<data class=\"%s\" value=\"%.*g\">%s</data>", name, BENCH_DIGITS, milliseconds,
            bench_format_ms(number, milliseconds));
}

void bench_html_summary(FILE *output, const json_t *summary) {
    size_t count = json_array_size(json_object_get(summary, "raw"));
    bench_html_ms(output, "median", bench_number_of(summary, "median"));
    fputs(" ms <span class=\"soft\">(", output);
    if (count > 1) {
        fputs("IQR ", output);
        bench_html_ms(output, "iqr", bench_number_of(summary, "iqr"));
        fputs(", ", output);
        bench_html_ms(output, "min", bench_number_of(summary, "min"));
        fputs(" to ", output);
        bench_html_ms(output, "max", bench_number_of(summary, "max"));
        fputs(", ", output);
    }
    fprintf(output, "n=%zu)</span>", count);
}
