/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools ask of the operating system. */
#ifndef TOOL_PLATFORM_H
#define TOOL_PLATFORM_H

/* From now on this process runs only when nothing else wants to, and is ended after so many seconds. */
void tool_run_in_background(unsigned seconds);

#endif
