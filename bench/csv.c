/* SPDX-License-Identifier: Apache-2.0 */
#include "csv.h"

#include "document.h"

#include <string.h>

static const char *const text_columns[] = {"backend", "device", "dtype", "transa", "transb", "start", "temperature"};
static const char *const number_columns[] = {"index", "m", "n", "k", "samples"};
static const char *const metrics[] = {"process_to_result_ms", "first_gemm_ms", "gemm_ms", "gemm_by_process_ms"};
static const char *const spreads[] = {"median", "min", "max", "iqr"};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void put_text(FILE *output, const char *text) {
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, output);
        return;
    }
    fputc('"', output);
    for (; *text != '\0'; text++) {
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, output);
    }
    fputc('"', output);
}

static void put_row(FILE *output, const json_t *row, const char *library, const char *engine) {
    for (size_t i = 0; i < COUNT(metrics); i++) {
        const json_t *summary = json_object_get(row, metrics[i]);
        if (summary == NULL) {
            continue;
        }
        put_text(output, library);
        fputc(',', output);
        put_text(output, engine);
        for (size_t j = 0; j < COUNT(text_columns); j++) {
            fputc(',', output);
            put_text(output, bench_text_of(row, text_columns[j]));
        }
        for (size_t j = 0; j < COUNT(number_columns); j++) {
            fprintf(output, ",%.0f", bench_number_of(row, number_columns[j]));
        }
        fprintf(output, ",%s,%zu", metrics[i], json_array_size(json_object_get(summary, "raw")));
        for (size_t j = 0; j < COUNT(spreads); j++) {
            fprintf(output, ",%.*g", BENCH_DIGITS, bench_number_of(summary, spreads[j]));
        }
        fputs("\r\n", output);
    }
}

static void put_names(FILE *output, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        fprintf(output, ",%s", names[i]);
    }
}

bool bench_write_csv(FILE *output, const json_t *document) {
    const json_t *results = json_object_get(document, "results"), *peers = json_object_get(document, "peers");
    fputs("library,engine", output);
    put_names(output, text_columns, COUNT(text_columns));
    put_names(output, number_columns, COUNT(number_columns));
    fputs(",metric,values", output);
    put_names(output, spreads, COUNT(spreads));
    fputs("\r\n", output);
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *row = json_array_get(results, i);
        put_row(output, row, "libportmm", bench_text_of(row, "engine"));
    }
    for (size_t i = 0; i < json_array_size(peers); i++) {
        const json_t *row = json_array_get(peers, i);
        put_row(output, row, bench_text_of(row, "name"), "");
    }
    return ferror(output) == 0;
}
