/* SPDX-License-Identifier: Apache-2.0 */
/* Element types: what the core needs to know of each. */
#ifndef PMM_DTYPE_H
#define PMM_DTYPE_H

#include <portmm/backend.h>

enum { PMM_DTYPES = 7 }; /* one more than the largest portmm_dtype */

bool pmm_dtype_is_known(portmm_dtype dtype);
/* "f32"; "?" if unknown. */
const char *pmm_dtype_name(portmm_dtype dtype);
/* Bytes. */
size_t pmm_dtype_size(portmm_dtype dtype);
bool pmm_dtype_is_complex(portmm_dtype dtype);
/* Whether the device must have doubles for it. */
bool pmm_dtype_is_double(portmm_dtype dtype);
/* Names of a set of types, "f32, f64". */
void pmm_dtype_list(uint32_t set, char *text, size_t size);

/* One real number of an array: a complex element is two of them. Rounds to nearest. */
void pmm_dtype_put(portmm_dtype dtype, void *array, int64_t position, double value);
double pmm_dtype_get(portmm_dtype dtype, const void *array, int64_t position);

/* A scalar of the type's products, float or double or a pair of them. INVALID_ARGUMENT: it is NULL. */
portmm_status pmm_dtype_read_scalar(const char *function, portmm_dtype dtype, const char *name, const void *scalar,
                                    double *re, double *im);

#endif
