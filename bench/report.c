/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "document.h"
#include "peers.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *bench_format_ms(char buffer[24], double milliseconds) {
    double size = fabs(milliseconds);
    int digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
    (void)snprintf(buffer, 24, "%.*f", digits, milliseconds);
    return buffer;
}

void bench_print_wrapped(FILE *output, const char *lead, const char *text) {
    size_t indent = strlen(lead), column = indent;
    fputs(lead, output);
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        bool breaks = column > indent && column + 1 + length > 100;
        if (column > indent) {
            fprintf(output, "%s%*s", breaks ? "\n" : " ", breaks ? (int)indent : 0, "");
            column = breaks ? indent : column + 1;
        }
        fprintf(output, "%.*s", (int)length, text);
        column += length;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', output);
}

static void print_if_any(FILE *output, const char *before, const char *text) {
    if (text[0] != '\0') {
        fprintf(output, "%s%s, ", before, text);
    }
}

static void print_title(FILE *output, const bench_options *options, const bench_block *block) {
    const bench_identity *id = &block->identity;
    char *label = bench_problem_label(&block->problem);
    fprintf(output, "%s:%lld  %s\n", id->backend, (long long)id->index, id->device);
    print_if_any(output, "", id->platform);
    print_if_any(output, "driver ", id->driver);
    fprintf(output, "start policy %s; %s\n",
            options->engine[0] != '\0' ? "none: one engine" : bench_start_name(block->start), label);
    fprintf(output, "C := op(A) op(B), row-major; medians of %lld process%s for each temperature, interleaved\n",
            (long long)options->samples, options->samples == 1 ? "" : "es");
    free(label);
}

/* ---- times ---- */

static void print_times_head(FILE *output, const char *name) {
    fprintf(output, "\n%-20s %14s %5s %18s %5s %12s %5s %9s\n", name, "first GEMM ms", "IQR", "process-result ms",
            "IQR", "steady ms", "IQR", "GFLOP/s");
}

static void print_summary(FILE *output, int width, const bench_series *series) {
    char number[24], spread[24] = "";
    if (series->count == 0) {
        fprintf(output, " %*s %5s", width, "-", "");
        return;
    }
    bench_summary summary = bench_summarize(series);
    if (series->count == 1) {
        (void)snprintf(spread, sizeof spread, "n=1");
    } else if (summary.median > 0) {
        (void)snprintf(spread, sizeof spread, "%.0f%%%s", 100 * summary.iqr / summary.median,
                       bench_is_noisy(&summary) ? "!" : "");
    }
    fprintf(output, " %*s %5s", width, bench_format_ms(number, summary.median), spread);
}

static void print_times_row(FILE *output, const char *name, const bench_problem *problem, const bench_row *row) {
    fprintf(output, "  %-18s", name);
    print_summary(output, 14, &row->first_gemm);
    print_summary(output, 18, &row->process_to_result);
    print_summary(output, 12, &row->gemm);
    fprintf(output, " %9.4g\n", bench_row_gflops(row, problem));
}

static void print_times(FILE *output, const bench_block *block) {
    print_times_head(output, "libportmm");
    for (size_t i = 0; i < block->row_count; i++) {
        const bench_row *row = &block->rows[i];
        char name[64];
        (void)snprintf(name, sizeof name, "%-9s %s", bench_temperature_name(row->temperature),
                       row->engine != NULL ? row->engine : "");
        print_times_row(output, name, &block->problem, row);
    }
    for (size_t p = 0; p < block->peer_count; p++) {
        const bench_peer *peer = &block->peers[p];
        if (peer->absent != NULL) {
            continue;
        }
        char *name = bench_format("raw %s", peer->name);
        print_times_head(output, name);
        free(name);
        for (size_t i = 0; i < peer->row_count; i++) {
            print_times_row(output, bench_temperature_name(peer->rows[i].temperature), &block->problem, &peer->rows[i]);
        }
    }
    fputs("  GFLOP/s: of the steady product if warm, else of the first\n", output);
}

/* ---- phases ---- */

/* IQR over all samples, in percent of their median. */
static void format_phase_spread(char spread[24], const bench_row *row, int phase) {
    bench_series all = {0};
    for (size_t i = 0; i < row->process_to_result.count; i++) {
        bench_series_add(&all, row->details[i].phases_ms[phase]);
    }
    bench_summary summary = bench_summarize(&all);
    spread[0] = '\0';
    if (all.count == 1) {
        (void)snprintf(spread, 24, "n=1");
    } else if (summary.median != 0) {
        (void)snprintf(spread, 24, "%.0f%%", fmin(100 * summary.iqr / fabs(summary.median), 9999));
    }
    bench_series_fini(&all);
}

