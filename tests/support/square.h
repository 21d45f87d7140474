/* SPDX-License-Identifier: Apache-2.0 */
/* One product of square f32 matrices without padding, whose result is known: for tests of what happens around it. */
#ifndef TEST_SQUARE_H
#define TEST_SQUARE_H

#include <portmm/portmm.h>

enum { TEST_SQUARE = 64, TEST_SQUARE_ELEMENTS = TEST_SQUARE * TEST_SQUARE };
#define TEST_SQUARE_BYTES (TEST_SQUARE_ELEMENTS * sizeof(float))

/* Filled by test_square_fill; `product` is exactly A * B. */
extern float test_square_a[TEST_SQUARE_ELEMENTS], test_square_b[TEST_SQUARE_ELEMENTS],
    test_square_product[TEST_SQUARE_ELEMENTS];
void test_square_fill(void);

/* C := A * B + beta * C, each at the start of its buffer. */
portmm_status test_square_multiply(portmm_queue *queue, const portmm_buffer *a, const portmm_buffer *b, float beta,
                                   portmm_buffer *c, size_t wait_count, portmm_event *const *wait_list,
                                   portmm_event **event);

#endif
