/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix as a product sees it: with a leading dimension, an offset, and surroundings.
 *
 *     offset   matrix: runs of `inner` elements, `leading` apart   tail | a page nobody may touch
 *
 * Everything that is not an element of the matrix (offset, padding, tail) is a NaN with a pattern of its own. A product
 * that reads it gives NaN; one that writes it changes bytes.
 */
#ifndef TEST_STORED_H
#define TEST_STORED_H

#include <stdbool.h>

#include <portmm/portmm.h>

typedef struct test_stored {
    portmm_dtype dtype;
    bool rows_are_runs; /* else columns are */
    int64_t rows, columns;
    int64_t offset, leading; /* elements */
    unsigned char *bytes;    /* guarded */
    size_t size;
    unsigned char *before; /* a copy, to compare with; NULL until test_stored_remember */
} test_stored;

size_t test_dtype_size(portmm_dtype dtype);

/* Where a matrix lies: how much larger than needed its leading dimension is, elements before and after it. */
typedef struct test_place {
    int64_t padding, offset, tail;
} test_place;

/* op(X) is rows x columns; it is stored transposed if `transpose` says so. All elements are NaN until they are put. */
void test_stored_init(test_stored *stored, portmm_dtype dtype, portmm_layout layout, portmm_transpose transpose,
                      int64_t rows, int64_t columns, test_place place);
void test_stored_fini(test_stored *stored);

/* The first element: offset included. */
void *test_stored_start(const test_stored *stored);

/* Row and column are those of op(X). */
void test_stored_put(test_stored *stored, int64_t row, int64_t column, double value);
double test_stored_get(const test_stored *stored, int64_t row, int64_t column);
/* All elements from a dense array, row by row. */
void test_stored_put_all(test_stored *stored, const double *values);
void test_stored_put_everywhere(test_stored *stored, double value);

void test_stored_remember(test_stored *stored);
/* Nothing has changed since remembered. */
bool test_stored_is_unchanged(const test_stored *stored);
/* Nothing but elements of the matrix has changed. */
bool test_stored_surroundings_are_unchanged(test_stored *stored);

#endif
