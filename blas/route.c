/* SPDX-License-Identifier: Apache-2.0 */
#include "route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

/* So many products may fail on a route before it is given up. */
#define MAX_FAILURES 3

typedef enum stage { CLOSED, OPEN, GONE } stage;

/* A route of libportmm's. One product at a time: the others would only wait for it further in. */
typedef struct route {
    pthread_mutex_t mutex;
    _Atomic(int) stage; /* changes with the mutex held */
    portmm_context *context;
    bool has_served;
    int failures;
} route;

static route routes[PMM_BLAS_ROUTES] = {
    [PMM_BLAS_CPU] = {.mutex = PTHREAD_MUTEX_INITIALIZER}, [PMM_BLAS_DEVICE] = {.mutex = PTHREAD_MUTEX_INITIALIZER}};
static pthread_mutex_t choices_mutex = PTHREAD_MUTEX_INITIALIZER;
static pmm_blas_choices choices;
static pmm_blas_settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_uint_fast64_t spent_ns; /* on products that were measured */
static atomic_bool is_forked;         /* drivers do not survive a fork: the child uses the next library */
static _Thread_local bool is_inside;  /* a product is under way in this thread: what it calls must not come back here */

/* ---- start and end of the process ---- */

static void become_child(void) {
    atomic_store(&is_forked, true);
    pmm_blas_count_anew();
}

static char device_text[256] = "none"; /* kept from before the device is closed */

static void describe_device(void) {
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    if (atomic_load(&routes[PMM_BLAS_DEVICE].stage) == OPEN &&
        portmm_context_get_info(routes[PMM_BLAS_DEVICE].context, &info) == PORTMM_STATUS_SUCCESS)
        snprintf(device_text, sizeof device_text, "%s:%d %s, %s", info.backend, (int)info.device_index,
                 info.device_name, info.engine);
}

static void print_stats(void) {
    pmm_blas_print_stats(device_text);
    if (settings.stats == PMM_BLAS_STATS_CLASSES)
        pmm_blas_print_classes(&choices);
}

static void start(void) {
    pmm_blas_settings_read(&settings);
    pmm_blas_at_fork(become_child);
    if (settings.stats != PMM_BLAS_STATS_OFF)
        atexit(print_stats);
}

/* Registered once a driver is loaded, and again after the first product, which may load more: so it runs before what
 * those have registered. A route that another thread uses just now is left as it is. */
static void close_routes(void) {
    if (atomic_load(&is_forked))
        return;
    describe_device();
    for (int which = PMM_BLAS_CPU; which < PMM_BLAS_ROUTES; which++) {
        route *this = &routes[which];
        if (pthread_mutex_trylock(&this->mutex) != 0)
            continue;
        if (atomic_exchange(&this->stage, GONE) == OPEN)
            portmm_context_destroy(this->context);
        pthread_mutex_unlock(&this->mutex);
    }
}

/* ---- routes; with the mutex of the route held ---- */

static void give_up(int which, const char *why) {
    atomic_store(&routes[which].stage, GONE);
    fprintf(stderr, "portmm-blas: route %s is given up, the next library serves: %s\n", pmm_blas_route_names[which],
            why);
}

static portmm_status multiply(portmm_context *context, const pmm_blas_call *call) {
    switch (call->type) {
    case PMM_BLAS_S:
        return portmm_sgemm_host(context, call->layout, call->transa, call->transb, call->m, call->n, call->k,
                                 *(const float *)call->alpha, call->a, call->lda, call->b, call->ldb,
                                 *(const float *)call->beta, call->c, call->ldc);
    case PMM_BLAS_D:
        return portmm_dgemm_host(context, call->layout, call->transa, call->transb, call->m, call->n, call->k,
                                 *(const double *)call->alpha, call->a, call->lda, call->b, call->ldb,
                                 *(const double *)call->beta, call->c, call->ldc);
    case PMM_BLAS_C:
        return portmm_cgemm_host(context, call->layout, call->transa, call->transb, call->m, call->n, call->k,
                                 call->alpha, call->a, call->lda, call->b, call->ldb, call->beta, call->c, call->ldc);
    default:
        return portmm_zgemm_host(context, call->layout, call->transa, call->transb, call->m, call->n, call->k,
                                 call->alpha, call->a, call->lda, call->b, call->ldb, call->beta, call->c, call->ldc);
    }
}

