/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of many processes that start at once: waits for FILE to be there, makes one product on whole numbers, and checks
 * it. usage: cold_worker BACKEND ENGINE|default FILE
 * Prints the milliseconds from there to the result.
 * The environment says where the caches are.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <portmm/portmm.h>

enum { N = 96 };

static void fill(float *matrix, int salt) {
    for (int i = 0; i < N * N; i++)
        matrix[i] = (float)((i * 7 + salt) % 13 - 6);
}

static int is_right(const float *a, const float *b, const float *c) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int p = 0; p < N; p++)
                sum += a[i * N + p] * b[p * N + j];
            if (c[i * N + j] != sum)
                return 0;
        }
    return 1;
}

static int fail(const char *what) {
    fprintf(stderr, "cold_worker: %s: %s\n", what, portmm_last_error());
    return 1;
}

int main(int argc, char **argv) {
    static float a[N * N], b[N * N], c[N * N];
    if (argc < 4)
        return 2;
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = argv[1];
    options.engine = strcmp(argv[2], "default") != 0 ? argv[2] : NULL;
    fill(a, 1);
    fill(b, 5);
    for (int tries = 0; access(argv[3], F_OK) != 0; tries++) {
        if (tries > 60000)
            return 3;
        usleep(1000);
    }
    uint64_t begin = portmm_clock_ns();
    portmm_context *context;
    portmm_status status = portmm_context_create(&options, &context);
    if (status != PORTMM_STATUS_SUCCESS) {
        const char *required = getenv("PORTMM_TEST_REQUIRE");
        bool skips = status == PORTMM_STATUS_UNAVAILABLE && (required == NULL || strstr(required, argv[1]) == NULL);
        return skips ? fail("skipped"), 77 : fail("create");
    }
    if (portmm_sgemm_host(context, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, a, N, b, N, 0, c,
                          N) != PORTMM_STATUS_SUCCESS)
        return fail("product");
    uint64_t end = portmm_clock_ns();
    if (!is_right(a, b, c)) {
        fprintf(stderr, "cold_worker: the product is wrong\n");
        return 4;
    }
    printf("%.1f\n", (double)(end - begin) / 1e6);

    portmm_context_destroy(context);
    return 0;
}
