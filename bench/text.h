/* SPDX-License-Identifier: Apache-2.0 */
/* Strings and memory for a program that ends when memory is gone. */
#ifndef BENCH_TEXT_H
#define BENCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#define BENCH_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define BENCH_PRINTF(text, first)
#endif

/* realloc for `count` elements of `size` bytes (at least one byte); ends the program on overflow or lack of memory. */
void *bench_resize(void *memory, size_t count, size_t size);

/* A new string by printf's rules. */
char *bench_format(const char *format, ...) BENCH_PRINTF(1, 2);

/* A new string of the first `length` characters of `text`. */
char *bench_copy(const char *text, size_t length);

/* The whole of `text` as a decimal number from `least` to `most`; false, and *value untouched, for anything else. */
bool bench_parse_integer(const char *text, int64_t least, int64_t most, int64_t *value);

#endif
