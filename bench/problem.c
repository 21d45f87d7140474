/* SPDX-License-Identifier: Apache-2.0 */
#include "problem.h"

#include "text.h"

#include <string.h>

static const struct dtype_row {
    const char *name;
    size_t size;
    double unit_roundoff;
} dtypes[] = {
    [BENCH_F32] = {"f32", 4, 0x1p-24},
    [BENCH_F64] = {"f64", 8, 0x1p-53},
};

static const struct temperature_row {
    const char *name;
    const char *definition;
} temperatures[BENCH_TEMPERATURE_COUNT] = {
    [BENCH_COLD] = {"cold", "new process; libportmm's cache empty, the drivers' caches empty"},
    [BENCH_DRIVER] = {"driver", "new process; libportmm's cache off, the drivers' caches full"},
    [BENCH_CACHED] = {"cached", "new process; libportmm's cache full, the drivers' caches empty"},
    [BENCH_RELAUNCH] = {"relaunch", "new process; libportmm's cache full, the drivers' caches full"},
    [BENCH_WARM] = {"warm", "steady state of a process that started as in relaunch"},
};

const char *bench_dtype_name(bench_dtype dtype) {
    return dtypes[dtype].name;
}

bool bench_dtype_from_name(const char *name, bench_dtype *dtype) {
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            *dtype = (bench_dtype)i;
            return true;
        }
    }
    return false;
}

size_t bench_dtype_size(bench_dtype dtype) {
    return dtypes[dtype].size;
}

double bench_unit_roundoff(bench_dtype dtype) {
    return dtypes[dtype].unit_roundoff;
}

int64_t bench_lda(const bench_problem *problem) {
    return problem->transa ? problem->m : problem->k;
}

int64_t bench_ldb(const bench_problem *problem) {
    return problem->transb ? problem->k : problem->n;
}

double bench_flop_count(const bench_problem *problem) {
    return 2.0 * (double)problem->m * (double)problem->n * (double)problem->k;
}

double bench_matrix_bytes(const bench_problem *problem) {
    double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
    return (m * k + k * n + m * n) * (double)bench_dtype_size(problem->dtype);
}

char *bench_problem_label(const bench_problem *problem) {
    return bench_format("%s %lldx%lldx%lld %c%c", bench_dtype_name(problem->dtype), (long long)problem->m,
                        (long long)problem->n, (long long)problem->k, problem->transa ? 'T' : 'N',
                        problem->transb ? 'T' : 'N');
}

const char *bench_temperature_name(bench_temperature temperature) {
    return temperatures[temperature].name;
}

const char *bench_temperature_definition(bench_temperature temperature) {
    return temperatures[temperature].definition;
}

bool bench_temperature_from_name(const char *name, bench_temperature *temperature) {
    for (size_t i = 0; i < BENCH_TEMPERATURE_COUNT; i++) {
        if (strcmp(name, temperatures[i].name) == 0) {
            *temperature = (bench_temperature)i;
            return true;
        }
    }
    return false;
}

static const char *const start_names[BENCH_START_COUNT] = {"fast", "tuned", "hybrid"};

const char *bench_start_name(bench_start start) {
    return start_names[start];
}

bool bench_start_from_name(const char *name, bench_start *start) {
    for (int i = 0; i < BENCH_START_COUNT; i++) {
        if (strcmp(start_names[i], name) == 0) {
            *start = (bench_start)i;
            return true;
        }
    }
    return false;
}
