/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"

const char *const pmm_blas_route_names[PMM_BLAS_ROUTES + 1] = {"next", "cpu", "device", "auto"};

static int read_word(const char *name, const char *const *words, int count, int standard) {
    const char *text = pmm_blas_getenv(name);
    if (text == NULL)
        return standard;
    for (int i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    fprintf(stderr, "portmm-blas: %s=%.100s is none of", name, text);
    for (int i = 0; i < count; i++)
        fprintf(stderr, " %s", words[i]);
    fprintf(stderr, "; taking %s\n", words[standard]);
    return standard;
}

static int64_t read_number(const char *name, int64_t largest, int64_t standard) {
    const char *text = pmm_blas_getenv(name);
    if (text == NULL)
        return standard;
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*end == '\0' && value >= 0 && value <= largest)
        return value;
    fprintf(stderr, "portmm-blas: %s=%.100s is no whole number from 0 to %lld; taking %lld\n", name, text,
            (long long)largest, (long long)standard);
    return standard;
}

void pmm_blas_settings_read(pmm_blas_settings *settings) {
    static const char *const stats[] = {"0", "1", "2"};
    *settings = (pmm_blas_settings){
        .route =
            (pmm_blas_route)read_word("PORTMM_BLAS_ROUTE", pmm_blas_route_names, PMM_BLAS_ROUTES + 1, PMM_BLAS_AUTO),
        .stats = (pmm_blas_stats)read_word("PORTMM_BLAS_STATS", stats, 3, PMM_BLAS_STATS_OFF),
        .min_size = read_number("PORTMM_BLAS_MIN_SIZE", 100000, 96),
        .open_after_ns = (uint64_t)read_number("PORTMM_BLAS_OPEN_AFTER_MS", 86400000, 500) * 1000000u,
    };
}
