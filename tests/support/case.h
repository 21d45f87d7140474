/* SPDX-License-Identifier: Apache-2.0 */
/* A product of any type, as a batch or alone, with or without an epilogue, compared element by element. README.md
 * states the bounds. */
#ifndef TEST_CASE_H
#define TEST_CASE_H

#include <complex.h>
#include <stdbool.h>

#include "call.h"

typedef double complex test_complex;

enum { TEST_FIRST_DTYPE = PORTMM_F32, TEST_LAST_DTYPE = PORTMM_BF16 };

/* One product; or several by strides, the same with one A for all, or by lists. */
typedef enum test_mode { TEST_SINGLE, TEST_STRIDED, TEST_SHARED, TEST_LISTED, TEST_MODES } test_mode;

typedef struct test_case {
    portmm_dtype dtype;
    int64_t m, n, k;
    test_form form;
    test_mode mode;
    portmm_bias bias_kind;
    portmm_activation activation;
    bool random, on_host;
    test_complex alpha, beta;
} test_case;

/* All but type and sizes is drawn from the number of the case. */
test_case test_case_draw(portmm_dtype dtype, const int64_t size[3], uint32_t index, bool has_epilogues);

/* Ends the test where the result is wrong or anything beside C has changed; returns what the call returned. */
portmm_status test_case_run(portmm_context *context, const test_case *this);

#endif
