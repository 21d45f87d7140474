/* SPDX-License-Identifier: Apache-2.0 */
#include "choice.h"

/* So much faster must a route be to be taken over one that is preferred to it. */
#define CLEARLY 0.9F
/* A route this many times slower than another is tried no more. */
#define HOPELESS 2.0F

static unsigned char count_bits(int size) {
    unsigned char bits = 0;
    for (; size > 0; size >>= 1)
        bits++;
    return bits;
}

pmm_blas_class *pmm_blas_class_of(pmm_blas_choices *choices, const pmm_blas_call *call) {
    const pmm_blas_class key = {.type = (unsigned char)call->type,
                                .m = count_bits(call->m),
                                .n = count_bits(call->n),
                                .k = count_bits(call->k),
                                .settled = -1};
    size_t hash = ((key.m * 31u + key.n) * 31u + key.k) * PMM_BLAS_TYPES + key.type;
    for (size_t i = 0; i < PMM_BLAS_MAX_CLASSES; i++) {
        pmm_blas_class *class = &choices->classes[(hash + i) % PMM_BLAS_MAX_CLASSES];
        if (class->m == 0) { /* a place that is free: no product is chosen for with a size of 0 */
            *class = key;
            choices->count++;
            return class;
        }
        if (class->type == key.type && class->m == key.m && class->n == key.n && class->k == key.k)
            return class;
    }
    return NULL;
}

static bool is_tried(const pmm_blas_class *class, int route) {
    return class->routes[route].is_out || class->routes[route].trials >= PMM_BLAS_TRIALS;
}

static pmm_blas_route find_best(const pmm_blas_class *class, const bool usable[PMM_BLAS_ROUTES]) {
    int best = PMM_BLAS_NEXT;
    for (int route = PMM_BLAS_NEXT + 1; route < PMM_BLAS_ROUTES; route++)
        if (usable[route] && !class->routes[route].is_out && class->routes[route].ns < CLEARLY * class->routes[best].ns)
            best = route;
    return (pmm_blas_route)best;
}

pmm_blas_route pmm_blas_choose(pmm_blas_class *class, const bool usable[PMM_BLAS_ROUTES], bool pending) {
    if (class->settled >= 0)
        return usable[class->settled] ? (pmm_blas_route) class->settled : PMM_BLAS_NEXT;
    for (int route = PMM_BLAS_NEXT; route < PMM_BLAS_ROUTES; route++)
        if (usable[route] && !is_tried(class, route))
            return (pmm_blas_route)route;
    pmm_blas_route best = find_best(class, usable);
    if (!pending)
        class->settled = (signed char)best;
    return best;
}

void pmm_blas_note_time(pmm_blas_class *class, pmm_blas_route route, const pmm_blas_call *call, double ns) {
    unsigned char *trials = &class->routes[route].trials;
    float *best = &class->routes[route].ns, cost = (float)(ns / call->m / call->n / call->k);
    if (*trials >= PMM_BLAS_TRIALS)
        return;
    if (++*trials == 1)
        return;
    if (*trials == 2 || cost < *best)
        *best = cost;
    if (route != PMM_BLAS_NEXT && *best > HOPELESS * class->routes[PMM_BLAS_NEXT].ns)
        class->routes[route].is_out = true;
}

void pmm_blas_note_failure(pmm_blas_class *class, pmm_blas_route route) {
    class->routes[route].is_out = true;
    if (class->settled == (signed char)route)
        class->settled = PMM_BLAS_NEXT;
}
