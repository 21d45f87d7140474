/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on stderr: complaints, and progress where somebody watches. */
#ifndef BENCH_TERMINAL_H
#define BENCH_TERMINAL_H

#include "text.h"

/* Progress is shown from now on. */
void bench_progress_enable(void);
/* Replaces the progress line; without effect unless enabled. */
void bench_progress(const char *format, ...) BENCH_PRINTF(1, 2);
void bench_progress_clear(void);

/* One line "portmm-bench: ...". */
void bench_complain(const char *format, ...) BENCH_PRINTF(1, 2);

#endif
