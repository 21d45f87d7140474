/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <stdarg.h>
#include <stdio.h>

static bool progress_enabled, progress_visible;

void bench_progress_enable(void) {
    progress_enabled = true;
}

void bench_progress_clear(void) {
    if (progress_visible) {
        fputs("\r\033[K", stderr);
        progress_visible = false;
    }
}

void bench_progress(const char *format, ...) {
    if (!progress_enabled) {
        return;
    }
    fputs("\r\033[K", stderr);
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fflush(stderr);
    progress_visible = true;
}

void bench_complain(const char *format, ...) {
    bench_progress_clear();
    fputs("portmm-bench: ", stderr);
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}
