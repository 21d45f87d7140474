/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a product with any arguments, also wrong ones, for either type. */
#ifndef TEST_CALL_H
#define TEST_CALL_H

#include <portmm/portmm.h>

/* Which of the two operand orders, and which of A and B are transposed. */
typedef struct test_form {
    portmm_layout layout;
    portmm_transpose transa, transb;
} test_form;

/* All 18: two layouts, three by three transposes. */
#define TEST_FORMS 18
test_form test_get_form(int number);
/* "row T N" */
void test_describe_form(test_form form, char text[16]);

typedef struct test_call {
    portmm_dtype dtype;
    test_form form;
    int64_t m, n, k;
    double alpha, beta;
    int64_t lda, ldb, ldc;
    int64_t a_offset, b_offset, c_offset; /* on buffers only */
} test_call;

portmm_status test_call_host(portmm_context *context, const test_call *call, const void *a, const void *b, void *c);
portmm_status test_call_buffers(portmm_queue *queue, const test_call *call, const portmm_buffer *a,
                                const portmm_buffer *b, portmm_buffer *c, size_t wait_count,
                                portmm_event *const *wait_list, portmm_event **event);

#endif
