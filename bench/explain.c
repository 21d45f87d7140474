/* SPDX-License-Identifier: Apache-2.0 */
#include "explain.h"

#include "report.h"
#include "text.h"

#include <stdlib.h>

/* Parts of the way to the first result, each made of phases; every phase but unattributed is in one. */
static const struct part_kind {
    const char *name;
    const char *meaning;
    int phases[3]; /* -1: none */
} part_kinds[] = {
    {"loading libraries", "libportmm's module, the driver, the vendor's library", {PORTMM_PHASE_LOAD, -1, -1}},
    {"finding devices", "the driver lists what there is", {PORTMM_PHASE_ENUMERATE, -1, -1}},
    {"opening the device", "the driver's context and queue", {PORTMM_PHASE_CONTEXT, -1, -1}},
    {"compiling kernels", "source text to device code; a full cache removes it", {PORTMM_PHASE_BUILD, -1, -1}},
    {"loading from the cache",
     "an entry of libportmm's cache goes to the driver",
     {PORTMM_PHASE_CACHE_LOOKUP, PORTMM_PHASE_BINARY_LOAD, -1}},
    {"starting the engine",
     "the vendor library's own start, and kernel objects",
     {PORTMM_PHASE_ENGINE_INIT, PORTMM_PHASE_KERNEL_CREATE, -1}},
    {"moving data",
     "memory on both sides, A and B there, C back",
     {PORTMM_PHASE_ALLOCATE, PORTMM_PHASE_UPLOAD, PORTMM_PHASE_DOWNLOAD}},
    {"the first product",
     "until it is complete; some drivers compile only here",
     {PORTMM_PHASE_FIRST_LAUNCH, PORTMM_PHASE_STEADY, -1}},
};
enum { KIND_COUNT = sizeof part_kinds / sizeof part_kinds[0], PART_COUNT = KIND_COUNT + 2, MOVING_DATA = 6 };

typedef struct part {
    const char *name, *meaning;
    double ms;
} part;

/* What run #0 of a row's first sample (without runs: its way to the first result) was made of. */
typedef struct account {
    double total_ms;
    part parts[PART_COUNT]; /* as in part_kinds, then the other products of the run, then unattributed */
} account;

static account make_account(const bench_row *row) {
    const bench_detail *detail = &row->details[0];
    account sums = {.total_ms = row->process_to_result.values[0] - row->before_first_call_ms + row->run0_rest_ms};
    for (size_t i = 0; i < KIND_COUNT; i++) {
        sums.parts[i] = (part){.name = part_kinds[i].name, .meaning = part_kinds[i].meaning};
        for (size_t j = 0; j < 3 && part_kinds[i].phases[j] >= 0; j++) {
            sums.parts[i].ms += detail->phases_ms[part_kinds[i].phases[j]];
        }
    }
    /* Run #0 starts at the first call; what the process did before it is no part of it. */
    sums.parts[0].ms -= row->before_first_call_ms;
    sums.parts[KIND_COUNT] = (part){"the run's other products", "products after the first", row->run0_rest_ms};
    sums.parts[KIND_COUNT + 1] =
        (part){"unattributed", "what no phase explains", detail->phases_ms[BENCH_UNATTRIBUTED]};
    return sums;
}

static int compare_parts(const void *left, const void *right) {
    double a = ((const part *)left)->ms, b = ((const part *)right)->ms;
    return (a < b) - (a > b);
}

static double percent(double value, double total) {
    return total > 0 ? 100 * value / total : 0;
}

static void print_part(FILE *output, const part *item, double total_ms) {
    char number[24];
    fprintf(output, "  %9s ms %5.1f %%  %s: %s\n", bench_format_ms(number, item->ms), percent(item->ms, total_ms),
            item->name, item->meaning);
}

static void print_headline(FILE *output, const bench_row *row, const account *sums, int64_t loops) {
    char first[24], second[24];
    const char *name = bench_temperature_name(row->temperature);
    if (row->runs.count > 1) {
        fprintf(output, "Where the time of run #0 went (%s): its %lld product%s took %s ms, those of run #1 %s ms.\n",
                name, (long long)loops, loops == 1 ? "" : "s", bench_format_ms(first, sums->total_ms),
                bench_format_ms(second, row->runs.values[1]));
    } else {
        fprintf(output, "Where the time of the first result went (%s): %s ms from the first call into libportmm.\n",
                name, bench_format_ms(first, sums->total_ms));
    }
}

/* The rows print the share of moving data whatever its size: it is what the question's answer had blamed. */
static void print_account(FILE *output, const bench_row *row, int64_t loops, size_t most) {
    account sums = make_account(row);
    part moving = sums.parts[MOVING_DATA];
    bool moving_shown = false;
    print_headline(output, row, &sums, loops);
    qsort(sums.parts, PART_COUNT, sizeof sums.parts[0], compare_parts);
    for (size_t i = 0; i < most && (sums.parts[i].ms > 0 || most == PART_COUNT); i++) {
        if (sums.parts[i].ms != 0) {
            print_part(output, &sums.parts[i], sums.total_ms);
            moving_shown = moving_shown || sums.parts[i].name == moving.name;
        }
    }
    if (!moving_shown) {
        print_part(output, &moving, sums.total_ms);
    }
}

void bench_explain_briefly(FILE *output, const bench_block *block, int64_t loops) {
    if (block->row_count != 0) {
        print_account(output, &block->rows[0], loops, 4);
    }
}

static void print_saving(FILE *output, const bench_block *block, bench_temperature from, bench_temperature to) {
    const bench_row *before = bench_find_row(block->rows, block->row_count, from);
    const bench_row *after = bench_find_row(block->rows, block->row_count, to);
    if (before == NULL || after == NULL) {
        return;
    }
    char first[24], second[24];
    double before_ms = bench_summarize(&before->process_to_result).median;
    double after_ms = bench_summarize(&after->process_to_result).median;
    fprintf(output, "From %s to %s, the first result comes after %s ms instead of %s ms: %.3g times as fast.\n",
            bench_temperature_name(from), bench_temperature_name(to), bench_format_ms(second, after_ms),
            bench_format_ms(first, before_ms), before_ms / after_ms);
}

void bench_explain_fully(FILE *output, const bench_block *block, int64_t loops) {
    for (size_t i = 0; i < block->row_count; i++) {
        print_account(output, &block->rows[i], loops, PART_COUNT);
        fputc('\n', output);
    }
    print_saving(output, block, BENCH_COLD, BENCH_CACHED);
    print_saving(output, block, BENCH_COLD, BENCH_RELAUNCH);
    print_saving(output, block, BENCH_DRIVER, BENCH_RELAUNCH);
}
