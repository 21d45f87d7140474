/* SPDX-License-Identifier: Apache-2.0 */
/* Every engine of every device of the spec gives right products: shapes, operand orders, scalings, places in memory.
 * README.md lists the cases. */
#include <math.h>
#include <stdio.h>

#include "support/guarded.h"
#include "support/product.h"
#include "support/suite.h"

typedef struct shape {
    int64_t m, n, k;
} shape;

/* ---- the cases ---- */

static const shape shapes[] = {
    /* one and few */
    {1, 1, 1},
    {1, 1, 2},
    {2, 1, 1},
    {1, 2, 1},
    {2, 3, 4},
    {5, 4, 3},
    /* primes */
    {7, 7, 7},
    {13, 7, 31},
    {31, 13, 7},
    {7, 31, 13},
    {31, 61, 13},
    {61, 31, 61},
    {127, 61, 31},
    {61, 127, 7},
    {127, 127, 127},
    /* tile edges and one beside them */
    {15, 16, 17},
    {16, 17, 15},
    {17, 15, 16},
    {16, 16, 16},
    {31, 32, 33},
    {32, 33, 31},
    {33, 31, 32},
    {32, 32, 32},
    {63, 64, 65},
    {64, 65, 63},
    {65, 63, 64},
    {64, 64, 64},
    {127, 128, 129},
    {128, 129, 127},
    {129, 127, 128},
    {128, 128, 128},
    /* tall, flat, long k */
    {257, 3, 5},
    {3, 257, 5},
    {5, 7, 511},
    {2, 2, 2049},
    {255, 1, 255},
    /* a vector is one of the operands or the result */
    {1, 67, 33},
    {67, 1, 33},
    {1, 1, 1000},
    {1, 300, 1},
    {300, 1, 1},
    {129, 130, 1},
};

/* Beyond the size where CLBlast packs its operands first: on PoCL between 560 and 577. The first is a multiple of all
 * tiles, so that nothing is padded; the second of none. */
static const shape large_shapes[] = {{640, 640, 640}, {577, 579, 581}};

static const double scales[] = {0, 1, -1, 0.75};
#define SCALES 4

/* Different for A, B and C, so that a mix-up shows. */
static const test_places places[] = {
    {.name = "tight"},
    {.name = "padded", .a = {1, 3, 2}, .b = {3, 1, 5}, .c = {5, 7, 1}},
    {.name = "aligned", .a = {8, 64, 16}, .b = {16, 32, 8}, .c = {4, 16, 64}},
};
#define PLACES 3

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

/* ---- products ---- */

/* What the tables do not fix is drawn from the number of the case, so that no two of them always change together. */
static test_product draw_product(const test_reference *reference, uint32_t number, const test_places *place) {
    uint32_t bits = number * 2654435761u >> 8;
    return (test_product){.reference = reference,
                          .form = test_get_form((int)(bits % 18)),
                          .alpha = scales[1 + bits / 18 % 3],
                          .beta = scales[bits / 54 % SCALES],
                          .places = place,
                          .on_buffers = bits / 216 % 2 != 0};
}

START_TEST(every_shape_is_right) {
    uint32_t number = 0;
    for (int s = 0; s < COUNT(shapes); s++)
        for (int values = TEST_INTEGERS; values <= TEST_RANDOM; values++) {
            test_reference reference;
            test_reference_init(&reference, test_get_target(_i)->dtype, (test_values)values, shapes[s].m, shapes[s].n,
                                shapes[s].k);
            for (int place = 0; place < PLACES; place++) {
                test_product product = draw_product(&reference, number++, &places[place]);
                test_product_check(test_get_context(_i), &product);
            }
            test_reference_fini(&reference);
        }
}
END_TEST

static void check_forms(int target, shape size, test_values values, int place_count) {
    test_reference reference;
    test_reference_init(&reference, test_get_target(target)->dtype, values, size.m, size.n, size.k);
    for (int form = 0; form < TEST_FORMS; form++)
        for (int place = 0; place < place_count; place++)
            test_product_check(test_get_context(target), &(test_product){.reference = &reference,
                                                                         .form = test_get_form(form),
                                                                         .alpha = 0.75,
                                                                         .beta = form % 2 == 0 ? -1 : 0,
                                                                         .places = &places[(form + place) % PLACES],
                                                                         .on_buffers = (form / 2 + place) % 2 != 0});
    test_reference_fini(&reference);
}

START_TEST(every_form_is_right) {
    static const shape sizes[] = {{17, 33, 9}, {64, 32, 48}, {37, 70, 129}};
    for (int s = 0; s < COUNT(sizes); s++)
        for (int values = TEST_INTEGERS; values <= TEST_RANDOM; values++)
            check_forms(_i, sizes[s], (test_values)values, PLACES);
}
END_TEST

