/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include "document.h"

#include <stdlib.h>

/* A row is shown as a process, the library's threads as threads of it; Perfetto nests spans of one thread by time. */

static void add_name(json_t *events, const char *kind, size_t pid, json_int_t tid, json_t *name) {
    (void)json_array_append_new(events, json_pack("{s:s, s:s, s:I, s:I, s:{s:o}}", "name", kind, "ph", "M", "pid",
                                                  (json_int_t)pid, "tid", tid, "args", "name", name));
}

static void add_spans(json_t *events, const json_t *timeline, size_t pid) {
    for (size_t i = 0; i < json_array_size(timeline); i++) {
        const json_t *span = json_array_get(timeline, i);
        double begin_us = 1000 * bench_number_of(span, "begin_ms"), end_us = 1000 * bench_number_of(span, "end_ms");
        (void)json_array_append_new(events, json_pack("{s:s, s:s, s:s, s:f, s:f, s:I, s:O, s:{s:s}}", "name",
                                                      bench_text_of(span, "phase"), "cat", "phase", "ph", "X", "ts",
                                                      begin_us, "dur", end_us - begin_us, "pid", (json_int_t)pid, "tid",
                                                      json_object_get(span, "thread"), "args", "detail",
                                                      bench_text_of(span, "detail")));
    }
}

static void add_moment(json_t *events, json_t *name, double at_ms, size_t pid) {
    (void)json_array_append_new(events,
                                json_pack("{s:o, s:s, s:s, s:f, s:I, s:i, s:s}", "name", name, "cat", "moment", "ph",
                                          "i", "ts", 1000 * at_ms, "pid", (json_int_t)pid, "tid", 0, "s", "p"));
}

static void add_row(json_t *events, const json_t *row, size_t pid) {
    char *label = bench_row_label(row);
    add_name(events, "process_name", pid, 0, json_string(label));
    add_name(events, "thread_name", pid, 0, json_string("calls of the program"));
    free(label);
    add_spans(events, json_object_get(row, "timeline"), pid);
    const json_t *raw = json_object_get(json_object_get(row, "process_to_result_ms"), "raw");
    add_moment(events, json_string("first result"), json_number_value(json_array_get(raw, 0)), pid);
    const json_t *switches = json_object_get(row, "switches");
    for (size_t i = 0; i < json_array_size(switches); i++) {
        const json_t *change = json_array_get(switches, i);
        add_moment(events,
                   json_sprintf("engine %s to %s: %s", bench_text_of(change, "from"), bench_text_of(change, "to"),
                                bench_text_of(change, "why")),
                   bench_number_of(change, "at_ms"), pid);
    }
}

bool bench_write_trace(FILE *output, const json_t *document) {
    const json_t *results = json_object_get(document, "results");
    json_t *events = json_array();
    for (size_t i = 0; i < json_array_size(results); i++) {
        add_row(events, json_array_get(results, i), i + 1);
    }
    json_t *trace = json_pack("{s:s, s:O, s:o}", "displayTimeUnit", "ms", "otherData",
                              json_object_get(document, "environment"), "traceEvents", events);
    bool ok = trace != NULL && json_dumpf(trace, output, JSON_INDENT(1) | JSON_REAL_PRECISION(BENCH_DIGITS)) == 0;
    json_decref(trace);
    return fputc('\n', output) != EOF && ok;
}
