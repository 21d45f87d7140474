/* SPDX-License-Identifier: Apache-2.0 */
/* What portmm-info does in processes of their own, so that a library that crashes or hangs is named and the rest goes
 * on. Each writes one JSON object to stdout; a stamp follows the arguments. */
#ifndef INFO_CHILDREN_H
#define INFO_CHILDREN_H

/* {"libraries": [{"name", "purpose", "file", "error"}]}: vendor libraries, opened by name. */
#define INFO_LIBRARIES_CHILD "--libraries-child"
int info_libraries_main(void);

/* {"error": text}: why the library named by the next argument cannot be opened, "" if it can. */
#define INFO_OPEN_CHILD "--open-child"
int info_open_main(const char *library);

/* What a context with the spec in the next argument takes: {"backend", "device_index", "device", "engine", "reason",
 * "cache_path", "cache_reason"} or {"error": text}. */
#define INFO_CHOICE_CHILD "--choice-child"
int info_choice_main(const char *spec);

#endif
