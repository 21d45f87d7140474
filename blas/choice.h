/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which route is fastest for products of a class: a type, and the sizes to a factor of two. It is measured on the
 * program's own products, copies to the device and back included: a few on each route, of which the first is not
 * counted, since it loads or compiles something. Then the best one serves for good. Not locked.
 */
#ifndef PMM_BLAS_CHOICE_H
#define PMM_BLAS_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "call.h"
#include "settings.h"

enum { PMM_BLAS_TRIALS = 4, PMM_BLAS_MAX_CLASSES = 1024 };

typedef struct pmm_blas_class {
    unsigned char type, m, n, k; /* m: bits of the size */
    signed char settled;         /* the route; -1: not yet */
    struct {
        unsigned char trials;
        bool is_out; /* it failed, or is far too slow */
        float ns;    /* the best time of a multiplication and addition */
    } routes[PMM_BLAS_ROUTES];
} pmm_blas_class;

typedef struct pmm_blas_choices {
    pmm_blas_class classes[PMM_BLAS_MAX_CLASSES]; /* open hashing */
    size_t count;
} pmm_blas_choices;

/* NULL when the table is full. Classes do not move. */
pmm_blas_class *pmm_blas_class_of(pmm_blas_choices *choices, const pmm_blas_call *call);

/* `usable` routes are open; while one is `pending`, nothing is settled. NEXT is always usable. */
pmm_blas_route pmm_blas_choose(pmm_blas_class *class, const bool usable[PMM_BLAS_ROUTES], bool pending);

void pmm_blas_note_time(pmm_blas_class *class, pmm_blas_route route, const pmm_blas_call *call, double ns);
/* The route could not serve a product of the class. */
void pmm_blas_note_failure(pmm_blas_class *class, pmm_blas_route route);

#endif
