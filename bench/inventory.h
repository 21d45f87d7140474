/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine has, asked one backend at a time in child processes: a driver that crashes is named, the rest go
 * on. */
#ifndef BENCH_INVENTORY_H
#define BENCH_INVENTORY_H

#include "inventory_child.h"
#include "launch.h"
#include "options.h"

/* What bench_inventory_main wrote. A backend whose process failed is unavailable for that reason. */
json_t *bench_inventory_probe(bench_launcher *launcher, const char *backend);

/* Prints the backends that the options name (all of them for auto and all). False if none of them is available. */
bool bench_inventory_print(bench_launcher *launcher, const bench_options *options, FILE *output);

/* The devices of a spec's backend in one line, "opencl:0 (name), opencl:1 (name)", or why there is none. New text. */
char *bench_inventory_devices(bench_launcher *launcher, const char *spec);

#endif
