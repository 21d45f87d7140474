/* SPDX-License-Identifier: Apache-2.0 */
/* The public handles, as the core sees them. */
#ifndef PMM_CONTEXT_H
#define PMM_CONTEXT_H

#include <stdatomic.h>

#include "engines.h"
#include "host.h"
#include "hybrid.h"
#include "warmup.h"

struct portmm_context {
    pmm_runtime runtime;
    pmm_opened *opened;
    const pmm_backend *backend; /* of `opened` */
    pmm_device *device;
    portmm_device_info info;
    char reason[1024];

    pmm_engines engines;
    atomic_bool first_product_done; /* later ones are `steady` on the timeline */
    pmm_hybrid hybrid;

    pmm_mutex host_mutex; /* held during a host-pointer product */
    portmm_queue *host_queue;

    pmm_mutex zeros_mutex;
    pmm_buffer *zeros[64]; /* see gemm.c; the last one is the largest */
    size_t zeros_count, zeros_size;

    pmm_warmup warmup;
};

struct portmm_queue {
    portmm_context *context;
    pmm_queue *queue;
    bool has_products; /* since the last wait */
};

struct portmm_buffer {
    portmm_context *context;
    pmm_buffer *buffer;
    size_t size;
    void *mapped; /* NULL: it is not */
};

struct portmm_event {
    portmm_context *context;
    pmm_event *event;
    bool is_product; /* else, what a wait for it counts as: */
    portmm_phase phase;
};

/* Opens the device that the spec names. */
portmm_status pmm_context_open_device(portmm_context *context, const char *spec_text);

/* Made before a fork, in the parent, by a driver that does not survive one: no call of it may be made. */
bool pmm_context_is_cut_off(const portmm_context *context);
/* UNAVAILABLE, with a text, where it is cut off. */
portmm_status pmm_context_check_process(const char *function, const portmm_context *context);

/* Phase of what a product costs now. */
portmm_phase pmm_context_product_phase(portmm_context *context);

/* Gives `made`, of a command of that phase (FIRST_LAUNCH: a product), to the caller in *wrapper. */
void pmm_event_give(portmm_context *context, pmm_event *made, portmm_phase phase, portmm_event *wrapper,
                    portmm_event **event);

/* Waits for the products of the queue, on the timeline as such. */
portmm_status pmm_queue_settle(portmm_queue *queue);

#endif
