/* SPDX-License-Identifier: Apache-2.0 */
/* What changes first products without being part of any library: the page cache, the clock, denormal numbers. */
#ifndef BENCH_MACHINE_STATE_H
#define BENCH_MACHINE_STATE_H

#include <jansson.h>

/* [{"backend", "file", "cached": share of it in memory, null where it cannot be told}]: the drivers' libraries as far
 * as they are found without loading them. */
json_t *bench_describe_page_cache(void);

/* {"governor", "limit_khz", "most_khz", "throttle_count"} of the CPUs in a directory such as BENCH_CPUS; "" and 0 where
 * it does not tell. */
#define BENCH_CPUS "/sys/devices/system/cpu"
json_t *bench_describe_clock(const char *cpus);

/* {"cost": how many times as long a product with denormal numbers takes}. */
json_t *bench_describe_denormals(void);

#endif
