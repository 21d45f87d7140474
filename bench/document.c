/* SPDX-License-Identifier: Apache-2.0 */
#include "document.h"

#include "environment.h"
#include "peers.h"
#include "request.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *make_drivers(const bench_block *blocks, size_t count) {
    json_t *drivers = json_array();
    for (size_t i = 0; i < count; i++) {
        const bench_identity *id = &blocks[i].identity;
        /* Blocks of one device follow each other. */
        if (i == 0 || strcmp(id->backend, blocks[i - 1].identity.backend) != 0 ||
            id->index != blocks[i - 1].identity.index) {
            (void)json_array_append_new(drivers, json_pack("{s:s, s:I, s:s, s:s, s:s}", "backend", id->backend, "index",
                                                           (json_int_t)id->index, "device", id->device, "platform",
                                                           id->platform, "driver", id->driver));
        }
    }
    return drivers;
}

static json_t *make_array(const bench_series *series) {
    json_t *array = json_array();
    for (size_t i = 0; i < series->count; i++) {
        (void)json_array_append_new(array, json_real(series->values[i]));
    }
    return array;
}

static json_t *make_summary(const bench_series *series) {
    bench_summary summary = bench_summarize(series);
    return json_pack("{s:f, s:f, s:f, s:f, s:o}", "median", summary.median, "min", summary.min, "max", summary.max,
                     "iqr", summary.iqr, "raw", make_array(series));
}

/* What rows of ours and of peers have in common behind their names. */
static void add_problem(json_t *object, const bench_problem *problem) {
    (void)json_object_update_new(object, json_pack("{s:I, s:I, s:I, s:s, s:s, s:s}", "m", (json_int_t)problem->m, "n",
                                                   (json_int_t)problem->n, "k", (json_int_t)problem->k, "dtype",
                                                   bench_dtype_name(problem->dtype), "transa",
                                                   problem->transa ? "t" : "n", "transb", problem->transb ? "t" : "n"));
}

static void add_times(json_t *object, const bench_options *options, const bench_row *row) {
    (void)json_object_set_new(object, "temperature", json_string(bench_temperature_name(row->temperature)));
    (void)json_object_set_new(object, "samples", json_integer((json_int_t)row->process_to_result.count));
    (void)json_object_set_new(object, "process_to_result_ms", make_summary(&row->process_to_result));
    (void)json_object_set_new(object, "first_gemm_ms", make_summary(&row->first_gemm));
    if (row->temperature == BENCH_WARM) {
        (void)json_object_set_new(object, "gemm_ms", make_summary(&row->gemm));
        (void)json_object_set_new(object, "gemm_by_process_ms", make_summary(&row->gemm_by_process));
    }
    (void)json_object_set_new(object, "loops", json_integer((json_int_t)options->loops));
    (void)json_object_set_new(object, "runs_ms", make_array(&row->runs));
    (void)json_object_set_new(object, "runs_unsynchronised_ms", make_array(&row->unsynchronised));
}

/* Of every sample, in the order of process_to_result_ms. */
static json_t *make_raw_phases(const bench_row *row) {
    json_t *phases = json_object();
    for (int phase = 0; phase < BENCH_PHASE_COUNT; phase++) {
        json_t *values = json_array();
        for (size_t i = 0; i < row->process_to_result.count; i++) {
            (void)json_array_append_new(values, json_real(row->details[i].phases_ms[phase]));
        }
        (void)json_object_set_new(phases, bench_phase_name(phase), values);
    }
    return phases;
}

static void add_detail(json_t *object, const bench_row *row) {
    const bench_detail *detail = bench_median_detail(row);
    json_t *phases = json_object();
    for (int phase = 0; phase < BENCH_PHASE_COUNT; phase++) {
        (void)json_object_set_new(phases, bench_phase_name(phase), json_real(detail->phases_ms[phase]));
    }
    (void)json_object_set_new(object, "phases_ms", phases);
    (void)json_object_set_new(object, "phases_raw_ms", make_raw_phases(row));
    const bench_cache_counts *cache = &detail->cache;
    (void)json_object_set_new(object, "cache",
                              json_pack("{s:I, s:I, s:I, s:I, s:I}", "hits", (json_int_t)cache->hits, "misses",
                                        (json_int_t)cache->misses, "stores", (json_int_t)cache->stores, "bypassed",
                                        (json_int_t)cache->bypassed, "bytes", (json_int_t)cache->bytes));
}

char *bench_make_repeat(const bench_options *options, const bench_block *block, const bench_row *row) {
    const bench_problem *p = &block->problem;
    char *engine = options->engine[0] != '\0' ? bench_format("--engine %s", options->engine)
                                              : bench_format("--start %s", bench_start_name(block->start));
    char *runs = options->runs_given ? bench_format(" --runs %lld", (long long)options->runs) : bench_copy("", 0);
    char *command = bench_format(
        "portmm-bench --backend %s:%lld --shape %lldx%lldx%lld --dtype %s --transa %s --transb %s %s --temperature %s "
        "--samples %lld --loops %lld%s",
        block->identity.backend, (long long)block->identity.index, (long long)p->m, (long long)p->n, (long long)p->k,
        bench_dtype_name(p->dtype), p->transa ? "t" : "n", p->transb ? "t" : "n", engine,
        bench_temperature_name(row->temperature), (long long)options->samples, (long long)options->loops, runs);
    free(engine);
    free(runs);
    return command;
}

static json_t *copy_array(const json_t *array) {
    return array != NULL ? json_copy((json_t *)array) : json_array();
}

