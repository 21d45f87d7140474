/* SPDX-License-Identifier: Apache-2.0 */
/* The products that options --backend, --dtype, --shape and --trans describe. */
#ifndef TOOL_PROBLEMS_H
#define TOOL_PROBLEMS_H

#include "cache/cache.h"

/* Calls `visit` for each product on each device, each device with one context of its own made from `options`, whose
 * backend is set. `context` is NULL where the device cannot be opened. Returns false after a complaint about the
 * options of the request. */
typedef void (*tool_visitor)(portmm_context *context, const char *spec, const portmm_problem *problem, void *user);
bool tool_visit_problems(const tool_request *request, const portmm_context_options *options, tool_visitor visit,
                         void *user);

/* Fills a new object that names the product. */
json_t *tool_describe(portmm_context *context, const char *spec, const portmm_problem *problem);

const char *tool_dtype_name(portmm_dtype dtype);

#endif
