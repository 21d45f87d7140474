/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* splitmix64: the state is a counter, so any start gives a good sequence. */
static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double draw_value(uint64_t *state, portmm_dtype dtype, test_values values) {
    uint64_t bits = draw(state);
    if (values == TEST_INTEGERS)
        return (double)(bits % 9) - 4;
    double value = (double)(bits >> 11) * 0x1p-52 - 1;
    return dtype == PORTMM_F32 ? (double)(float)value : value;
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        perror("calloc");
        abort();
    }
    return memory;
}

static double *make_matrix(const test_reference *this, int64_t count, uint64_t seed, double *norm) {
    double *values = allocate((size_t)count, sizeof *values), sum = 0;
    for (int64_t i = 0; i < count; i++) {
        values[i] = draw_value(&seed, this->dtype, this->values);
        sum += values[i] * values[i];
    }
    *norm = sqrt(sum);
    return values;
}

/* Products of two floats, and small integers, are exact in double; a sum of them is as good as exact. */
static void multiply_plainly(test_reference *this) {
    double *row = allocate((size_t)this->n, sizeof *row);
    for (int64_t i = 0; i < this->m; i++) {
        for (int64_t j = 0; j < this->n; j++)
            row[j] = 0;
        for (int64_t l = 0; l < this->k; l++) {
            double factor = this->a[i * this->k + l];
            const double *b = &this->b[l * this->n];
            for (int64_t j = 0; j < this->n; j++)
                row[j] += factor * b[j];
        }
        for (int64_t j = 0; j < this->n; j++)
            this->product[i * this->n + j] = row[j];
    }
    free(row);
}

/* Ogita, Rump, Oishi: Accurate sum and dot product (2005), algorithm 5.3: as if summed in twice the precision. */
static long double dot(const double *a, const double *b, int64_t b_stride, int64_t count) {
    double sum = 0, rest = 0;
    for (int64_t l = 0; l < count; l++) {
        double right = b[l * b_stride], product = a[l] * right;
        double product_rest = fma(a[l], right, -product);
        double next = sum + product, part = next - sum;
        double sum_rest = (sum - (next - part)) + (product - part);
        sum = next;
        rest += product_rest + sum_rest;
    }
    return (long double)sum + rest;
}

static void multiply_compensated(test_reference *this) {
    for (int64_t i = 0; i < this->m; i++)
        for (int64_t j = 0; j < this->n; j++)
            this->product[i * this->n + j] = dot(&this->a[i * this->k], &this->b[j], this->n, this->k);
}

void test_reference_init(test_reference *reference, portmm_dtype dtype, test_values values, int64_t m, int64_t n,
                         int64_t k) {
    *reference = (test_reference){.dtype = dtype, .values = values, .m = m, .n = n, .k = k};
    uint64_t seed = ((uint64_t)m << 40) ^ ((uint64_t)n << 20) ^ (uint64_t)k ^ ((uint64_t)values << 60);
    reference->a = make_matrix(reference, m * k, seed + 1, &reference->norm_a);
    reference->b = make_matrix(reference, k * n, seed + 2, &reference->norm_b);
    reference->c = make_matrix(reference, m * n, seed + 3, &reference->norm_c);
    reference->product = allocate((size_t)(m * n), sizeof *reference->product);
    if (dtype == PORTMM_F64 && values == TEST_RANDOM)
        multiply_compensated(reference);
    else
        multiply_plainly(reference);
}

void test_reference_fini(test_reference *reference) {
    free(reference->a);
    free(reference->b);
    free(reference->c);
    free(reference->product);
}

long double test_reference_at(const test_reference *reference, double alpha, double beta, int64_t row, int64_t column) {
    int64_t at = row * reference->n + column;
    long double value = 0;
    if (alpha != 0)
        value += alpha * reference->product[at];
    if (beta != 0)
        value += (long double)beta * reference->c[at];
    return value;
}

double test_reference_bound(const test_reference *reference, double alpha, double beta) {
    double roundoff = reference->dtype == PORTMM_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    return roundoff * (sqrt((double)reference->k + 2) * fabs(alpha) * reference->norm_a * reference->norm_b +
                       2 * fabs(beta) * reference->norm_c);
}