static void print_phase(FILE *output, const bench_block *block, int phase) {
    char number[24], spread[24];
    bool any = phase == BENCH_UNATTRIBUTED;
    for (size_t i = 0; i < block->row_count; i++) {
        any = any || bench_median_detail(&block->rows[i])->phases_ms[phase] > 0;
    }
    if (!any) {
        return;
    }
    fprintf(output, "  %-18s", bench_phase_name(phase));
    for (size_t i = 0; i < block->row_count; i++) {
        const bench_row *row = &block->rows[i];
        double value = bench_median_detail(row)->phases_ms[phase];
        format_phase_spread(spread, row, phase);
        fprintf(output, " %9s %5s", value != 0 ? bench_format_ms(number, value) : "-", value != 0 ? spread : "");
    }
    fputc('\n', output);
}

static void print_cache(FILE *output, const bench_block *block) {
    fprintf(output, "  %-18s", "cache hit/miss");
    for (size_t i = 0; i < block->row_count; i++) {
        const bench_cache_counts *cache = &bench_median_detail(&block->rows[i])->cache;
        char counts[48];
        (void)snprintf(counts, sizeof counts, "%lld/%lld", (long long)cache->hits, (long long)cache->misses);
        fprintf(output, " %9s %5s", counts, "");
    }
    fputc('\n', output);
}

static void print_phases(FILE *output, const bench_block *block) {
    char number[24];
    fprintf(output, "\n%-20s", "phases, ms");
    for (size_t i = 0; i < block->row_count; i++) {
        fprintf(output, " %9s %5s", bench_temperature_name(block->rows[i].temperature), "IQR");
    }
    fputc('\n', output);
    for (int phase = 0; phase < BENCH_PHASE_COUNT; phase++) {
        print_phase(output, block, phase);
    }
    fprintf(output, "  %-18s", "process to result");
    for (size_t i = 0; i < block->row_count; i++) {
        const bench_series *series = &block->rows[i].process_to_result;
        fprintf(output, " %9s %5s", bench_format_ms(number, series->values[bench_median_position(series)]), "");
    }
    fputc('\n', output);
    print_cache(output, block);
    fputs("  of the process with the median time; IQR: of the phase over all processes\n", output);
}

/* ---- runs ---- */

static void print_runs_series(FILE *output, const char *name, const bench_series *series) {
    char number[24];
    fprintf(output, "  %-9s", name);
    for (size_t i = 0; i < series->count; i++) {
        if (i != 0 && i % 10 == 0) {
            fprintf(output, "\n  %-9s", "");
        }
        fprintf(output, " %7s", bench_format_ms(number, series->values[i]));
    }
    fputc('\n', output);
}

/* Some run looked less than half as long to who did not wait for the device. */
static bool is_misleading(const bench_row *row) {
    for (size_t i = 0; i < row->runs.count && i < row->unsynchronised.count; i++) {
        if (row->unsynchronised.values[i] < 0.5 * row->runs.values[i]) {
            return true;
        }
    }
    return false;
}

/* True if the unsynchronised times are shown, too. */
static bool print_runs_row(FILE *output, const bench_row *row) {
    bool misleading = is_misleading(row);
    print_runs_series(output, bench_temperature_name(row->temperature), &row->runs);
    if (misleading) {
        print_runs_series(output, "  unwaited", &row->unsynchronised);
    }
    return misleading;
}

static bool print_peer_runs(FILE *output, const bench_peer *peer) {
    bool misleading = false;
    if (peer->absent != NULL) {
        return false;
    }
    for (size_t i = 0; i < peer->row_count; i++) {
        if (i == 0) {
            fprintf(output, "raw %s%s%s\n", peer->name, peer->device != NULL ? " on " : "",
                    peer->device != NULL ? peer->device : "");
        }
        misleading = print_runs_row(output, &peer->rows[i]) || misleading;
    }
    return misleading;
}

static void print_runs(FILE *output, const bench_options *options, const bench_block *block) {
    bool cut = false, misleading = false;
    if (options->runs == 0 || options->loops == 0) {
        return;
    }
    fprintf(output, "\nthe founding experiment: runs of %lld product%s, ms, run #0 first, in one process each\n",
            (long long)options->loops, options->loops == 1 ? "" : "s");
    for (size_t i = 0; i < block->row_count; i++) {
        misleading = print_runs_row(output, &block->rows[i]) || misleading;
        cut = cut || block->rows[i].runs.count < (size_t)options->runs;
    }
    for (size_t p = 0; p < block->peer_count; p++) {
        misleading = print_peer_runs(output, &block->peers[p]) || misleading;
    }
    fputs("  Run #0 reaches from the first call into libportmm to the end of its last product.\n", output);
    if (misleading) {
        fputs("  unwaited: the same runs by a clock read when the last call returned, before the products were\n"
              "  complete. It is no time of a product, only what a script shows that does not wait.\n",
              output);
    }
    if (cut) {
        fputs("  Cut: unless --runs is given, the runs of a process stop after 5 s.\n", output);
    }
}

