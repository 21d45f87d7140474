/* SPDX-License-Identifier: Apache-2.0 */
#include "stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guarded.h"

size_t test_dtype_size(portmm_dtype dtype) {
    return dtype == PORTMM_F64 ? sizeof(double) : sizeof(float);
}

static void fill_with_poison(const test_stored *this) {
    static const uint32_t poison32 = 0x7fc5a5a5u; /* quiet NaNs that no arithmetic makes */
    static const uint64_t poison64 = 0x7ffa5a5a5a5a5a5au;
    size_t element = test_dtype_size(this->dtype);
    const void *poison = this->dtype == PORTMM_F64 ? (const void *)&poison64 : &poison32;
    for (size_t at = 0; at < this->size; at += element)
        memcpy(this->bytes + at, poison, element);
}

void test_stored_init(test_stored *stored, portmm_dtype dtype, portmm_layout layout, portmm_transpose transpose,
                      int64_t rows, int64_t columns, test_place place) {
    *stored = (test_stored){.dtype = dtype, .rows = rows, .columns = columns, .offset = place.offset};
    stored->rows_are_runs = (layout == PORTMM_ROW_MAJOR) == (transpose == PORTMM_NO_TRANS);
    int64_t inner = stored->rows_are_runs ? columns : rows, outer = stored->rows_are_runs ? rows : columns;
    stored->leading = (inner > 1 ? inner : 1) + place.padding;
    int64_t extent = outer > 0 && inner > 0 ? (outer - 1) * stored->leading + inner : 0;
    int64_t count = place.offset + extent + place.tail;
    stored->size = (size_t)(count > 0 ? count : 1) * test_dtype_size(dtype);
    stored->bytes = test_guarded_alloc(stored->size);
    fill_with_poison(stored);
}

void test_stored_fini(test_stored *stored) {
    test_guarded_free(stored->bytes, stored->size);
    free(stored->before);
}

static unsigned char *locate(const test_stored *this, int64_t row, int64_t column) {
    int64_t outer = this->rows_are_runs ? row : column, inner = this->rows_are_runs ? column : row;
    return this->bytes + (size_t)(this->offset + outer * this->leading + inner) * test_dtype_size(this->dtype);
}

void *test_stored_start(const test_stored *stored) {
    return stored->bytes + (size_t)stored->offset * test_dtype_size(stored->dtype);
}

void test_stored_put(test_stored *stored, int64_t row, int64_t column, double value) {
    float narrow = (float)value;
    if (stored->dtype == PORTMM_F64)
        memcpy(locate(stored, row, column), &value, sizeof value);
    else
        memcpy(locate(stored, row, column), &narrow, sizeof narrow);
}

double test_stored_get(const test_stored *stored, int64_t row, int64_t column) {
    double value;
    float narrow;
    if (stored->dtype == PORTMM_F64) {
        memcpy(&value, locate(stored, row, column), sizeof value);
        return value;
    }
    memcpy(&narrow, locate(stored, row, column), sizeof narrow);
    return narrow;
}

void test_stored_put_all(test_stored *stored, const double *values) {
    for (int64_t row = 0; row < stored->rows; row++)
        for (int64_t column = 0; column < stored->columns; column++)
            test_stored_put(stored, row, column, values[row * stored->columns + column]);
}

void test_stored_put_everywhere(test_stored *stored, double value) {
    for (int64_t row = 0; row < stored->rows; row++)
        for (int64_t column = 0; column < stored->columns; column++)
            test_stored_put(stored, row, column, value);
}

void test_stored_remember(test_stored *stored) {
    if (stored->before == NULL)
        stored->before = malloc(stored->size);
    if (stored->before == NULL) {
        perror("malloc");
        abort();
    }
    memcpy(stored->before, stored->bytes, stored->size);
}

bool test_stored_is_unchanged(const test_stored *stored) {
    return memcmp(stored->bytes, stored->before, stored->size) == 0;
}

bool test_stored_surroundings_are_unchanged(test_stored *stored) {
    size_t element = test_dtype_size(stored->dtype);
    for (int64_t row = 0; row < stored->rows; row++)
        for (int64_t column = 0; column < stored->columns; column++) {
            unsigned char *at = locate(stored, row, column);
            memcpy(stored->before + (at - stored->bytes), at, element);
        }
    return test_stored_is_unchanged(stored);
}
