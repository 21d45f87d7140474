/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "suite.h"

typedef test_complex number;

enum { MAX_COUNT = 5 };

/* A matrix of each product, all in one array; whatever lies between them is NaN. */
typedef struct operand {
    portmm_dtype dtype;
    bool rows_are_runs;
    int64_t rows, columns, leading, offset, stride, size; /* elements; `size` of the array */
    int64_t offsets[MAX_COUNT];
    bool is_listed;
    void *array;
} operand;

/* ---- operands ---- */

static int64_t find(const operand *this, int64_t product, int64_t row, int64_t column) {
    int64_t outer = this->rows_are_runs ? row : column, inner = this->rows_are_runs ? column : row;
    return this->offset + (this->is_listed ? this->offsets[product] : product * this->stride) + outer * this->leading +
           inner;
}

static number get(const operand *this, int64_t product, int64_t row, int64_t column) {
    int64_t at = find(this, product, row, column);
    if (test_number_parts(this->dtype) == 1)
        return test_number_get(this->dtype, this->array, at);
    return test_number_get(this->dtype, this->array, 2 * at) +
           I * test_number_get(this->dtype, this->array, 2 * at + 1);
}

static double draw(uint32_t *state, portmm_dtype dtype, bool random) {
    *state = *state * 1664525u + 1013904223u;
    uint32_t bits = *state >> 8;
    return random ? test_number_round(dtype, (double)bits * 0x1p-23 - 1) : (double)(bits % 9) - 4;
}

