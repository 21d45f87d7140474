/* SPDX-License-Identifier: Apache-2.0 */
/* An application that links CLBlast itself: libportmm's CLBlast is then the application's, whose OpenCL calls the seam
 * cannot see. Products are right all the same, and the statistics say that the cache was bypassed. */
#include <stdio.h>
#include <string.h>

#include <clblast_c.h>

#include <portmm/portmm.h>

enum { N = 64 };

static int multiply(portmm_context *context) {
    static float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 5);
        b[i] = (float)(i % 3);
    }
    if (portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, N, b, N, 0, c,
                          N) != PORTMM_STATUS_SUCCESS)
        return 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int p = 0; p < N; p++)
                sum += a[i * N + p] * b[p * N + j];
            if (sum != c[i * N + j])
                return 0;
        }
    return 1;
}

int main(void) {
    if (CLBlastClearCache() != CLBlastSuccess) /* the application's own use; keeps the library linked */
        return 1;
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = "opencl";
    options.engine = "clblast";
    portmm_context *context;
    portmm_status status = portmm_context_create(&options, &context);
    if (status == PORTMM_STATUS_UNAVAILABLE) {
        printf("skipped: %s\n", portmm_last_error());
        return 77;
    }
    if (status != PORTMM_STATUS_SUCCESS || !multiply(context)) {
        printf("failed: %s\n", portmm_last_error());
        return 1;
    }
    portmm_cache_stats stats = PORTMM_CACHE_STATS_INIT;
    portmm_cache_get_stats(context, &stats);
    portmm_context_destroy(context);
    printf("bypassed: %llu, hits: %llu, misses: %llu\n", (unsigned long long)stats.bypassed,
           (unsigned long long)stats.hits, (unsigned long long)stats.misses);
    return stats.bypassed == 1 && stats.hits == 0 && stats.misses == 0 ? 0 : 1;
}
