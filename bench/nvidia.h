/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_NVIDIA_H
#define BENCH_NVIDIA_H

#include <jansson.h>

/* [{"index", "name", "persistence"}], a new array, by NVIDIA's management library; empty where that is missing. It may
 * take a driver's time, and crash: call it in a process of its own. */
json_t *bench_nvidia_devices(void);

#endif