/* What is no device to measure is gone without a word where nobody asked for it. */
static void open_route(int which) {
    route *this = &routes[which];
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    if (which == PMM_BLAS_CPU)
        options.backend = "cpu";
    if (portmm_context_create(&options, &this->context) != PORTMM_STATUS_SUCCESS) {
        if (settings.route == PMM_BLAS_AUTO)
            atomic_store(&this->stage, GONE);
        else
            give_up(which, portmm_last_error());
        return;
    }
    atexit(close_routes);
    if (which == PMM_BLAS_DEVICE && settings.route == PMM_BLAS_AUTO &&
        portmm_context_get_info(this->context, &info) == PORTMM_STATUS_SUCCESS && strcmp(info.backend, "cpu") == 0) {
        portmm_context_destroy(this->context);
        atomic_store(&this->stage, GONE);
        return;
    }
    atomic_store(&this->stage, OPEN);
}

/* ---- C, as it was before ---- */

static const size_t element_sizes[PMM_BLAS_TYPES] = {4, 8, 8, 16};

static bool is_zero(const pmm_blas_call *call, const void *scalar) {
    if (element_sizes[call->type] == 4 || call->type == PMM_BLAS_C) {
        const float *parts = scalar;
        return parts[0] == 0 && (call->type == PMM_BLAS_S || parts[1] == 0);
    }
    const double *parts = scalar;
    return parts[0] == 0 && (call->type == PMM_BLAS_D || parts[1] == 0);
}

static void copy_c(const pmm_blas_call *call, unsigned char *packed, bool back) {
    bool columns = call->layout == PORTMM_COL_MAJOR;
    size_t runs = (size_t)(columns ? call->n : call->m);
    size_t size = element_sizes[call->type], width = (size_t)(columns ? call->m : call->n) * size;
    unsigned char *c = call->c;
    for (size_t i = 0; i < runs; i++) {
        unsigned char *run = c + i * (size_t)call->ldc * size;
        if (back)
            memcpy(run, packed + i * width, width);
        else
            memcpy(packed + i * width, run, width);
    }
}

/* libportmm says that C is undefined after an error of the device, but the next library will need it. */
static portmm_status multiply_safely(portmm_context *context, const pmm_blas_call *call) {
    if (is_zero(call, call->beta))
        return multiply(context, call);
    unsigned char *kept = malloc((size_t)call->m * (size_t)call->n * element_sizes[call->type]);
    if (kept == NULL)
        return PORTMM_STATUS_OUT_OF_MEMORY;
    copy_c(call, kept, false);
    portmm_status status = multiply(context, call);
    if (status == PORTMM_STATUS_DEVICE_ERROR || status == PORTMM_STATUS_DEVICE_LOST)
        copy_c(call, kept, true);
    free(kept);
    return status;
}

/* ---- a product ---- */

static void note_failure(int which, portmm_status status) {
    bool is_of_device = status == PORTMM_STATUS_DEVICE_ERROR || status == PORTMM_STATUS_INTERNAL;
    if (status != PORTMM_STATUS_UNSUPPORTED) /* that is no fault */
        pmm_blas_count_failure((pmm_blas_route)which);
    if (status == PORTMM_STATUS_DEVICE_LOST || status == PORTMM_STATUS_UNAVAILABLE ||
        (is_of_device && ++routes[which].failures >= MAX_FAILURES))
        give_up(which, portmm_last_error());
}

/* With the route's mutex held. */
static bool serve_on(int which, const pmm_blas_call *call) {
    route *this = &routes[which];
    if (atomic_load(&this->stage) == CLOSED)
        open_route(which);
    if (atomic_load(&this->stage) != OPEN)
        return false;
    is_inside = true;
    portmm_status status = which == PMM_BLAS_DEVICE && call->m > 0 && call->n > 0 ? multiply_safely(this->context, call)
                                                                                  : multiply(this->context, call);
    is_inside = false;
    if (status == PORTMM_STATUS_SUCCESS)
        pmm_blas_count(call->type, (pmm_blas_route)which);
    else
        note_failure(which, status);
    if (!this->has_served)
        atexit(close_routes);
    this->has_served = true;
    return status == PORTMM_STATUS_SUCCESS;
}

