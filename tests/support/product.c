/* SPDX-License-Identifier: Apache-2.0 */
#include "product.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const test_places test_tight = {.name = "tight"};

void test_operands_init(test_operands *operands, const test_product *product) {
    const test_reference *reference = product->reference;
    const test_form *form = &product->form;
    const test_places *places = product->places;
    int64_t m = reference->m, n = reference->n, k = reference->k;
    *operands = (test_operands){.buffers = {NULL}};
    test_stored_init(&operands->a, reference->dtype, form->layout, form->transa, m, k, places->a);
    test_stored_init(&operands->b, reference->dtype, form->layout, form->transb, k, n, places->b);
    test_stored_init(&operands->c, reference->dtype, form->layout, PORTMM_NO_TRANS, m, n, places->c);
    test_stored_put_all(&operands->a, reference->a);
    test_stored_put_all(&operands->b, reference->b);
    test_stored_put_all(&operands->c, reference->c);
    operands->call = (test_call){.dtype = reference->dtype,
                                 .form = *form,
                                 .m = m,
                                 .n = n,
                                 .k = k,
                                 .alpha = product->alpha,
                                 .beta = product->beta,
                                 .lda = operands->a.leading,
                                 .ldb = operands->b.leading,
                                 .ldc = operands->c.leading,
                                 .a_offset = operands->a.offset,
                                 .b_offset = operands->b.offset,
                                 .c_offset = operands->c.offset};
    test_stored *stored[3] = {&operands->a, &operands->b, &operands->c};
    for (int i = 0; i < 3; i++)
        test_stored_remember(stored[i]);
}

void test_operands_fini(test_operands *operands) {
    for (int i = 0; i < 3; i++)
        portmm_buffer_destroy(operands->buffers[i]);
    test_stored_fini(&operands->a);
    test_stored_fini(&operands->b);
    test_stored_fini(&operands->c);
}

portmm_status test_operands_upload(test_operands *operands, portmm_context *context, portmm_queue *queue) {
    const test_stored *stored[3] = {&operands->a, &operands->b, &operands->c};
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (int i = 0; i < 3 && status == PORTMM_STATUS_SUCCESS; i++) {
        status = portmm_buffer_create(context, stored[i]->size, &operands->buffers[i]);
        if (status == PORTMM_STATUS_SUCCESS)
            status = portmm_buffer_write(queue, operands->buffers[i], 0, stored[i]->size, stored[i]->bytes);
    }
    return status;
}

portmm_status test_operands_download(test_operands *operands, portmm_queue *queue) {
    const test_stored *stored[3] = {&operands->a, &operands->b, &operands->c};
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (int i = 0; i < 3 && status == PORTMM_STATUS_SUCCESS; i++)
        status = portmm_buffer_read(queue, operands->buffers[i], 0, stored[i]->size, stored[i]->bytes);
    return status;
}

portmm_status test_operands_multiply(test_operands *operands, portmm_queue *queue, size_t wait_count,
                                     portmm_event *const *wait_list, portmm_event **event) {
    return test_call_buffers(queue, &operands->call, operands->buffers[0], operands->buffers[1], operands->buffers[2],
                             wait_count, wait_list, event);
}

/* ---- judgement ---- */

static bool say(char why[TEST_WHY_SIZE], const test_product *product, const char *format, ...) {
    const test_reference *reference = product->reference;
    char form[16];
    test_describe_form(product->form, form);
    int used =
        snprintf(why, TEST_WHY_SIZE, "%s %s %" PRId64 "x%" PRId64 "x%" PRId64 ", alpha %g, beta %g, %s, %s, %s: ",
                 reference->dtype == PORTMM_F64 ? "f64" : "f32", form, reference->m, reference->n, reference->k,
                 product->alpha, product->beta, reference->values == TEST_INTEGERS ? "integers" : "random",
                 product->places->name, product->on_buffers ? "buffers" : "host pointers");
    va_list arguments;
    va_start(arguments, format);
    if (used > 0 && used < TEST_WHY_SIZE)
        vsnprintf(why + used, TEST_WHY_SIZE - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_exact(const test_operands *this, const test_product *product, char why[TEST_WHY_SIZE]) {
    for (int64_t row = 0; row < this->call.m; row++)
        for (int64_t column = 0; column < this->call.n; column++) {
            double got = test_stored_get(&this->c, row, column);
            long double expected = test_reference_at(product->reference, product->alpha, product->beta, row, column);
            if (got != expected)
                return say(why, product, "C[%" PRId64 "][%" PRId64 "] is %g instead of %Lg", row, column, got,
                           expected);
        }
    return true;
}

static bool is_within_bound(const test_operands *this, const test_product *product, char why[TEST_WHY_SIZE]) {
    long double sum = 0;
    for (int64_t row = 0; row < this->call.m; row++)
        for (int64_t column = 0; column < this->call.n; column++) {
            long double error = test_stored_get(&this->c, row, column) -
                                test_reference_at(product->reference, product->alpha, product->beta, row, column);
            sum += error * error;
        }
    double error = (double)sqrtl(sum), bound = test_reference_bound(product->reference, product->alpha, product->beta);
    return error <= bound || /* false also for a NaN */
           say(why, product, "the error is %g, allowed is %g", error, bound);
}

bool test_operands_judge(test_operands *operands, const test_product *product, char why[TEST_WHY_SIZE]) {
    bool right = product->reference->values == TEST_INTEGERS ? is_exact(operands, product, why)
                                                             : is_within_bound(operands, product, why);
    if (!right)
        return false;
    if (!test_stored_is_unchanged(&operands->a) || !test_stored_is_unchanged(&operands->b))
        return say(why, product, "A or B, or memory around it, was written to");
    if (!test_stored_surroundings_are_unchanged(&operands->c))
        return say(why, product, "padding of C, or memory around it, was written to");
    return true;
}

/* ---- a whole product ---- */

static portmm_status multiply_on_buffers(portmm_context *context, test_operands *operands) {
    portmm_queue *queue;
    portmm_status status = portmm_queue_create(context, &queue);
    if (status == PORTMM_STATUS_SUCCESS)
        status = test_operands_upload(operands, context, queue);
    if (status == PORTMM_STATUS_SUCCESS)
        status = test_operands_multiply(operands, queue, 0, NULL, NULL);
    if (status == PORTMM_STATUS_SUCCESS)
        status = test_operands_download(operands, queue);
    portmm_queue_destroy(queue);
    return status;
}

static portmm_status multiply_on_host(portmm_context *context, const test_operands *operands) {
    return test_call_host(context, &operands->call, test_stored_start(&operands->a), test_stored_start(&operands->b),
                          test_stored_start(&operands->c));
}

bool test_product_run(portmm_context *context, const test_product *product, char why[TEST_WHY_SIZE]) {
    test_operands operands;
    test_operands_init(&operands, product);
    portmm_status status =
        product->on_buffers ? multiply_on_buffers(context, &operands) : multiply_on_host(context, &operands);
    bool right = status == PORTMM_STATUS_SUCCESS
                     ? test_operands_judge(&operands, product, why)
                     : say(why, product, "%s: %s", portmm_status_name(status), portmm_last_error());
    test_operands_fini(&operands);
    return right;
}

void test_product_check(portmm_context *context, const test_product *product) {
    char why[TEST_WHY_SIZE];
    ck_assert_msg(test_product_run(context, product, why), "%s", why);
}
