/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured: the product, and the state of the caches at the start of the process (its temperature). */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum bench_dtype { BENCH_F32, BENCH_F64 } bench_dtype;

/* C := op(A) op(B), row-major without padding: op(A) is m x k, op(B) is k x n. */
typedef struct bench_problem {
    int64_t m, n, k;
    bench_dtype dtype;
    bool transa, transb;
} bench_problem;

typedef struct bench_shape {
    int64_t m, n, k;
} bench_shape;

/* "f32"; and its inverse, false for an unknown name. */
const char *bench_dtype_name(bench_dtype dtype);
bool bench_dtype_from_name(const char *name, bench_dtype *dtype);
size_t bench_dtype_size(bench_dtype dtype);
double bench_unit_roundoff(bench_dtype dtype);

/* Distance in elements between rows of A, B as stored. */
int64_t bench_lda(const bench_problem *problem);
int64_t bench_ldb(const bench_problem *problem);

/* Multiplications and additions; bytes of A, B and C. As double, so that neither can overflow. */
double bench_flop_count(const bench_problem *problem);
double bench_matrix_bytes(const bench_problem *problem);

/* A new string such as "f32 1000x1000x1000 NT". */
char *bench_problem_label(const bench_problem *problem);

typedef enum bench_temperature {
    BENCH_COLD,
    BENCH_DRIVER,
    BENCH_CACHED,
    BENCH_RELAUNCH,
    BENCH_WARM,
    BENCH_TEMPERATURE_COUNT
} bench_temperature;

/* Start policies, as libportmm's. */
typedef enum bench_start { BENCH_FAST, BENCH_TUNED, BENCH_HYBRID, BENCH_START_COUNT } bench_start;
const char *bench_start_name(bench_start start);
bool bench_start_from_name(const char *name, bench_start *start);

const char *bench_temperature_name(bench_temperature temperature);
/* One line, the one that is printed under every table. */
const char *bench_temperature_definition(bench_temperature temperature);
bool bench_temperature_from_name(const char *name, bench_temperature *temperature);

#endif
