/* SPDX-License-Identifier: Apache-2.0 */
#include "block.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *bench_phase_name(int phase) {
    return phase == BENCH_UNATTRIBUTED ? "unattributed" : portmm_phase_name((portmm_phase)phase);
}

static void fini_row(bench_row *row) {
    free(row->engine);
    bench_series_fini(&row->process_to_result);
    bench_series_fini(&row->first_gemm);
    bench_series_fini(&row->parent);
    bench_series_fini(&row->gemm);
    bench_series_fini(&row->gemm_by_process);
    bench_series_fini(&row->runs);
    bench_series_fini(&row->unsynchronised);
    json_decref(row->timeline);
    json_decref(row->switches);
    free(row->details);
}

void bench_block_fini(bench_block *block) {
    for (size_t i = 0; i < block->row_count; i++) {
        fini_row(&block->rows[i]);
    }
    for (size_t p = 0; p < block->peer_count; p++) {
        for (size_t i = 0; i < block->peers[p].row_count; i++) {
            fini_row(&block->peers[p].rows[i]);
        }
        free(block->peers[p].absent);
        free(block->peers[p].device);
    }
    for (size_t i = 0; i < block->warning_count; i++) {
        free(block->warnings[i]);
    }
    free(block->peers);
    free(block->warnings);
    bench_identity_fini(&block->identity);
    *block = (bench_block){0};
}

void bench_block_warn(bench_block *block, char *warning) {
    for (size_t i = 0; i < block->warning_count; i++) {
        if (strcmp(block->warnings[i], warning) == 0) {
            free(warning);
            return;
        }
    }
    block->warnings = bench_resize(block->warnings, block->warning_count + 1, sizeof *block->warnings);
    block->warnings[block->warning_count++] = warning;
}

static char *read_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? bench_copy(text, strlen(text)) : bench_copy("", 0);
}

void bench_identity_read(bench_identity *identity, const json_t *result) {
    *identity = (bench_identity){
        .backend = read_text(result, "backend"),
        .device = read_text(result, "device"),
        .platform = read_text(result, "platform"),
        .driver = read_text(result, "driver"),
        .engine = read_text(result, "engine"),
        .reason = read_text(result, "reason"),
        .index = json_integer_value(json_object_get(result, "device_index")),
    };
}

void bench_identity_fini(bench_identity *identity) {
    free(identity->backend);
    free(identity->device);
    free(identity->platform);
    free(identity->driver);
    free(identity->engine);
    free(identity->reason);
    *identity = (bench_identity){0};
}

static double read_number(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static void read_series(const json_t *object, const char *key, bench_series *series) {
    const json_t *array = json_object_get(object, key);
    for (size_t i = 0; i < json_array_size(array); i++) {
        bench_series_add(series, json_number_value(json_array_get(array, i)));
    }
}

static void read_detail(const json_t *result, double process_to_result_ms, bench_detail *detail) {
    const json_t *phases = json_object_get(result, "phases_ms"), *cache = json_object_get(result, "cache");
    double attributed = 0;
    for (int i = 0; i < PORTMM_PHASE_COUNT; i++) {
        detail->phases_ms[i] = read_number(phases, bench_phase_name(i));
        attributed += detail->phases_ms[i];
    }
    detail->phases_ms[BENCH_UNATTRIBUTED] = process_to_result_ms - attributed;
    detail->cache = (bench_cache_counts){
        .hits = json_integer_value(json_object_get(cache, "hits")),
        .misses = json_integer_value(json_object_get(cache, "misses")),
        .stores = json_integer_value(json_object_get(cache, "stores")),
        .bypassed = json_integer_value(json_object_get(cache, "bypassed")),
        .bytes = json_integer_value(json_object_get(cache, "bytes")),
        .helpers = json_integer_value(json_object_get(cache, "helpers")),
        .faults = json_integer_value(json_object_get(cache, "faults")),
    };
}

static void read_first_sample(const json_t *result, bench_row *row) {
    const json_t *verdict = json_object_get(result, "verdict");
    const json_t *error = json_object_get(verdict, "relative_error");
    row->verified = verdict != NULL;
    row->correct = json_is_true(json_object_get(verdict, "correct"));
    row->relative_error = json_is_number(error) ? json_number_value(error) : (double)NAN;
    row->rows_compared = json_integer_value(json_object_get(verdict, "rows"));
    row->timeline = json_incref(json_object_get(result, "timeline"));
    row->switches = json_incref(json_object_get(result, "switches"));
    read_series(result, "runs_ms", &row->runs);
    read_series(result, "runs_unsynchronised_ms", &row->unsynchronised);
}

void bench_row_add(bench_row *row, const json_t *result) {
    size_t position = row->process_to_result.count;
    double process_to_result_ms = read_number(result, "process_to_result_ms");
    if (position == 0) {
        read_first_sample(result, row);
    }
    if (json_object_get(result, "phases_ms") != NULL) {
        row->details = bench_resize(row->details, position + 1, sizeof *row->details);
        read_detail(result, process_to_result_ms, &row->details[position]);
    }
    bench_series_add(&row->process_to_result, process_to_result_ms);
    bench_series_add(&row->first_gemm, read_number(result, "first_gemm_ms"));
    bench_series_add(&row->parent, read_number(result, "parent_ms"));
    bench_series steady = {0};
    read_series(result, "gemm_ms", &steady);
    if (steady.count != 0) {
        bench_series_add(&row->gemm_by_process, bench_quantile(&steady, 0.5));
    }
    bench_series_fini(&steady);
    read_series(result, "gemm_ms", &row->gemm);
    row->unsettled = row->unsettled || json_is_false(json_object_get(result, "settled"));
}

const bench_row *bench_find_row(const bench_row *rows, size_t count, bench_temperature temperature) {
    for (size_t i = 0; i < count; i++) {
        if (rows[i].temperature == temperature) {
            return &rows[i];
        }
    }
    return NULL;
}

const bench_detail *bench_median_detail(const bench_row *row) {
    return &row->details[bench_median_position(&row->process_to_result)];
}

double bench_row_product_ms(const bench_row *row) {
    bool warm = row->temperature == BENCH_WARM;
    return bench_summarize(warm ? &row->gemm : &row->first_gemm).median;
}

double bench_row_gflops(const bench_row *row, const bench_problem *problem) {
    double product_ms = bench_row_product_ms(row);
    return product_ms > 0 ? bench_flop_count(problem) / (product_ms * 1e6) : 0;
}
