/* SPDX-License-Identifier: Apache-2.0 */
/* Everything portmm-info knows, as one JSON object: docs/man/portmm-info.1 has its members. */
#ifndef INFO_FACTS_H
#define INFO_FACTS_H

#include "drivers.h"

#include <jansson.h>
#include <stdbool.h>

/* `spec` is what libportmm would be asked for ("auto", "opencl:1"); with `probe` each OpenCL driver is asked alone,
 * too. */
json_t *info_collect(const info_asker *asker, const char *spec, bool probe);

/* Whether what `spec` asks for can be used. */
bool info_is_usable(const json_t *facts);

#endif
