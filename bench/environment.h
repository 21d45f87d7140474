/* SPDX-License-Identifier: Apache-2.0 */
/* The machine and the settings that a measurement, or a complaint, depends on. */
#ifndef BENCH_ENVIRONMENT_H
#define BENCH_ENVIRONMENT_H

#include <jansson.h>

/*
 * An object: date (UTC), revision (of the sources, "unknown" outside a repository), cpu, cores, memory_bytes, governor
 * (of the first core's clock, "" where the system does not tell), system, distribution, icd_files (path and library of
 * each), variables (those that change what libportmm, a driver or a BLAS does).
 */
json_t *bench_describe_environment(void);

/* [{"file": path, "library": name}]: what an OpenCL ICD loader reads, from OCL_ICD_VENDORS or the usual directory. */
json_t *bench_list_icd_files(void);

#endif
