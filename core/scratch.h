/* SPDX-License-Identifier: Apache-2.0 */
/* Products on matrices of our own, of a given form: to prepare an engine, to check it and to time it. */
#ifndef PMM_SCRATCH_H
#define PMM_SCRATCH_H

#include "context.h"

/* One product on zeros, complete on return. */
portmm_status pmm_scratch_run(portmm_context *context, pmm_engine_slot *slot, const pmm_gemm *form);

/*
 * Runs every engine of the context on whole numbers, checks rows of the result, edges among them, exactly, and times
 * those that are right. Writes what it found to the cache, with the binaries that ran. *choice is filled on success.
 * Errors: as for a product; DEVICE_ERROR if no engine gives the right result.
 */
portmm_status pmm_scratch_settle(portmm_context *context, const pmm_gemm *form, pmm_choice *choice);

/* Takes into the cache what has run on the context's engines and is not there in its final form. */
void pmm_scratch_capture(portmm_context *context);

/* One product like `form` with each engine, the starter first. What is on trial in the cache and stood it joins the
 * cache. Errors: the first of an engine that has such products. */
portmm_status pmm_scratch_prove(portmm_context *context, const pmm_gemm *form);

#endif
