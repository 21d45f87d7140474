/* SPDX-License-Identifier: Apache-2.0 */
/* Real numbers in each element type, by arithmetic alone, so that the library's own conversions are judged, too. */
#ifndef TEST_NUMBER_H
#define TEST_NUMBER_H

#include <stdbool.h>

#include <portmm/portmm.h>

/* Bytes of an element, and the real numbers in it. */
size_t test_number_size(portmm_dtype dtype);
int test_number_parts(portmm_dtype dtype);
/* Half the distance from 1 to the next number; of what sums are made in. */
double test_number_roundoff(portmm_dtype dtype);
double test_number_sum_roundoff(portmm_dtype dtype);
/* The nearest number that the type has, ties to even. */
double test_number_round(portmm_dtype dtype, double value);

/* Number `at` of an array; a complex element is two. What is put must be one that the type has, or a NaN. */
void test_number_put(portmm_dtype dtype, void *array, int64_t at, double value);
double test_number_get(portmm_dtype dtype, const void *array, int64_t at);

#endif
