/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One matrix product from host memory, on the best device there is; and how long the first one takes.
 *
 *     first_product [BACKEND [PRODUCTS]]      such as: auto 5 (the default), cpu, opencl 1, opencl:1
 */
#include <stdio.h>
#include <stdlib.h>

#include <portmm/portmm.h>

#define N 500

/* Every call returns a status; the library has the details in words. */
static void check(portmm_status status) {
    if (status == PORTMM_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", portmm_status_text(status), portmm_last_error());
    exit(status == PORTMM_STATUS_UNAVAILABLE ? 77 : 1); /* 77: a test run counts it as skipped */
}

int main(int argc, char **argv) {
    static float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 5);
        b[i] = i % (N + 1) == 0 ? 2 : 0; /* twice the identity */
    }

    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = argc > 1 ? argv[1] : NULL; /* NULL: PORTMM_BACKEND, else auto */
    portmm_context *context;
    uint64_t start = portmm_clock_ns();
    check(portmm_context_create(&options, &context));
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    check(portmm_context_get_info(context, &info));
    printf("%s:%d (%s), engine %s\n%s\n", info.backend, (int)info.device_index, info.device_name, info.engine,
           info.reason);

    int products = argc > 2 ? atoi(argv[2]) : 5;
    for (int call = 1; call <= products; call++) { /* C := 1 * A * B + 0 * C */
        check(portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, N, b, N, 0,
                                c, N));
        uint64_t end = portmm_clock_ns();
        printf("product %d%s: %.2f ms\n", call, call == 1 ? ", with all that comes before it" : "",
               (double)(end - start) / 1e6);
        start = end;
    }
    portmm_context_destroy(context);

    for (int i = 0; i < N * N; i++)
        if (products > 0 && c[i] != 2 * a[i]) {
            fprintf(stderr, "element %d is %g instead of %g\n", i, (double)c[i], (double)(2 * a[i]));
            return 1;
        }
    return 0;
}
