/* SPDX-License-Identifier: Apache-2.0 */
/* A small interface in the manner of portmm.h, which a macro changes in one way. */
#include <stddef.h>
#include <stdint.h>

typedef enum portmm_kind {
    PORTMM_FIRST = 1,
#ifdef ENUMERATOR_CHANGED
    PORTMM_SECOND = 3,
#else
    PORTMM_SECOND = 2,
#endif
#ifdef ENUMERATOR_ADDED
    PORTMM_THIRD = 3,
#endif
} portmm_kind;

typedef struct portmm_test_info {
    size_t struct_size;
#ifdef INFO_INSERTED
    int64_t before;
#endif
    int32_t first;
    portmm_kind kind;
#ifdef INFO_GROWN
    int64_t second;
#endif
} portmm_test_info;

typedef struct portmm_span {
    uint64_t begin_ns;
#ifdef MEMBER_INSERTED
    uint64_t depth;
#endif
    uint64_t end_ns;
#ifdef SPAN_GROWN /* of this one programs have arrays */
    uint64_t thread;
#endif
} portmm_span;

typedef struct portmm_hidden portmm_hidden;

void portmm_tell(portmm_hidden *hidden, portmm_test_info *info);
#ifdef ARGUMENT_CHANGED
void portmm_read(portmm_span *span, int64_t count);
#else
void portmm_read(portmm_span *span, int32_t count);
#endif
#ifndef FUNCTION_REMOVED
void portmm_end(void);
#endif
#ifdef FUNCTION_ADDED
void portmm_more(void);
#endif
