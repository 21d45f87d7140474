/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL drivers of this machine, each asked alone. */
#ifndef INFO_DRIVERS_H
#define INFO_DRIVERS_H

#include "platform.h"

#include <jansson.h>

/* How children are asked: `program` is this program's file; one that has not answered after the limit is hung. */
typedef struct info_asker {
    const char *program;
    unsigned limit_s;
} info_asker;

/* Set for children so that an OpenCL loader sees only drivers that survive; none set: all do. */
typedef struct info_safe_drivers {
    char *directory; /* removed by info_safe_drivers_fini */
    bench_variable variables[3];
    size_t count;
} info_safe_drivers;

/*
 * [{"file", "library", "state", "devices", "text"}] of the ICD files that a loader reads. state: "works", "no device",
 * "not loadable", "crashed" or "hung". *safe leaves out the last two.
 */
json_t *info_probe_drivers(const info_asker *asker, info_safe_drivers *safe);
void info_safe_drivers_fini(info_safe_drivers *safe);

/* The object a child of this program wrote, or {"error": text}. `argument` may be NULL. */
json_t *info_ask_child(const info_asker *asker, const char *mode, const char *argument, const bench_variable *variables,
                       size_t count);

#endif
