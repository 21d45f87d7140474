/* SPDX-License-Identifier: Apache-2.0 */
#include "interface.h"

struct portmm_hidden {
    int first;
#ifdef HIDDEN_CHANGED
    double inserted;
#endif
    int second;
};

void portmm_tell(portmm_hidden *hidden, portmm_test_info *info) {
    info->first = hidden->second;
}
#ifdef ARGUMENT_CHANGED
void portmm_read(portmm_span *span, int64_t count) {
#else
void portmm_read(portmm_span *span, int32_t count) {
#endif
    span->end_ns = (uint64_t)count;
}
#ifndef FUNCTION_REMOVED
void portmm_end(void) {
}
#endif
#ifdef FUNCTION_ADDED
void portmm_more(void) {
}
#endif
