/* SPDX-License-Identifier: Apache-2.0 */
/* Threads whose contexts are the first thing that happens in the process: drivers that are not safe at their start must
 * be kept from it. Nothing may be called before, so this is a program of its own, without the others' support. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/portmm.h>

enum { THREADS = 6 };

static const char *spec;
static int unavailable; /* by one thread each, read after they are joined */

static void *use_context(void *wrong) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = spec;
    portmm_context *context;
    portmm_status status = portmm_context_create(&options, &context);
    float two = 2, three = 3, result = 0;
    if (status == PORTMM_STATUS_SUCCESS)
        status = portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, 1, 1, 1, 1, &two, 1,
                                   &three, 1, 0, &result, 1);
    if (status != PORTMM_STATUS_SUCCESS)
        printf("%s: %s\n", portmm_status_name(status), portmm_last_error());
    *(int *)wrong = status == PORTMM_STATUS_UNAVAILABLE ? 77 : status != PORTMM_STATUS_SUCCESS || result != 6;
    portmm_context_destroy(context);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int wrong[THREADS];
    spec = argc > 1 ? argv[1] : "cpu";
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, use_context, &wrong[i]) != 0)
            return 1;
    int failures = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        unavailable += wrong[i] == 77;
        failures += wrong[i] != 0;
    }
    const char *required = getenv("PORTMM_TEST_REQUIRE");
    if (unavailable == THREADS && (required == NULL || strstr(required, spec) == NULL))
        return 77;
    return failures == 0 ? 0 : 1;
}
