/* SPDX-License-Identifier: Apache-2.0 */
/* How the fault backend behaves; the test sets it while no context is open. */
#ifndef FAULT_H
#define FAULT_H

#include <portmm/backend.h>

enum { FAULT_TUNED, FAULT_STARTER, FAULT_ENGINES };

typedef struct fault_control {
    int device_open_ms; /* the device takes so long to open */
    bool device_fails;  /* and then does not */
    bool read_fails;    /* DEVICE_ERROR, after half of the rows were overwritten */
    bool caches;        /* each product looks for an entry named by its sizes, and stores it if it is missing */
    struct {
        int open_ms, gemm_ms; /* how long it takes */
        bool open_fails;      /* UNAVAILABLE */
        bool refuses;         /* every product: UNSUPPORTED */
        bool wrong;           /* one element of every product is off by one */
    } engines[FAULT_ENGINES];
    _Atomic(int) products[FAULT_ENGINES]; /* counted */
} fault_control;

#endif
