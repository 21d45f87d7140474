/* SPDX-License-Identifier: Apache-2.0 */
#include "outputs.h"

#include "csv.h"
#include "html.h"
#include "terminal.h"
#include "trace.h"

#include <string.h>

static const struct format {
    const char *option;
    bool (*write)(FILE *output, const json_t *document);
} formats[BENCH_FORMAT_COUNT] = {
    [BENCH_JSON] = {"--json", bench_write_document},
    [BENCH_CSV] = {"--csv", bench_write_csv},
    [BENCH_TRACE] = {"--trace", bench_write_trace},
    [BENCH_HTML] = {"--html", bench_write_html},
};

static bool open_output(bench_output *output, const char *path) {
    output->path = path;
    if (path == NULL) {
        return true;
    }
    if (strcmp(path, "-") == 0) {
        output->file = stdout;
        return true;
    }
    FILE *existing = fopen(path, "rb");
    output->created = existing == NULL;
    if (existing != NULL) {
        (void)fclose(existing);
    }
    /* What an older file holds stays until there is something to put in its place. */
    output->file = fopen(path, "ab");
    return output->file != NULL;
}

bool bench_outputs_open(bench_outputs *outputs, const bench_options *options) {
    for (int i = 0; i < BENCH_FORMAT_COUNT; i++) {
        if (!open_output(&outputs->files[i], options->paths[i])) {
            bench_complain("%s %s: cannot write it; name a file in a directory that exists and is yours, or -",
                           formats[i].option, options->paths[i]);
            return false;
        }
    }
    return true;
}

bool bench_outputs_have_stdout(const bench_outputs *outputs) {
    for (int i = 0; i < BENCH_FORMAT_COUNT; i++) {
        if (outputs->files[i].file == stdout) {
            return true;
        }
    }
    return false;
}

static bool write_output(bench_output *output, const struct format *format, const json_t *document) {
    if (output->file != stdout) {
        output->file = freopen(output->path, "wb", output->file);
    }
    output->created = false;
    return output->file != NULL && format->write(output->file, document) && fflush(output->file) == 0;
}

bool bench_outputs_write(bench_outputs *outputs, const json_t *document) {
    bool all = true;
    for (int i = 0; i < BENCH_FORMAT_COUNT; i++) {
        bench_output *output = &outputs->files[i];
        if (output->file != NULL && !write_output(output, &formats[i], document)) {
            bench_complain("%s %s: cannot write it: is the disk full?", formats[i].option, output->path);
            all = false;
        }
    }
    return all;
}

void bench_outputs_close(bench_outputs *outputs) {
    for (int i = 0; i < BENCH_FORMAT_COUNT; i++) {
        bench_output *output = &outputs->files[i];
        if (output->file != NULL && output->file != stdout) {
            (void)fclose(output->file);
            if (output->created) {
                (void)remove(output->path);
            }
        }
    }
}
