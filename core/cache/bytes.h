/* SPDX-License-Identifier: Apache-2.0 */
/* Integers as little-endian bytes, the same on every machine. */
#ifndef PMM_CACHE_BYTES_H
#define PMM_CACHE_BYTES_H

#include <stdint.h>

static inline void pmm_put_u32(unsigned char *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static inline void pmm_put_u64(unsigned char *at, uint64_t value) {
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static inline uint32_t pmm_get_u32(const unsigned char *at) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)at[i] << (8 * i);
    return value;
}

static inline uint64_t pmm_get_u64(const unsigned char *at) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

#endif
