/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "platform.h"

#define INHERITED_LOCK 3

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

void tool_run_in_background(unsigned seconds) {
    setpriority(PRIO_PROCESS, 0, 19);
#ifdef SCHED_IDLE /* Linux: gives way at once, where a low priority alone keeps its slice */
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
#endif
    alarm(seconds);
    fcntl(INHERITED_LOCK, F_SETFD, FD_CLOEXEC); /* a compiler that a driver starts must not keep the lock */
}