START_TEST(every_form_of_a_large_product_is_right) {
    for (int s = 0; s < COUNT(large_shapes); s++)
        check_forms(_i, large_shapes[s], TEST_INTEGERS, 1);
}
END_TEST

START_TEST(a_large_product_is_precise) {
    const shape *size = &large_shapes[1];
    test_reference reference;
    test_reference_init(&reference, test_get_target(_i)->dtype, TEST_RANDOM, size->m, size->n, size->k);
    for (int form = 0; form < TEST_FORMS; form += 7)
        test_product_check(test_get_context(_i), &(test_product){.reference = &reference,
                                                                 .form = test_get_form(form),
                                                                 .alpha = 1,
                                                                 .beta = 0.75,
                                                                 .places = &places[form % PLACES],
                                                                 .on_buffers = true});
    test_reference_fini(&reference);
}
END_TEST

START_TEST(every_scaling_is_right) {
    static const shape sizes[] = {{1, 1, 1}, {33, 17, 9}, {8, 65, 64}, {5, 7, 0}};
    for (int s = 0; s < COUNT(sizes); s++)
        for (int values = TEST_INTEGERS; values <= TEST_RANDOM; values++) {
            test_reference reference;
            test_reference_init(&reference, test_get_target(_i)->dtype, (test_values)values, sizes[s].m, sizes[s].n,
                                sizes[s].k);
            for (int turn = 0; turn < 2 * SCALES * SCALES; turn++)
                test_product_check(test_get_context(_i),
                                   &(test_product){.reference = &reference,
                                                   .form = test_get_form((turn + 7 * s) % TEST_FORMS),
                                                   .alpha = scales[turn % SCALES],
                                                   .beta = scales[turn / SCALES % SCALES],
                                                   .places = &places[turn % PLACES],
                                                   .on_buffers = turn >= SCALES * SCALES});
            test_reference_fini(&reference);
        }
}
END_TEST

/* ---- nothing to do, nothing to read ---- */

START_TEST(an_empty_product_changes_nothing) {
    static const shape sizes[] = {{0, 5, 7}, {5, 0, 7}, {0, 0, 0}, {0, 5, 0}, {5, 0, 0}, {0, 0, 7}};
    for (int s = 0; s < COUNT(sizes); s++) {
        test_reference reference;
        test_reference_init(&reference, test_get_target(_i)->dtype, TEST_INTEGERS, sizes[s].m, sizes[s].n, sizes[s].k);
        for (int turn = 0; turn < 2 * TEST_FORMS; turn++)
            test_product_check(test_get_context(_i), &(test_product){.reference = &reference,
                                                                     .form = test_get_form(turn % TEST_FORMS),
                                                                     .alpha = scales[turn % SCALES],
                                                                     .beta = scales[turn / 4 % SCALES],
                                                                     .places = &places[turn % PLACES],
                                                                     .on_buffers = turn >= TEST_FORMS});
        test_reference_fini(&reference);
    }
}
END_TEST

/* Runs a product of these operands in either form and leaves the result in operands->c. */
static void run(portmm_context *context, test_operands *operands, bool on_buffers) {
    if (!on_buffers) {
        TEST_OK(test_call_host(context, &operands->call, test_stored_start(&operands->a),
                               test_stored_start(&operands->b), test_stored_start(&operands->c)));
        return;
    }
    portmm_queue *queue;
    TEST_OK(portmm_queue_create(context, &queue));
    TEST_OK(test_operands_upload(operands, context, queue));
    TEST_OK(test_operands_multiply(operands, queue, 0, NULL, NULL));
    TEST_OK(test_operands_download(operands, queue));
    portmm_queue_destroy(queue);
}

typedef struct poisoned {
    shape size;
    double alpha, beta;
    double a, c; /* what all of A and B, and all of C, is set to; 0: left as it is */
} poisoned;

