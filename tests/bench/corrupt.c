/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into portmm-bench: reads of buffers succeed, with one element a little off. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <portmm/portmm.h>

typedef portmm_status (*read_function)(portmm_queue *, const portmm_buffer *, size_t, size_t, void *);

__attribute__((visibility("default"))) portmm_status
portmm_buffer_read(portmm_queue *queue, const portmm_buffer *buffer, size_t offset, size_t size, void *destination) {
    read_function next;
    *(void **)&next = dlsym(RTLD_NEXT, "portmm_buffer_read");
    portmm_status status = next(queue, buffer, offset, size, destination);
    if (status == PORTMM_STATUS_SUCCESS && size >= sizeof(float)) {
        *(float *)destination += 0.01F;
    }
    return status;
}
