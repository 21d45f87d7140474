/* SPDX-License-Identifier: Apache-2.0 */
/* One product: from reference values, over stored matrices and a call, to a judgement. */
#ifndef TEST_PRODUCT_H
#define TEST_PRODUCT_H

#include <stdbool.h>

#include "call.h"
#include "reference.h"
#include "stored.h"

#define TEST_WHY_SIZE 512

typedef struct test_places {
    const char *name;
    test_place a, b, c;
} test_places;

/* No padding, no offset; each matrix ends where its memory or buffer ends. */
extern const test_places test_tight;

typedef struct test_product {
    const test_reference *reference;
    test_form form;
    double alpha, beta;
    const test_places *places;
    bool on_buffers; /* else the host-pointer form */
} test_product;

typedef struct test_operands {
    test_call call;
    test_stored a, b, c;
    portmm_buffer *buffers[3]; /* NULL until uploaded */
} test_operands;

/* With the reference's values, remembered. */
void test_operands_init(test_operands *operands, const test_product *product);
void test_operands_fini(test_operands *operands);

/* Makes a buffer of exactly its size for each matrix and writes all of it, surroundings included. */
portmm_status test_operands_upload(test_operands *operands, portmm_context *context, portmm_queue *queue);
portmm_status test_operands_download(test_operands *operands, portmm_queue *queue);
portmm_status test_operands_multiply(test_operands *operands, portmm_queue *queue, size_t wait_count,
                                     portmm_event *const *wait_list, portmm_event **event);

/* Whether C is right, and nothing else has changed. If not, *why says what. */
bool test_operands_judge(test_operands *operands, const test_product *product, char why[TEST_WHY_SIZE]);

/* All of it. Not for a failure of the test alone: usable in any thread. */
bool test_product_run(portmm_context *context, const test_product *product, char why[TEST_WHY_SIZE]);

/* Ends the test if the product is wrong. */
void test_product_check(portmm_context *context, const test_product *product);

#endif
