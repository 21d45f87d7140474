/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU backend's own structures. The device is this process: commands run in the call that enqueues them, and a
 * buffer is host memory. */
#ifndef PMM_CPU_H
#define PMM_CPU_H

#include <portmm/backend.h>

struct pmm_backend_state {
    const pmm_host *host;
    pmm_machine machine;
};

struct pmm_device {
    const pmm_host *host;
};

struct pmm_queue {
    const pmm_host *host;
};

struct pmm_buffer {
    unsigned char *memory;
    bool owned;
};

/* Every command is complete when its call returns, so an event has nothing to tell. */
struct pmm_event {
    char unused;
};

extern pmm_event pmm_cpu_complete;
extern const pmm_engine pmm_cpu_openblas;
/* The OpenBLAS that the engine takes. */
void pmm_cpu_describe_openblas(const pmm_host *host, pmm_properties *properties);

#endif