/* ---- peers ---- */

static void print_ratio(FILE *output, const bench_block *block, const bench_peer *peer, const bench_ratio *ratio) {
    char *name = bench_format("%s %s %s / raw %s %s %s", block->identity.backend,
                              bench_temperature_name(ratio->ours->temperature), ratio->what, peer->name,
                              bench_temperature_name(ratio->theirs->temperature), ratio->what);
    if (ratio->single) {
        fprintf(output, "  %-62s = %-8.4g (n=1)\n", name, ratio->ratio);
    } else {
        fprintf(output, "  %-62s = %-8.4g (%.3g to %.3g)\n", name, ratio->ratio, ratio->low, ratio->high);
    }
    free(name);
}

static void print_peers(FILE *output, const bench_options *options, const bench_block *block) {
    if (!options->peers) {
        return;
    }
    fputs("\nratios of medians, and their 99 % intervals by resampling processes; below 1, libportmm is faster;\nto "
          "result: from the start of the process\n",
          output);
    if (block->peer_count == 0) {
        fprintf(output, "  no peer program for backend %s\n", block->identity.backend);
    }
    for (size_t p = 0; p < block->peer_count; p++) {
        const bench_peer *peer = &block->peers[p];
        if (peer->absent != NULL) {
            char *line = bench_format("%s: absent: %s", peer->name, peer->absent);
            bench_print_wrapped(output, "  ", line);
            free(line);
            continue;
        }
        bench_ratio ratios[BENCH_RATIO_MOST];
        size_t count = bench_make_ratios(block, peer, ratios);
        for (size_t i = 0; i < count; i++) {
            print_ratio(output, block, peer, &ratios[i]);
        }
    }
}

/* ---- switches, and how to repeat ---- */

static void print_switches(FILE *output, const bench_block *block) {
    char number[24];
    for (size_t i = 0; i < block->row_count; i++) {
        const bench_row *row = &block->rows[i];
        for (size_t s = 0; s < json_array_size(row->switches); s++) {
            const json_t *change = json_array_get(row->switches, s);
            char *line = bench_format(
                "engine switch (%s): %s to %s, %s ms after the start of the process: %s",
                bench_temperature_name(row->temperature), bench_text_of(change, "from"), bench_text_of(change, "to"),
                bench_format_ms(number, bench_number_of(change, "at_ms")), bench_text_of(change, "why"));
            bench_print_wrapped(output, "", line);
            free(line);
        }
    }
}

static void print_repeats(FILE *output, const bench_options *options, const bench_block *block) {
    fputs("\nto repeat a row\n", output);
    for (size_t i = 0; i < block->row_count; i++) {
        char *command = bench_make_repeat(options, block, &block->rows[i]);
        bench_print_wrapped(output, "  ", command);
        free(command);
    }
}

/* ---- notes ---- */

static void print_check(FILE *output, const bench_block *block) {
    double worst = 0;
    int64_t rows = 0;
    bool correct = true, verified = block->row_count != 0;
    for (size_t i = 0; i < block->row_count; i++) {
        const bench_row *row = &block->rows[i];
        verified = verified && row->verified;
        correct = correct && row->correct;
        worst = !(row->relative_error <= worst) ? row->relative_error : worst;
        rows = row->rows_compared;
    }
    if (!verified) {
        fputs("\nresults were not verified\n", output);
        return;
    }
    fprintf(output, "\nresults verified in double precision: %s; error %.1e, allowed %.1e; %lld of %lld rows\n",
            correct ? "right" : "WRONG", worst, bench_unit_roundoff(block->problem.dtype), (long long)rows,
            (long long)block->problem.m);
}

static void print_definitions(FILE *output, const bench_options *options) {
    fputs("\ntemperatures\n", output);
    for (int t = 0; t < BENCH_TEMPERATURE_COUNT; t++) {
        bool shown = options->temperatures[t] || (options->peers && bench_peer_has_temperature((bench_temperature)t));
        if (shown) {
            fprintf(output, "  %-10s %s\n", bench_temperature_name((bench_temperature)t),
                    bench_temperature_definition((bench_temperature)t));
        }
    }
    if (options->peers) {
        fputs("  for a peer: cold and driver by the drivers' caches alone; warm is steady state\n", output);
    }
}

void bench_report_block(FILE *output, const bench_options *options, const bench_block *block) {
    print_title(output, options, block);
    print_times(output, block);
    print_phases(output, block);
    print_runs(output, options, block);
    print_switches(output, block);
    print_peers(output, options, block);
    print_check(output, block);
    print_repeats(output, options, block);
    print_definitions(output, options);
    if (block->warning_count != 0) {
        fputs("\nwarnings\n", output);
    }
    for (size_t i = 0; i < block->warning_count; i++) {
        bench_print_wrapped(output, "  ! ", block->warnings[i]);
    }
}
