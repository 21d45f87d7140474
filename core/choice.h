/* SPDX-License-Identifier: Apache-2.0 */
/* Which engine serves a class of products on a device: found out once, kept in the cache. */
#ifndef PMM_CHOICE_H
#define PMM_CHOICE_H

#include "platform.h"

/* Products of one type, row-major transposes, and sizes and batches to a factor of two. */
typedef struct pmm_class {
    unsigned char bytes[7];
} pmm_class;

pmm_class pmm_class_of(const pmm_gemm *gemm);

#define PMM_ENGINE_NAME 24

typedef struct pmm_choice {
    char serves[PMM_ENGINE_NAME];
    char refused[PMM_ENGINE_NAME]; /* gave a wrong result; "": none did */
} pmm_choice;

/* False: nothing is known. */
bool pmm_choice_read(portmm_context *context, const pmm_class *of, pmm_choice *choice);
bool pmm_choice_write(portmm_context *context, const pmm_class *of, const pmm_choice *choice);

#endif
