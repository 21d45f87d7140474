/* SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

#include <math.h>
#include <string.h>

/* `digits` of the significand; `least`: exponent of the smallest normal number; `most`: of the largest. */
typedef struct traits {
    size_t size;
    int parts, digits, least, most;
} traits;

static const traits table[] = {
    [PORTMM_F32] = {4, 1, 24, -126, 127}, [PORTMM_F64] = {8, 1, 53, -1022, 1023},
    [PORTMM_C32] = {8, 2, 24, -126, 127}, [PORTMM_C64] = {16, 2, 53, -1022, 1023},
    [PORTMM_F16] = {2, 1, 11, -14, 15},   [PORTMM_BF16] = {2, 1, 8, -126, 127},
};

size_t test_number_size(portmm_dtype dtype) {
    return table[dtype].size;
}

int test_number_parts(portmm_dtype dtype) {
    return table[dtype].parts;
}

double test_number_roundoff(portmm_dtype dtype) {
    return ldexp(1, -table[dtype].digits);
}

double test_number_sum_roundoff(portmm_dtype dtype) {
    return fmin(test_number_roundoff(dtype), ldexp(1, -24));
}

double test_number_round(portmm_dtype dtype, double value) {
    const traits *of = &table[dtype];
    if (value == 0 || !isfinite(value))
        return value;
    int exponent = ilogb(value) < of->least ? of->least : ilogb(value);
    double rounded = ldexp(nearbyint(ldexp(value, of->digits - 1 - exponent)), exponent + 1 - of->digits);
    return fabs(rounded) >= ldexp(1, of->most) * 2 ? copysign(INFINITY, value) : rounded;
}

static uint16_t encode(const traits *of, double value) {
    const int fraction_bits = of->digits - 1;
    const uint16_t sign = signbit(value) ? 0x8000u : 0, all_ones = (uint16_t)(of->most - of->least + 2);
    double magnitude = fabs(value);
    if (isnan(value))
        return (uint16_t)(sign | all_ones << fraction_bits | 1u << (fraction_bits - 1));
    if (isinf(value))
        return (uint16_t)(sign | all_ones << fraction_bits);
    if (magnitude < ldexp(1, of->least))
        return (uint16_t)(sign | (uint16_t)ldexp(magnitude, fraction_bits - of->least));
    int exponent = ilogb(magnitude);
    uint16_t fraction = (uint16_t)(ldexp(magnitude, fraction_bits - exponent) - ldexp(1, fraction_bits));
    return (uint16_t)(sign | (exponent - of->least + 1) << fraction_bits | fraction);
}

static double decode(const traits *of, uint16_t bits) {
    const int fraction_bits = of->digits - 1, all_ones = of->most - of->least + 2;
    int field = (bits & 0x7fff) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    double magnitude = field == all_ones ? (fraction != 0 ? NAN : INFINITY)
                       : field == 0      ? ldexp(fraction, of->least - fraction_bits)
                                    : ldexp(fraction + (1 << fraction_bits), field - 1 + of->least - fraction_bits);
    return bits & 0x8000 ? -magnitude : magnitude;
}

void test_number_put(portmm_dtype dtype, void *array, int64_t at, double value) {
    if (table[dtype].digits == 53)
        ((double *)array)[at] = value;
    else if (table[dtype].digits == 24)
        ((float *)array)[at] = (float)value;
    else
        ((uint16_t *)array)[at] = encode(&table[dtype], value);
}

double test_number_get(portmm_dtype dtype, const void *array, int64_t at) {
    if (table[dtype].digits == 53)
        return ((const double *)array)[at];
    if (table[dtype].digits == 24)
        return ((const float *)array)[at];
    return decode(&table[dtype], ((const uint16_t *)array)[at]);
}