static json_t *make_result(const bench_options *options, const bench_block *block, const bench_row *row) {
    const bench_identity *id = &block->identity;
    json_t *object = json_pack("{s:s, s:I, s:s, s:s, s:s, s:s}", "backend", id->backend, "index", (json_int_t)id->index,
                               "device", id->device, "platform", id->platform, "driver", id->driver, "engine",
                               row->engine != NULL ? row->engine : id->engine);
    add_problem(object, &block->problem);
    (void)json_object_set_new(object, "start", json_string(bench_start_name(block->start)));
    add_times(object, options, row);
    (void)json_object_set_new(object, "gflops", json_real(bench_row_gflops(row, &block->problem)));
    bool known = row->verified && isfinite(row->relative_error);
    (void)json_object_set_new(object, "max_rel_error", known ? json_real(row->relative_error) : json_null());
    (void)json_object_set_new(object, "parent_ms", make_summary(&row->parent));
    (void)json_object_set_new(object, "settled", json_boolean(!row->unsettled));
    add_detail(object, row);
    (void)json_object_set_new(object, "switches", copy_array(row->switches));
    (void)json_object_set_new(object, "timeline", copy_array(row->timeline));
    char *repeat = bench_make_repeat(options, block, row);
    (void)json_object_set_new(object, "repeat", bench_json_string(repeat));
    free(repeat);
    return object;
}

static void add_peers(json_t *array, const bench_options *options, const bench_block *block) {
    for (size_t p = 0; p < block->peer_count; p++) {
        const bench_peer *peer = &block->peers[p];
        for (size_t i = 0; i < peer->row_count && peer->absent == NULL; i++) {
            json_t *object =
                json_pack("{s:s, s:s, s:I, s:s}", "name", peer->name, "backend", block->identity.backend, "index",
                          (json_int_t)block->identity.index, "device", peer->device != NULL ? peer->device : "");
            add_problem(object, &block->problem);
            add_times(object, options, &peer->rows[i]);
            (void)json_array_append_new(array, object);
        }
    }
}

static void add_absent_peers(json_t *array, const bench_block *block) {
    for (size_t p = 0; p < block->peer_count; p++) {
        const bench_peer *peer = &block->peers[p];
        if (peer->absent != NULL) {
            json_t *object = json_pack("{s:s, s:s, s:o}", "name", peer->name, "backend", block->identity.backend,
                                       "reason", bench_json_string(peer->absent));
            (void)json_array_append_new(array, object);
        }
    }
}

static void add_warnings(json_t *array, const bench_block *block) {
    char *label = bench_problem_label(&block->problem);
    for (size_t i = 0; i < block->warning_count; i++) {
        char *text = bench_format("%s:%lld %s: %s", block->identity.backend, (long long)block->identity.index, label,
                                  block->warnings[i]);
        (void)json_array_append_new(array, bench_json_string(text));
        free(text);
    }
    free(label);
}

json_t *bench_make_document(const bench_options *options, const bench_block *blocks, size_t count, const json_t *facts,
                            bool interrupted) {
    json_t *results = json_array(), *peers = json_array(), *absent = json_array(), *warnings = json_array();
    for (size_t b = 0; b < count; b++) {
        for (size_t i = 0; i < blocks[b].row_count; i++) {
            (void)json_array_append_new(results, make_result(options, &blocks[b], &blocks[b].rows[i]));
        }
        add_peers(peers, options, &blocks[b]);
        add_absent_peers(absent, &blocks[b]);
        add_warnings(warnings, &blocks[b]);
    }
    json_t *environment = bench_describe_environment();
    (void)json_object_set_new(environment, "drivers", make_drivers(blocks, count));
    (void)json_object_update(environment, (json_t *)facts);
    return json_pack("{s:i, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "schema", (int)BENCH_SCHEMA, "portmm",
                     portmm_version(), "interrupted", (int)interrupted, "environment", environment, "results", results,
                     "peers", peers, "absent_peers", absent, "warnings", warnings);
}

bool bench_write_document(FILE *output, const json_t *document) {
    bool ok = json_dumpf(document, output, JSON_INDENT(2) | JSON_REAL_PRECISION(BENCH_DIGITS)) == 0;
    return fputc('\n', output) != EOF && ok;
}

json_t *bench_read_document(const char *path, char **complaint) {
    json_error_t error;
    json_t *document = json_load_file(path, 0, &error);
    if (document == NULL) {
        *complaint = bench_format("%s: no JSON document can be read: line %d: %s", path, error.line, error.text);
        return NULL;
    }
    json_int_t schema = json_integer_value(json_object_get(document, "schema"));
    if (schema != BENCH_SCHEMA || json_array_size(json_object_get(document, "results")) == 0) {
        *complaint = bench_format("%s: holds no results of schema %d of portmm-bench, but of schema %lld: measure anew",
                                  path, (int)BENCH_SCHEMA, (long long)schema);
        json_decref(document);
        return NULL;
    }
    return document;
}

const char *bench_text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

double bench_number_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

char *bench_row_label(const json_t *row) {
    const char *name = bench_text_of(row, "name"), *start = bench_text_of(row, "start");
    return bench_format("%s%s%s:%.0f %s %.0fx%.0fx%.0f %s%s %s%s%s", name, name[0] != '\0' ? " on " : "",
                        bench_text_of(row, "backend"), bench_number_of(row, "index"), bench_text_of(row, "dtype"),
                        bench_number_of(row, "m"), bench_number_of(row, "n"), bench_number_of(row, "k"),
                        bench_text_of(row, "transa"), bench_text_of(row, "transb"), start, start[0] != '\0' ? " " : "",
                        bench_text_of(row, "temperature"));
}
