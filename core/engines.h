/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines of a context, and which of them serves. With one engine there is nothing to decide. With several,
 * products are sorted into classes; each class goes through these stages, forwards only:
 *
 *     awaited   the last engine of the list, the starter, serves; which one is faster is being found out
 *     loading   another one is faster: the background thread prepares it
 *     settled   as found, or given up
 */
#ifndef PMM_ENGINES_H
#define PMM_ENGINES_H

#include <stdatomic.h>

#include "choice.h"
#include "platform.h"

enum { PMM_MAX_ENGINES = 4, PMM_MAX_CLASSES = 128, PMM_MAX_SWITCHES = 64 };

typedef struct pmm_engine_slot {
    const pmm_engine *engine;
    _Atomic(pmm_engine_state *) state; /* NULL: not open yet */
} pmm_engine_slot;

typedef enum pmm_stage { PMM_STAGE_AWAITED, PMM_STAGE_LOADING, PMM_STAGE_SETTLED } pmm_stage;

typedef struct pmm_class_entry {
    pmm_class of;
    pmm_gemm form; /* a product of the class */
    pmm_stage stage;
    size_t serves;  /* position of the slot */
    size_t target;  /* when loading */
    bool tried;     /* the caller's path has asked for a helper; from then on the thread does */
    bool requested; /* a helper was started for it */
    uint64_t since_ns;
} pmm_class_entry;

typedef struct pmm_engines {
    pmm_engine_slot slots[PMM_MAX_ENGINES]; /* tuned first, starter last */
    size_t count;
    bool in_order;        /* policy tuned: the first that has the type serves, and no other */
    pmm_mutex open_mutex; /* held while an engine is opened */
    _Atomic(const char *) served;

    pmm_mutex mutex; /* of all below */
    pmm_condition changed;
    pmm_class_entry classes[PMM_MAX_CLASSES];
    size_t class_count;
    portmm_switch switches[PMM_MAX_SWITCHES];
    size_t switch_count;
    bool stopping, has_thread;
    pmm_thread thread;
    int64_t thread_process;
} pmm_engines;

bool pmm_engines_init(pmm_engines *engines);
void pmm_engines_fini(pmm_engines *engines);

/* Takes the engines of the context's backend: one if it is named or the policy is `tuned`, else all. */
portmm_status pmm_engines_take(portmm_context *context);
/* Ends the background thread; then closes the engines, so that the device can be closed. */
void pmm_engines_stop(portmm_context *context);
void pmm_engines_close(portmm_context *context);

/* The slot that serves such products whatever is found out; NULL: there is a choice. */
pmm_engine_slot *pmm_engines_find_only(portmm_context *context, const pmm_gemm *gemm);
/* The one that is ready first. */
pmm_engine_slot *pmm_engines_get_starter(portmm_context *context);

/* A product, or a batch, with that engine; one product after the other where the engine has no batches. */
portmm_status pmm_engine_run(const pmm_engine *engine, pmm_engine_state *state, pmm_queue *queue, const pmm_gemm *gemm,
                             size_t wait_count, pmm_event *const *wait_list, pmm_event **event);

/* The engine of a slot, ready. Opens it at the first call. */
portmm_status pmm_engines_open(portmm_context *context, pmm_engine_slot *slot, pmm_engine_state **state);

/* Enqueues a product with the engine whose turn it is. Arguments are checked but for the engine's limits. */
portmm_status pmm_engines_gemm(portmm_context *context, pmm_queue *queue, const char *function, const pmm_gemm *gemm,
                               size_t wait_count, pmm_event *const *wait_list, pmm_event **event);

/* As after a product that the starter served: has it found out who serves this class, in the background. */
void pmm_engines_begin(portmm_context *context, const pmm_gemm *form);

/* What a choice found by this process means for it. */
void pmm_engines_apply(portmm_context *context, const pmm_gemm *form, const pmm_choice *choice);

/* Whether some engine can index the product. */
portmm_status pmm_engines_check(const char *function, const portmm_context *context, const pmm_gemm *gemm);

void pmm_engines_note_switch(portmm_context *context, const char *from, const char *to, const char *why,
                             const pmm_gemm *form);

#endif
