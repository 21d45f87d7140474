/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much the warm-up disturbs an application that multiplies all the time: the times of its calls from the second one
 * until it is settled which engine serves, against those of the calls after that. Not a test, a measurement:
 *
 *     measure_disturbance SPEC helper|thread        with PORTMM_CACHE_DIR and the driver's cache empty
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/portmm.h>

enum { N = 1000, MOST = 20000, AFTER = 200 };

static volatile int settled; /* set by the log: by whoever settles, or by the thread that finds it settled */

static void look_for_end(portmm_log_level level, const char *message, void *user_data) {
    (void)level, (void)user_data;
    if (strstr(message, "settled") != NULL || strstr(message, "takes over") != NULL)
        settled = 1;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void print_times(const char *name, double *times, size_t count, double reference) {
    qsort(times, count, sizeof *times, compare);
    printf("%-10s %6zu calls   median %8.2f ms (%.2f)   p95 %8.2f ms   worst %8.2f ms (%.1f)\n", name, count,
           times[count / 2], times[count / 2] / reference, times[count * 95 / 100], times[count - 1],
           times[count - 1] / reference);
}

int main(int argc, char **argv) {
    static float host[N * N];
    static double during[MOST], after[AFTER];
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = argc > 1 ? argv[1] : "opencl";
    options.warmup = argc > 2 && strcmp(argv[2], "thread") == 0 ? PORTMM_WARMUP_THREAD : PORTMM_WARMUP_HELPER;
    options.start = PORTMM_START_FAST;
    options.log = look_for_end;
    options.log_level = PORTMM_LOG_INFO;
    for (int i = 0; i < N * N; i++)
        host[i] = (float)(i % 7) - 3;
    portmm_context *context;
    portmm_queue *queue = NULL;
    portmm_buffer *buffers[3] = {NULL, NULL, NULL};
    portmm_status status = portmm_context_create(&options, &context);
    if (status == PORTMM_STATUS_SUCCESS)
        status = portmm_queue_create(context, &queue);
    for (int i = 0; i < 3 && status == PORTMM_STATUS_SUCCESS; i++)
        if ((status = portmm_buffer_create(context, sizeof host, &buffers[i])) == PORTMM_STATUS_SUCCESS)
            status = portmm_buffer_write(queue, buffers[i], 0, sizeof host, host);
    size_t count = 0, rest = 0;
    for (int first = 1; status == PORTMM_STATUS_SUCCESS && rest < AFTER && count < MOST; first = 0) {
        int was_settled = settled;
        uint64_t begin = portmm_clock_ns();
        status = portmm_sgemm(queue, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1, buffers[0], 0, N,
                              buffers[1], 0, N, 0, buffers[2], 0, N, 0, NULL, NULL);
        if (status == PORTMM_STATUS_SUCCESS)
            status = portmm_queue_finish(queue);
        double taken = (double)(portmm_clock_ns() - begin) * 1e-6;
        if (was_settled)
            after[rest++] = taken;
        else if (!first)
            during[count++] = taken;
    }
    if (status != PORTMM_STATUS_SUCCESS || rest < AFTER || count == 0) {
        fprintf(stderr, "%s\n", status != PORTMM_STATUS_SUCCESS ? portmm_last_error() : "never settled");
        return 1;
    }
    qsort(after, rest, sizeof *after, compare);
    double reference = after[rest / 2];
    print_times("during", during, count, reference);
    print_times("after", after, rest, reference);
    for (int i = 0; i < 3; i++)
        portmm_buffer_destroy(buffers[i]);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
    return 0;
}
