/* SPDX-License-Identifier: Apache-2.0 */
/* What the layer counts. Found by dlsym: the loader loads the layer. */
#ifndef TEST_COUNT_OBJECTS_H
#define TEST_COUNT_OBJECTS_H

enum { TEST_CONTEXTS, TEST_QUEUES, TEST_BUFFERS, TEST_PROGRAMS, TEST_KERNELS, TEST_EVENTS, TEST_OBJECT_KINDS };

/* References held now: created and retained, less released. */
long test_count_objects(int kind);

#endif
