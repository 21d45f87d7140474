/* SPDX-License-Identifier: Apache-2.0 */
#include "square.h"

#include <string.h>

enum { N = TEST_SQUARE };

float test_square_a[TEST_SQUARE_ELEMENTS], test_square_b[TEST_SQUARE_ELEMENTS],
    test_square_product[TEST_SQUARE_ELEMENTS];

/* B scales by 2 and moves each column one on. */
void test_square_fill(void) {
    memset(test_square_b, 0, sizeof test_square_b);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            test_square_a[i * N + j] = (float)((i * 7 + j * 3) % 11);
            test_square_product[i * N + (j + 1) % N] = 2 * test_square_a[i * N + j];
        }
    for (int j = 0; j < N; j++)
        test_square_b[j * N + (j + 1) % N] = 2;
}

portmm_status test_square_multiply(portmm_queue *queue, const portmm_buffer *a, const portmm_buffer *b, float beta,
                                   portmm_buffer *c, size_t wait_count, portmm_event *const *wait_list,
                                   portmm_event **event) {
    return portmm_sgemm(queue, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, 0, N, b, 0, N, beta,
                        c, 0, N, wait_count, wait_list, event);
}
