/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform.h"

#include <sys/resource.h>
#include <unistd.h>

void tool_run_in_background(unsigned seconds) {
    setpriority(PRIO_PROCESS, 0, 19);
    alarm(seconds);
    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds});
}
