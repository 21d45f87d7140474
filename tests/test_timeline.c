/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline: spans nest, and the totals are exactly what the spans add up to. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"

#define KEPT 1024 /* spans that a context keeps */

typedef struct record {
    portmm_span spans[KEPT];
    size_t count;
    uint64_t totals[PORTMM_PHASE_COUNT];
} record;

static portmm_context *open_context(int target) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context;
    options.backend = test_get_target(target)->spec;
    options.engine = test_get_target(target)->engine;
    TEST_OK(portmm_context_create(&options, &context));
    return context;
}

static void multiply(portmm_context *context, int target) {
    enum { SIZE = 50 };
    static double wide[3][SIZE * SIZE];
    static float narrow[3][SIZE * SIZE];
    if (test_get_target(target)->dtype == PORTMM_F64)
        TEST_OK(portmm_dgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, SIZE, SIZE, SIZE, 1,
                                  wide[0], SIZE, wide[1], SIZE, 0, wide[2], SIZE));
    else
        TEST_OK(portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, SIZE, SIZE, SIZE, 1,
                                  narrow[0], SIZE, narrow[1], SIZE, 0, narrow[2], SIZE));
}

static record *read_record(portmm_context *context) {
    record *made = calloc(1, sizeof *made);
    ck_assert_ptr_nonnull(made);
    TEST_OK(portmm_timeline_read(context, KEPT, made->spans, &made->count));
    TEST_OK(portmm_timeline_totals(context, made->totals));
    ck_assert_uint_gt(made->count, 0);
    ck_assert_uint_le(made->count, KEPT);
    return made;
}

static uint64_t get_duration(const portmm_span *span) {
    return span->end_ns - span->begin_ns;
}

static bool is_inside(const portmm_span *inner, const portmm_span *outer) {
    return inner->thread == outer->thread && inner->begin_ns >= outer->begin_ns && inner->end_ns <= outer->end_ns;
}

/* Spans come in order of their end, so what lies directly in one comes before it: back to the last that is not deeper.
 */
static uint64_t sum_directly_inside(const record *this, size_t outer) {
    uint64_t sum = 0;
    for (size_t i = outer; i-- > 0;) {
        const portmm_span *span = &this->spans[i];
        if (span->thread != this->spans[outer].thread)
            continue;
        if (span->depth <= this->spans[outer].depth)
            break;
        ck_assert_msg(is_inside(span, &this->spans[outer]), "span %zu (%s) is not inside %zu (%s)", i, span->detail,
                      outer, this->spans[outer].detail);
        if (span->depth == this->spans[outer].depth + 1)
            sum += get_duration(span);
    }
    return sum;
}

