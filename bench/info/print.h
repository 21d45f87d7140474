/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INFO_PRINT_H
#define INFO_PRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* The facts for people; `all` properties of each device, or the few that most look for. */
void info_print(FILE *output, const json_t *facts, bool all);

/* The same with all properties as one block to paste into a bug report; the home directory is written as ~. */
void info_print_report(FILE *output, const json_t *facts);

#endif