static bool serve_forced(const pmm_blas_call *call) {
    if (settings.route == PMM_BLAS_NEXT)
        return false;
    pthread_mutex_lock(&routes[settings.route].mutex);
    bool served = serve_on((int)settings.route, call);
    pthread_mutex_unlock(&routes[settings.route].mutex);
    return served;
}

static bool is_small(const pmm_blas_call *call) {
    double edge = (double)settings.min_size, work = (double)call->m * call->n * call->k;
    return work == 0 || work < edge * edge * edge;
}

static pmm_blas_route choose(const pmm_blas_call *call, pmm_blas_class **class) {
    bool usable[PMM_BLAS_ROUTES] = {true}, pending = false;
    bool is_time = atomic_load(&spent_ns) >= settings.open_after_ns;
    for (int which = PMM_BLAS_CPU; which < PMM_BLAS_ROUTES; which++) {
        int now = atomic_load(&routes[which].stage);
        usable[which] = now == OPEN || (now == CLOSED && is_time);
        pending = pending || now == CLOSED;
    }
    pthread_mutex_lock(&choices_mutex);
    *class = pmm_blas_class_of(&choices, call);
    pmm_blas_route chosen = *class != NULL ? pmm_blas_choose(*class, usable, pending) : PMM_BLAS_NEXT;
    pthread_mutex_unlock(&choices_mutex);
    return chosen;
}

static void note_time(pmm_blas_class *class, pmm_blas_route which, const pmm_blas_call *call, uint64_t begin_ns) {
    uint64_t taken = portmm_clock_ns() - begin_ns;
    atomic_fetch_add(&spent_ns, taken);
    pthread_mutex_lock(&choices_mutex);
    pmm_blas_note_time(class, which, call, (double)taken);
    pthread_mutex_unlock(&choices_mutex);
}

static void note_class_failure(pmm_blas_class *class, pmm_blas_route which) {
    pthread_mutex_lock(&choices_mutex);
    pmm_blas_note_failure(class, which);
    pthread_mutex_unlock(&choices_mutex);
}

static bool serve_chosen(const pmm_blas_call *call, pmm_blas_ticket *ticket) {
    pmm_blas_class *class;
    pmm_blas_route chosen = choose(call, &class);
    /* Where the route is busy with another thread's product, this one need not wait for it. */
    if (chosen != PMM_BLAS_NEXT && pthread_mutex_trylock(&routes[chosen].mutex) == 0) {
        bool was_open = atomic_load(&routes[chosen].stage) == OPEN;
        uint64_t begin = portmm_clock_ns();
        bool served = serve_on((int)chosen, call);
        bool is_gone = atomic_load(&routes[chosen].stage) == GONE;
        pthread_mutex_unlock(&routes[chosen].mutex);
        if (served)
            note_time(class, chosen, call, begin);
        else if (was_open && !is_gone)
            note_class_failure(class, chosen);
        return served;
    }
    if (chosen == PMM_BLAS_NEXT)
        *ticket = (pmm_blas_ticket){.class = class, .begin_ns = portmm_clock_ns()};
    return false;
}

bool pmm_blas_serve(const pmm_blas_call *call, pmm_blas_ticket *ticket) {
    *ticket = (pmm_blas_ticket){.is_nested = is_inside};
    if (is_inside)
        return false;
    pthread_once(&once, start);
    bool served = false;
    if (!atomic_load_explicit(&is_forked, memory_order_relaxed))
        served = settings.route == PMM_BLAS_AUTO ? !is_small(call) && serve_chosen(call, ticket) : serve_forced(call);
    is_inside = !served;
    return served;
}

void pmm_blas_passed(const pmm_blas_call *call, const pmm_blas_ticket *ticket) {
    if (ticket->is_nested)
        return;
    is_inside = false;
    pmm_blas_count(call->type, PMM_BLAS_NEXT);
    if (ticket->class != NULL)
        note_time(ticket->class, PMM_BLAS_NEXT, call, ticket->begin_ns);
}