static void *allocate(size_t size) {
    void *memory = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static operand make_operand(const test_case *this, portmm_transpose transpose, int64_t rows, int64_t columns,
                            int64_t count, bool shared, int salt) {
    operand made = {.dtype = this->dtype, .rows = rows, .columns = columns, .offset = 2 + salt};
    made.rows_are_runs = (this->form.layout == PORTMM_ROW_MAJOR) == (transpose == PORTMM_NO_TRANS);
    int64_t outer = made.rows_are_runs ? rows : columns, inner = made.rows_are_runs ? columns : rows;
    int parts = test_number_parts(this->dtype);
    made.leading = (inner > 1 ? inner : 1) + salt % 3;
    made.stride = shared ? 0 : outer * made.leading + salt;
    made.is_listed = this->mode == TEST_LISTED;
    for (int64_t i = 0; i < count; i++) /* backwards, so that they differ from strides */
        made.offsets[i] = (count - 1 - i) * (outer * made.leading + 1);
    made.size = made.offset + (made.is_listed ? made.offsets[0] : (count - 1) * made.stride) +
                (outer > 0 ? (outer - 1) * made.leading + inner : 0); /* the last matrix ends it */
    made.array = allocate((size_t)made.size * test_number_size(this->dtype));
    for (int64_t i = 0; i < made.size * parts; i++)
        test_number_put(this->dtype, made.array, i, NAN);
    uint32_t state = 77u + (uint32_t)salt + (uint32_t)(rows * 31 + columns);
    for (int64_t i = 0; i < count; i++)
        for (int64_t row = 0; row < rows; row++)
            for (int64_t column = 0; column < columns; column++)
                for (int part = 0; part < parts; part++)
                    test_number_put(this->dtype, made.array, parts * find(&made, i, row, column) + part,
                                    draw(&state, this->dtype, this->random));
    return made;
}

/* ---- what a product must give ---- */

static number conjugate(portmm_transpose transpose, number value) {
    return transpose == PORTMM_CONJ_TRANS ? conj(value) : value;
}

/* The sum before the activation; *size: the sum of the terms' magnitudes. */
static number sum_up(const test_case *this, const operand operands[4], int64_t product, int64_t row, int64_t column,
                     double *size) {
    number sum = 0, old = get(&operands[2], product, row, column);
    double total = 0;
    for (int64_t p = 0; p < this->k; p++) {
        number a = conjugate(this->form.transa, get(&operands[0], product, row, p));
        number b = conjugate(this->form.transb, get(&operands[1], product, p, column));
        sum += a * b;
        total += cabs(a) * cabs(b);
    }
    sum *= this->alpha;
    total *= cabs(this->alpha);
    if (this->beta != 0) {
        sum += this->beta * old;
        total += cabs(this->beta) * cabs(old);
    }
    if (this->bias_kind != PORTMM_BIAS_NONE) {
        number bias = get(&operands[3], product, 0, this->bias_kind == PORTMM_BIAS_PER_ROW ? row : column);
        sum += bias;
        total += cabs(bias);
    }
    *size = total;
    return sum;
}

static number activate(portmm_activation activation, number x) {
    double real = creal(x);
    if (activation == PORTMM_ACTIVATION_RELU)
        return real < 0 ? 0 : real;
    return activation == PORTMM_ACTIVATION_GELU ? real / 2 * erfc(-real / sqrt(2)) : x;
}

/* Whole numbers are exact but for the one rounding at the end; GELU never is. */
static bool is_right(const test_case *this, number got, number sum, double size) {
    number expected = activate(this->activation, sum);
    if (!this->random && this->activation != PORTMM_ACTIVATION_GELU)
        return creal(got) == test_number_round(this->dtype, creal(expected)) &&
               cimag(got) == test_number_round(this->dtype, cimag(expected));
    double terms = (double)this->k + 4, unit = test_number_sum_roundoff(this->dtype);
    double bound = terms * (test_number_parts(this->dtype) == 2 ? 3 : 1) * unit * size;
    if (this->activation == PORTMM_ACTIVATION_GELU) /* its slope is at most 1.13 */
        bound = 1.13 * bound + 32 * unit * fabs(creal(sum));
    return cabs(got - expected) <= bound + test_number_roundoff(this->dtype) * cabs(expected) + 0x1p-25 * unit;
}

static void judge(const test_case *this, const operand operands[4], const operand *result, int64_t count) {
    char form[16];
    test_describe_form(this->form, form);
    int parts = test_number_parts(this->dtype);
    size_t element = test_number_size(this->dtype);
    unsigned char *before = operands[2].array, *after = result->array;
    for (int64_t i = 0; i < count; i++)
        for (int64_t row = 0; row < this->m; row++)
            for (int64_t column = 0; column < this->n; column++) {
                double size;
                number sum = sum_up(this, operands, i, row, column, &size), got = get(result, i, row, column);
                if (!is_right(this, got, sum, size))
                    ck_abort_msg("dtype %d, %s, %lld x %lld x %lld, mode %d, bias %d, activation %d, %s, %s: element "
                                 "(%lld, %lld) of product %lld is %g%+gi instead of %g%+gi before the activation",
                                 (int)this->dtype, form, (long long)this->m, (long long)this->n, (long long)this->k,
                                 (int)this->mode, (int)this->bias_kind, (int)this->activation,
                                 this->random ? "random" : "integers", this->on_host ? "host" : "buffers",
                                 (long long)row, (long long)column, (long long)i, creal(got), cimag(got), creal(sum),
                                 cimag(sum));
            }
    for (int64_t i = 0; i < count; i++) /* what is left must be as it was */
        for (int64_t row = 0; row < this->m; row++)
            for (int64_t column = 0; column < this->n; column++) {
                size_t at = (size_t)find(result, i, row, column) * element;
                memcpy(after + at, before + at, element);
            }
    ck_assert_msg(memcmp(before, after, (size_t)result->size * element) == 0,
                  "dtype %d, %d parts, mode %d: something beside C was written to", (int)this->dtype, parts,
                  (int)this->mode);
}

/* ---- calls ---- */

static portmm_problem make_problem(const test_case *this, const operand operands[4], int64_t count) {
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.dtype = this->dtype;
    problem.layout = this->form.layout;
    problem.transa = this->form.transa;
    problem.transb = this->form.transb;
    problem.m = this->m;
    problem.n = this->n;
    problem.k = this->k;
    problem.lda = operands[0].leading;
    problem.ldb = operands[1].leading;
    problem.ldc = operands[2].leading;
    problem.a_offset = operands[0].offset;
    problem.b_offset = operands[1].offset;
    problem.c_offset = operands[2].offset;
    problem.batch_count = count;
    problem.a_stride = operands[0].stride;
    problem.b_stride = operands[1].stride;
    problem.c_stride = operands[2].stride;
    if (this->mode == TEST_LISTED) {
        problem.a_offsets = operands[0].offsets;
        problem.b_offsets = operands[1].offsets;
        problem.c_offsets = operands[2].offsets;
    }
    problem.activation = this->activation;
    problem.bias_kind = this->bias_kind;
    problem.bias_offset = operands[3].offset;
    problem.bias_stride = operands[3].stride;
    return problem;
}

static void put_scalar(portmm_dtype dtype, double room[2], number value) {
    portmm_dtype wide = dtype == PORTMM_F64 || dtype == PORTMM_C64 ? PORTMM_F64 : PORTMM_F32;
    test_number_put(wide, room, 0, creal(value));
    test_number_put(wide, room, 1, cimag(value));
}

static portmm_status call_on_buffers(portmm_context *context, const portmm_problem *problem, const operand operands[4],
                                     operand *result, const void *alpha, const void *beta) {
    portmm_queue *queue;
    portmm_buffer *buffers[4] = {NULL};
    TEST_OK(portmm_queue_create(context, &queue));
    for (int i = 0; i < 4; i++) {
        size_t bytes = (size_t)operands[i].size * test_number_size(problem->dtype);
        TEST_OK(portmm_buffer_create(context, bytes, &buffers[i]));
        TEST_OK(portmm_buffer_write(queue, buffers[i], 0, bytes, operands[i].array));
    }
    portmm_status status = portmm_gemm(queue, problem, alpha, buffers[0], buffers[1], beta, buffers[2],
                                       problem->bias_kind != PORTMM_BIAS_NONE ? buffers[3] : NULL, 0, NULL, NULL);
    if (status == PORTMM_STATUS_SUCCESS)
        TEST_OK(portmm_buffer_read(queue, buffers[2], 0, (size_t)result->size * test_number_size(problem->dtype),
                                   result->array));
    for (int i = 0; i < 4; i++)
        portmm_buffer_destroy(buffers[i]);
    portmm_queue_destroy(queue);
    return status;
}

portmm_status test_case_run(portmm_context *context, const test_case *this) {
    int64_t count = this->mode == TEST_SINGLE ? 1 : MAX_COUNT;
    bool shared = this->mode == TEST_SHARED;
    int64_t length = this->bias_kind == PORTMM_BIAS_PER_ROW ? this->m : this->n;
    double alpha[2], beta[2];
    test_case vector = *this; /* the bias has neither layout nor list */
    vector.form.layout = PORTMM_ROW_MAJOR;
    vector.mode = this->mode == TEST_LISTED ? TEST_STRIDED : this->mode;
    operand operands[4] = {make_operand(this, this->form.transa, this->m, this->k, count, shared, 1),
                           make_operand(this, this->form.transb, this->k, this->n, count, false, 3),
                           make_operand(this, PORTMM_NO_TRANS, this->m, this->n, count, false, 5),
                           make_operand(&vector, PORTMM_NO_TRANS, 1, length, count, shared, 4)};
    operand result = operands[2];
    size_t bytes = (size_t)result.size * test_number_size(this->dtype);
    result.array = allocate(bytes);
    memcpy(result.array, operands[2].array, bytes);
    put_scalar(this->dtype, alpha, this->alpha);
    put_scalar(this->dtype, beta, this->beta);
    portmm_problem problem = make_problem(this, operands, count);
    portmm_status status =
        this->on_host ? portmm_gemm_host(context, &problem, alpha, operands[0].array, operands[1].array, beta,
                                         result.array, this->bias_kind != PORTMM_BIAS_NONE ? operands[3].array : NULL)
                      : call_on_buffers(context, &problem, operands, &result, alpha, beta);
    if (status == PORTMM_STATUS_SUCCESS)
        judge(this, operands, &result, count);
    for (int i = 0; i < 4; i++)
        free(operands[i].array);
    free(result.array);
    return status;
}

/* ---- draw ---- */

test_case test_case_draw(portmm_dtype dtype, const int64_t size[3], uint32_t index, bool has_epilogues) {
    static const double scales[] = {0.75, -1, 0, 1, 0.5};
    const bool is_complex = test_number_parts(dtype) == 2;
    uint32_t bits = index * 2654435761u >> 4;
    test_case this = {.dtype = dtype,
                      .m = size[0],
                      .n = size[1],
                      .k = size[2],
                      .form = test_get_form((int)(index % TEST_FORMS)),
                      .mode = (test_mode)(bits % TEST_MODES),
                      .random = bits / 4 % 2 != 0,
                      .on_host = bits / 8 % 2 != 0,
                      .alpha = scales[bits / 16 % 5],
                      .beta = scales[bits / 80 % 5]};
    if (is_complex) {
        this.alpha += I * scales[bits / 400 % 5];
        this.beta += I * scales[bits / 2000 % 5];
    }
    if (has_epilogues) {
        this.bias_kind = (portmm_bias)(bits / 10000 % 3);
        this.activation = is_complex ? PORTMM_ACTIVATION_NONE : (portmm_activation)(bits / 30000 % 3);
    }
    return this;
}
