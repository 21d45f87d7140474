/* SPDX-License-Identifier: Apache-2.0 */
#include "json_out.h"

#include "environment.h"
#include "peers.h"
#include "request.h"
#include "text.h"

#include <math.h>
#include <string.h>

enum { SCHEMA = 2 };

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
    (void)json_object_update_new(object, json_pack("{s:I, s:I, s:I, s:s}", "m", (json_int_t)problem->m, "n",
                                                   (json_int_t)problem->n, "k", (json_int_t)problem->k, "dtype",
                                                   bench_dtype_name(problem->dtype)));
}

static void add_times(json_t *object, const bench_row *row) {
    (void)json_object_set_new(object, "temperature", json_string(bench_temperature_name(row->temperature)));
    (void)json_object_set_new(object, "samples", json_integer((json_int_t)row->process_to_result.count));
    (void)json_object_set_new(object, "process_to_result_ms", make_summary(&row->process_to_result));
    (void)json_object_set_new(object, "first_gemm_ms", make_summary(&row->first_gemm));
    if (row->temperature == BENCH_WARM) {
        (void)json_object_set_new(object, "gemm_ms", make_summary(&row->gemm));
    }
    (void)json_object_set_new(object, "runs_ms", make_array(&row->runs));
    (void)json_object_set_new(object, "runs_unsynchronised_ms", make_array(&row->unsynchronised));
}

static void add_detail(json_t *object, const bench_row *row) {
    const bench_detail *detail = bench_median_detail(row);
    json_t *phases = json_object();
    for (int phase = 0; phase < BENCH_PHASE_COUNT; phase++) {
        (void)json_object_set_new(phases, bench_phase_name(phase), json_real(detail->phases_ms[phase]));
    }
    (void)json_object_set_new(object, "phases_ms", phases);
    const bench_cache_counts *cache = &detail->cache;
    (void)json_object_set_new(object, "cache",
                              json_pack("{s:I, s:I, s:I, s:I, s:I}", "hits", (json_int_t)cache->hits, "misses",
                                        (json_int_t)cache->misses, "stores", (json_int_t)cache->stores, "bypassed",
                                        (json_int_t)cache->bypassed, "bytes", (json_int_t)cache->bytes));
}

static json_t *make_result(const bench_block *block, const bench_row *row) {
    const bench_identity *id = &block->identity;
    json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "backend", id->backend, "device", id->device, "driver",
                               id->driver, "engine", row->engine != NULL ? row->engine : id->engine);
    add_problem(object, &block->problem);
    (void)json_object_set_new(object, "start", json_string(bench_start_name(block->start)));
    add_times(object, row);
    (void)json_object_set_new(object, "gflops", json_real(bench_row_gflops(row, &block->problem)));
    bool known = row->verified && isfinite(row->relative_error);
    (void)json_object_set_new(object, "max_rel_error", known ? json_real(row->relative_error) : json_null());
    add_detail(object, row);
    return object;
}

static void add_peers(json_t *array, const bench_block *block) {
    for (size_t p = 0; p < block->peer_count; p++) {
        const bench_peer *peer = &block->peers[p];
        for (size_t i = 0; i < peer->row_count && peer->absent == NULL; i++) {
            json_t *object = json_pack("{s:s, s:s, s:s}", "name", peer->name, "backend", block->identity.backend,
                                       "device", peer->device != NULL ? peer->device : "");
            add_problem(object, &block->problem);
            add_times(object, &peer->rows[i]);
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

bool bench_write_json(FILE *output, const bench_block *blocks, size_t count) {
    json_t *results = json_array(), *peers = json_array(), *absent = json_array();
    for (size_t b = 0; b < count; b++) {
        for (size_t i = 0; i < blocks[b].row_count; i++) {
            (void)json_array_append_new(results, make_result(&blocks[b], &blocks[b].rows[i]));
        }
        add_peers(peers, &blocks[b]);
        add_absent_peers(absent, &blocks[b]);
    }
    json_t *environment = bench_describe_environment();
    (void)json_object_set_new(environment, "drivers", make_drivers(blocks, count));
    json_t *root = json_pack("{s:i, s:s, s:o, s:o, s:o, s:o}", "schema", (int)SCHEMA, "portmm", portmm_version(),
                             "environment", environment, "results", results, "peers", peers, "absent_peers", absent);
    /* 12 digits: nanoseconds up to a quarter of an hour. */
    bool ok = root != NULL && json_dumpf(root, output, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0;
    ok = fputc('\n', output) != EOF && ok;
    ok = fflush(output) == 0 && ok;
    json_decref(root);
    return ok;
}
