/* SPDX-License-Identifier: Apache-2.0 */
#include "dtype.h"

#include <stdio.h>

#include "status.h"

typedef struct traits {
    const char *name;
    size_t size;
    bool is_complex, is_double;
} traits;

static const traits table[PMM_DTYPES] = {
    [PORTMM_F32] = {"f32", 4, false, false}, [PORTMM_F64] = {"f64", 8, false, true},
    [PORTMM_C32] = {"c32", 8, true, false},  [PORTMM_C64] = {"c64", 16, true, true},
    [PORTMM_F16] = {"f16", 2, false, false}, [PORTMM_BF16] = {"bf16", 2, false, false},
};

bool pmm_dtype_is_known(portmm_dtype dtype) {
    return (int)dtype > 0 && (int)dtype < PMM_DTYPES;
}

const char *pmm_dtype_name(portmm_dtype dtype) {
    return pmm_dtype_is_known(dtype) ? table[dtype].name : "?";
}

size_t pmm_dtype_size(portmm_dtype dtype) {
    return table[dtype].size;
}

bool pmm_dtype_is_complex(portmm_dtype dtype) {
    return table[dtype].is_complex;
}

bool pmm_dtype_is_double(portmm_dtype dtype) {
    return table[dtype].is_double;
}

void pmm_dtype_list(uint32_t set, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int dtype = 1; dtype < PMM_DTYPES && used < size; dtype++)
        if (set & PORTMM_DTYPE_BIT(dtype))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", table[dtype].name);
}

void pmm_dtype_put(portmm_dtype dtype, void *array, int64_t position, double value) {
    if (pmm_dtype_is_double(dtype))
        ((double *)array)[position] = value;
    else if (dtype == PORTMM_F16)
        ((uint16_t *)array)[position] = pmm_f16_from_f32((float)value);
    else if (dtype == PORTMM_BF16)
        ((uint16_t *)array)[position] = pmm_bf16_from_f32((float)value);
    else
        ((float *)array)[position] = (float)value;
}

double pmm_dtype_get(portmm_dtype dtype, const void *array, int64_t position) {
    if (pmm_dtype_is_double(dtype))
        return ((const double *)array)[position];
    if (dtype == PORTMM_F16)
        return pmm_f32_from_f16(((const uint16_t *)array)[position]);
    if (dtype == PORTMM_BF16)
        return pmm_f32_from_bf16(((const uint16_t *)array)[position]);
    return ((const float *)array)[position];
}

portmm_status pmm_dtype_read_scalar(const char *function, portmm_dtype dtype, const char *name, const void *scalar,
                                    double *re, double *im) {
    if (scalar == NULL)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s is NULL", function, name);
    bool wide = pmm_dtype_is_double(dtype), pair = pmm_dtype_is_complex(dtype);
    *re = wide ? ((const double *)scalar)[0] : ((const float *)scalar)[0];
    *im = !pair ? 0 : wide ? ((const double *)scalar)[1] : ((const float *)scalar)[1];
    return PORTMM_STATUS_SUCCESS;
}
