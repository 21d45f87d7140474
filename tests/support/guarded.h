/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that ends at a page which nobody may touch: reading or writing one byte beyond it ends the test at once. */
#ifndef TEST_GUARDED_H
#define TEST_GUARDED_H

#include <stddef.h>

/* Never NULL: a test without memory aborts. */
void *test_guarded_alloc(size_t size);
/* Accepts NULL. */
void test_guarded_free(void *memory, size_t size);

/* An address where not even one byte may be read. */
void *test_forbidden_address(void);

#endif
