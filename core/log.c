/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

void pmm_log(const pmm_config *config, portmm_log_level level, const char *format, ...) {
    if (config->log == NULL || level > config->log_level)
        return;
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    config->log(level, line, config->log_user_data);
}
