/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *bench_resize(void *memory, size_t count, size_t size) {
    void *resized = count <= SIZE_MAX / size ? realloc(memory, count != 0 ? count * size : 1) : NULL;
    if (resized == NULL) {
        fputs("out of memory\n", stderr);
        exit(3);
    }
    return resized;
}

char *bench_format(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    size_t size = length >= 0 ? (size_t)length + 1 : 1;
    char *text = bench_resize(NULL, size, 1);
    text[0] = '\0';
    va_start(arguments, format);
    (void)vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return text;
}

char *bench_copy(const char *text, size_t length) {
    char *copy = bench_resize(NULL, length + 1, 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

bool bench_parse_integer(const char *text, int64_t least, int64_t most, int64_t *value) {
    size_t length = strlen(text);
    /* 18 digits always fit; strtoll alone would accept blanks, signs and a tail. */
    if (length == 0 || length > 18 || strspn(text, "0123456789") != length) {
        return false;
    }
    int64_t number = strtoll(text, NULL, 10);
    if (number < least || number > most) {
        return false;
    }
    *value = number;
    return true;
}