START_TEST(spans_are_in_order_and_have_texts) {
    uint64_t before = portmm_clock_ns();
    portmm_context *context = open_context(_i);
    multiply(context, _i);
    record *this = read_record(context);
    uint64_t after = portmm_clock_ns();
    for (size_t i = 0; i < this->count; i++) {
        const portmm_span *span = &this->spans[i];
        ck_assert(span->begin_ns >= before && span->begin_ns <= span->end_ns && span->end_ns <= after);
        ck_assert(i == 0 || span->end_ns >= this->spans[i - 1].end_ns);
        ck_assert(span->phase >= 0 && span->phase < PORTMM_PHASE_COUNT);
        ck_assert_str_ne(span->detail, "");
        ck_assert_str_ne(portmm_phase_name(span->phase), "");
    }
    free(this);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(totals_are_the_exclusive_sums_of_the_spans) {
    portmm_context *context = open_context(_i);
    for (int i = 0; i < 5; i++)
        multiply(context, _i);
    record *this = read_record(context);
    uint64_t sums[PORTMM_PHASE_COUNT] = {0};
    for (size_t i = 0; i < this->count; i++) {
        uint64_t inside = sum_directly_inside(this, i);
        ck_assert_uint_le(inside, get_duration(&this->spans[i]));
        sums[this->spans[i].phase] += get_duration(&this->spans[i]) - inside;
    }
    for (int phase = 0; phase < PORTMM_PHASE_COUNT; phase++)
        ck_assert_msg(sums[phase] == this->totals[phase], "%s: the spans add up to %llu ns, the total is %llu ns",
                      portmm_phase_name((portmm_phase)phase), (unsigned long long)sums[phase],
                      (unsigned long long)this->totals[phase]);
    free(this);
    portmm_context_destroy(context);
}
END_TEST

static uint64_t get_total(portmm_context *context, portmm_phase phase) {
    uint64_t totals[PORTMM_PHASE_COUNT];
    TEST_OK(portmm_timeline_totals(context, totals));
    return totals[phase];
}

START_TEST(the_first_product_is_told_from_later_ones) {
    portmm_context *context = open_context(_i);
    ck_assert_uint_gt(get_total(context, PORTMM_PHASE_LOAD), 0);
    ck_assert_uint_eq(get_total(context, PORTMM_PHASE_FIRST_LAUNCH), 0);
    multiply(context, _i);
    uint64_t first = get_total(context, PORTMM_PHASE_FIRST_LAUNCH);
    ck_assert_uint_gt(first, 0);
    ck_assert_uint_eq(get_total(context, PORTMM_PHASE_STEADY), 0);
    multiply(context, _i);
    ck_assert_uint_eq(get_total(context, PORTMM_PHASE_FIRST_LAUNCH), first);
    ck_assert_uint_gt(get_total(context, PORTMM_PHASE_STEADY), 0);
    portmm_context_destroy(context);
}
END_TEST

/* What the phases leave unexplained is small: the calls themselves are covered by spans. */
START_TEST(spans_cover_the_calls) {
    uint64_t begin = portmm_clock_ns(), explained = 0, totals[PORTMM_PHASE_COUNT];
    portmm_context *context = open_context(_i);
    multiply(context, _i);
    uint64_t whole = portmm_clock_ns() - begin;
    TEST_OK(portmm_timeline_totals(context, totals));
    for (int phase = 0; phase < PORTMM_PHASE_COUNT; phase++)
        explained += totals[phase];
    ck_assert_msg(explained <= whole, "phases add up to %llu of %llu ns", (unsigned long long)explained,
                  (unsigned long long)whole);
    ck_assert_msg(whole - explained <= whole / 5 + 2000000, "only %llu of %llu ns are explained",
                  (unsigned long long)explained, (unsigned long long)whole);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(a_timeline_can_be_read_in_part) {
    portmm_context *context = open_context(_i);
    multiply(context, _i);
    record *this = read_record(context);
    portmm_span some[3];
    size_t count = 0;
    memset(some, 0xee, sizeof some);
    TEST_OK(portmm_timeline_read(context, 0, NULL, &count));
    ck_assert_uint_eq(count, this->count);
    TEST_OK(portmm_timeline_read(context, 2, some, &count));
    ck_assert_uint_eq(count, this->count);
    ck_assert_mem_eq(some, this->spans, 2 * sizeof *some);
    for (size_t i = 0; i < sizeof some[2]; i++)
        ck_assert_uint_eq(((unsigned char *)&some[2])[i], 0xee);
    free(this);
    portmm_context_destroy(context);
}
END_TEST

START_TEST(a_long_timeline_keeps_its_begin_and_counts_on) {
    portmm_context *context = open_context(_i);
    multiply(context, _i);
    record *early = read_record(context);
    for (int i = 0; i < KEPT; i++)
        multiply(context, _i);
    record *late = read_record(context);
    ck_assert_uint_eq(late->count, KEPT);
    ck_assert_mem_eq(early->spans, late->spans, early->count * sizeof *early->spans);
    uint64_t steady = late->totals[PORTMM_PHASE_STEADY];
    multiply(context, _i);
    ck_assert_uint_gt(get_total(context, PORTMM_PHASE_STEADY), steady);
    free(early);
    free(late);
    portmm_context_destroy(context);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("timeline");
    TCase *cases = tcase_create("timeline");
    int targets = test_target_count();
    tcase_add_loop_test(cases, spans_are_in_order_and_have_texts, 0, targets);
    tcase_add_loop_test(cases, totals_are_the_exclusive_sums_of_the_spans, 0, targets);
    tcase_add_loop_test(cases, the_first_product_is_told_from_later_ones, 0, targets);
    tcase_add_loop_test(cases, spans_cover_the_calls, 0, targets);
    tcase_add_loop_test(cases, a_timeline_can_be_read_in_part, 0, targets);
    tcase_add_loop_test(cases, a_long_timeline_keeps_its_begin_and_counts_on, 0, targets);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
