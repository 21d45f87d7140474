/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL driver that does not survive being loaded: it crashes, or with BROKEN_HANGS never comes back. */
#include <signal.h>
#include <unistd.h>

__attribute__((constructor)) static void break_down(void) {
#ifdef BROKEN_HANGS
    for (;;)
        (void)pause();
#else
    (void)signal(SIGSEGV, SIG_DFL); /* sanitizers would turn it into an exit status */
    (void)raise(SIGSEGV);
#endif
}
