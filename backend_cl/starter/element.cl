/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both starters have in common: elements of every type, batches, and what is done to a sum before it is stored.
 * REAL is what sums are made in, PARTS how many of them an element has; HALF and BFLOAT say that an element is stored in
 * 16 bits, EPILOGUE that there is one.
 */
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)

#if PARTS == 2
typedef CAT(REAL, 2) number;
number times(number x, number y) {
    return (number)(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
#define IS_ZERO(value) ((value).x == 0 && (value).y == 0)
#define TURN(value, conjugate) ((conjugate) ? (number)((value).x, -(value).y) : (value))
#else
typedef REAL number;
#define times(x, y) ((x) * (y))
#define IS_ZERO(value) ((value) == 0)
#define TURN(value, conjugate) (value)
#endif

#if defined(HALF)
typedef half stored;
#define GET(from, i) vload_half(i, from)
#define PUT(to, i, x) vstore_half_rte(x, i, to)
#elif defined(BFLOAT)
typedef ushort stored;
#define GET(from, i) as_float((uint)(from)[i] << 16)
ushort narrow(float x) {
    uint bits = as_uint(x);
    return isnan(x) ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
#define PUT(to, i, x) ((to)[i] = narrow(x))
#else
typedef number stored;
#define GET(from, i) (from)[i]
#define PUT(to, i, x) ((to)[i] = (x))
#define IS_WHOLE
#endif

/* Where a product of a batch has its matrix: one of three lists in `places`, one after the other, or strides. */
#define BATCH long first, long count, global const long *places
enum { OF_A, OF_B, OF_C };
long find(global const long *places, long count, int which, long product, long stride) {
    return places != 0 ? places[which * count + product] : product * stride;
}

#ifdef EPILOGUE
#define BIAS , global const stored *bias, long bias_offset, long bias_stride, long bias_row, long bias_column, int activation
#define MOVE_BIAS(product) bias_offset += (product) * bias_stride
#define FINISH_SUM(x, i, j) finish_sum(x, bias, bias_offset + (i) * bias_row + (j) * bias_column, activation)
number finish_sum(number x, global const stored *bias, long at, int activation) {
    if (bias != 0)
        x += GET(bias, at);
#if PARTS == 1
    if (activation == 1)
        x = x < 0 ? 0 : x;
    else if (activation == 2) /* erfc: 1 + erf loses all digits of a large negative x */
        x = x / 2 * erfc(x * (REAL)-0.70710678118654752440);
#endif
    return x;
}
#else
#define BIAS
#define MOVE_BIAS(product)
#define FINISH_SUM(x, i, j) (x)
#endif
