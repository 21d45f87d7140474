/* SPDX-License-Identifier: Apache-2.0 */
/* A context that is destroyed in an exit handler that was registered before CLBlast was loaded, so that CLBlast's own
 * destructors have run: nothing of it may be touched any more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/portmm.h>

#define N 16

static portmm_context *context;

static portmm_status multiply(float *c) {
    static float a[N * N], b[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = i % (N + 1) == 0 ? 2 : 0;
        b[i] = (float)i;
    }
    return portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, N, b, N, 0, c,
                             N);
}

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, portmm_last_error());
    fflush(stderr);
    _Exit(1);
}

static void come_late(void) {
    float c[N * N];
    if (context == NULL)
        return;
    if (multiply(c) != PORTMM_STATUS_UNAVAILABLE || strstr(portmm_last_error(), "the process ends") == NULL)
        fail("a product after CLBlast's end is not refused");
    portmm_context_destroy(context);
}

int main(void) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    float c[N * N];
    atexit(come_late);
    options.backend = "opencl";
    options.engine = "clblast";
    portmm_status status = portmm_context_create(&options, &context);
    if (status == PORTMM_STATUS_UNAVAILABLE) {
        const char *required = getenv("PORTMM_TEST_REQUIRE");
        printf("skipped: %s\n", portmm_last_error());
        return required != NULL && strstr(required, "opencl") != NULL ? 1 : 77;
    }
    if (status != PORTMM_STATUS_SUCCESS || multiply(c) != PORTMM_STATUS_SUCCESS)
        fail("no product");
    for (int i = 0; i < N * N; i++)
        if (c[i] != 2 * (float)i)
            fail("a wrong product");
    return 0;
}
