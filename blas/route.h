/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a product to where it is served. */
#ifndef PMM_BLAS_ROUTE_H
#define PMM_BLAS_ROUTE_H

#include <stdatomic.h>

#include "choice.h"
#include "platform.h"

/* What a product that goes to the next library carries there and back. */
typedef struct pmm_blas_ticket {
    pmm_blas_class *class; /* NULL: not measured */
    uint64_t begin_ns;
    bool is_nested; /* called by the next library itself, in the course of a product */
} pmm_blas_ticket;

/*
 * Serves the product and returns true; or returns false: then the caller calls the next library's function and gives
 * the ticket back with pmm_blas_passed. Never fails: what a device cannot do goes to the next library, with C as it
 * was. Any thread. Blocks until C is complete.
 */
bool pmm_blas_serve(const pmm_blas_call *call, pmm_blas_ticket *ticket);
void pmm_blas_passed(const pmm_blas_call *call, const pmm_blas_ticket *ticket);

#endif
