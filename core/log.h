/* SPDX-License-Identifier: Apache-2.0 */
/* One formatted line to the caller's callback. */
#ifndef PMM_LOG_H
#define PMM_LOG_H

#include "config.h"

void pmm_log(const pmm_config *config, portmm_log_level level, const char *format, ...) PMM_PRINTF(3, 4);

#endif
