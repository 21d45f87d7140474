/* SPDX-License-Identifier: Apache-2.0 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[1024];

portmm_status pmm_fail(portmm_status status, const char *format, ...) {
    char text[sizeof last_error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments); /* not in place: an argument may be the last error itself */
    va_end(arguments);
    snprintf(last_error, sizeof last_error, "%s", text);
    return status;
}

void pmm_clear_error(void) {
    last_error[0] = '\0';
}

const char *portmm_last_error(void) {
    return last_error;
}

const char *portmm_version(void) {
    return PORTMM_VERSION_STRING;
}

const char *portmm_status_name(portmm_status status) {
    switch (status) {
#define CASE(name, number, text)                                                                                       \
    case PORTMM_STATUS_##name:                                                                                         \
        return #name;
        PORTMM_STATUS_LIST(CASE)
#undef CASE
    }
    return "UNKNOWN";
}

const char *portmm_status_text(portmm_status status) {
    switch (status) {
#define CASE(name, number, text)                                                                                       \
    case PORTMM_STATUS_##name:                                                                                         \
        return text;
        PORTMM_STATUS_LIST(CASE)
#undef CASE
    }
    return "unknown status";
}
