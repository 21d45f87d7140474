/* SPDX-License-Identifier: Apache-2.0 */
/* The child process that measures libportmm: portmm-bench started by itself. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include <stdint.h>

/* First argument of such a process. Hidden: the request behind it is between two copies of one program. */
#define BENCH_SAMPLE_CHILD "--sample-child"

int bench_sample_main(int argc, char **argv, uint64_t entry_ns);

#endif