START_TEST(what_is_not_read_may_be_anything) {
    const poisoned cases[] = {
        {{19, 23, 7}, 1, 0, 0, NAN},            /* beta == 0: C is not read */
        {{19, 23, 7}, -1, 0, 0, INFINITY},      /* nor multiplied by zero */
        {{19, 23, 7}, 0, 1, NAN, 0},            /* alpha == 0: A and B are not read */
        {{19, 23, 7}, 0, 0.75, INFINITY, 0},    /* nor multiplied by zero */
        {{19, 23, 7}, 0, 0, NAN, NAN},          /* nothing is read */
        {{19, 23, 0}, 1, 0, NAN, NAN},          /* k == 0 gives beta * C */
        {{19, 23, 0}, 1, 0.75, INFINITY, 0},    /* */
        {{640, 577, 601}, 0.75, 0, 0, NAN},     /* the same beyond the size where operands are packed */
        {{640, 577, 601}, 0, -1, NAN, 0},       /* */
        {{600, 600, 600}, 1, 0, 0, -INFINITY}}; /* */
    for (int turn = 0; turn < 2 * COUNT(cases); turn++) {
        const poisoned *this = &cases[turn / 2];
        test_reference reference;
        test_reference_init(&reference, test_get_target(_i)->dtype, TEST_INTEGERS, this->size.m, this->size.n,
                            this->size.k);
        test_product product = {.reference = &reference,
                                .form = test_get_form(5 * turn % TEST_FORMS),
                                .alpha = this->alpha,
                                .beta = this->beta,
                                .places = &places[turn % PLACES],
                                .on_buffers = turn % 2 != 0};
        test_operands operands;
        test_operands_init(&operands, &product);
        if (this->a != 0) {
            test_stored_put_everywhere(&operands.a, this->a);
            test_stored_put_everywhere(&operands.b, this->a);
            test_stored_remember(&operands.a);
            test_stored_remember(&operands.b);
        }
        if (this->c != 0)
            test_stored_put_everywhere(&operands.c, this->c);
        run(test_get_context(_i), &operands, product.on_buffers);
        char why[TEST_WHY_SIZE];
        ck_assert_msg(test_operands_judge(&operands, &product, why), "%s", why);
        test_operands_fini(&operands);
        test_reference_fini(&reference);
    }
}
END_TEST

/* The strictest form of the same: not one byte of A or B can be read. */
START_TEST(unread_operands_need_not_be_memory) {
    for (int turn = 0; turn < 2; turn++) {
        test_reference reference;
        test_reference_init(&reference, test_get_target(_i)->dtype, TEST_INTEGERS, 9, 11, turn == 0 ? 5 : 0);
        test_product product = {.reference = &reference,
                                .form = test_get_form(turn),
                                .alpha = turn == 0 ? 0 : 1,
                                .beta = 0.75,
                                .places = &places[1]};
        test_operands operands;
        test_operands_init(&operands, &product);
        const void *forbidden = test_forbidden_address();
        TEST_OK(
            test_call_host(test_get_context(_i), &operands.call, forbidden, forbidden, test_stored_start(&operands.c)));
        char why[TEST_WHY_SIZE];
        ck_assert_msg(test_operands_judge(&operands, &product, why), "%s", why);
        test_operands_fini(&operands);
        test_reference_fini(&reference);
    }
}
END_TEST

/* So that the tests above do not pass because values are lost on the way. */
START_TEST(a_nan_that_is_read_shows) {
    test_reference reference;
    test_reference_init(&reference, test_get_target(_i)->dtype, TEST_INTEGERS, 19, 23, 7);
    for (int turn = 0; turn < 2 * TEST_FORMS; turn++) {
        test_product product = {
            .reference = &reference, .form = test_get_form(turn / 2), .alpha = 1, .beta = 1, .places = &places[1]};
        test_operands operands;
        test_operands_init(&operands, &product);
        test_stored_put(&operands.a, 3, 2, NAN);  /* row 3 of C */
        test_stored_put(&operands.b, 4, 5, NAN);  /* column 5 of C */
        test_stored_put(&operands.c, 17, 6, NAN); /* that element */
        run(test_get_context(_i), &operands, turn % 2 != 0);
        for (int64_t row = 0; row < 19; row++)
            for (int64_t column = 0; column < 23; column++) {
                bool expected = row == 3 || column == 5 || (row == 17 && column == 6);
                if ((isnan(test_stored_get(&operands.c, row, column)) != 0) != expected)
                    ck_abort_msg("C[%d][%d] is %s NaN in form %d", (int)row, (int)column, expected ? "no" : "a",
                                 turn / 2);
            }
        test_operands_fini(&operands);
    }
    test_reference_fini(&reference);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("conformance");
    TCase *cases = tcase_create("products"), *large = tcase_create("large products");
    int targets = test_target_count();
    tcase_add_loop_test(cases, every_shape_is_right, 0, targets);
    tcase_add_loop_test(cases, every_form_is_right, 0, targets);
    tcase_add_loop_test(large, every_form_of_a_large_product_is_right, 0, targets);
    tcase_add_loop_test(large, a_large_product_is_precise, 0, targets);
    tcase_add_loop_test(cases, every_scaling_is_right, 0, targets);
    tcase_add_loop_test(cases, an_empty_product_changes_nothing, 0, targets);
    tcase_add_loop_test(large, what_is_not_read_may_be_anything, 0, targets);
    tcase_add_loop_test(cases, unread_operands_need_not_be_memory, 0, targets);
    tcase_add_loop_test(cases, a_nan_that_is_read_shows, 0, targets);
    suite_add_tcase(suite, cases);
    suite_add_tcase(suite, large);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
