/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much the warm-up disturbs an application that multiplies all the time, from the second call on until it is
 * settled which engine serves. Not a test, a measurement:
 *
 *     measure_disturbance SPEC helper|thread [SECONDS]       with PORTMM_CACHE_DIR and the driver's cache empty
 *
 * ends when it is settled and a while later, or after so many seconds.
 *
 * A helper is stopped and continued in turns of a quarter of a second: what else the machine does at the time then hits
 * the calls beside it and those that they are compared with alike. The thread cannot be stopped: its calls are compared
 * with those after the end.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <portmm/portmm.h>

enum { N = 1000, MOST = 20000, AFTER = 200 };
#define TURN_NS 250000000u

typedef enum group { BESIDE, STOPPED, SETTLED, GROUPS } group;

static double times[GROUPS][MOST];
static size_t counts[GROUPS];
static volatile int settled; /* set by the log: by whoever settles, or by the thread that finds it settled */

static void look_for_end(portmm_log_level level, const char *message, void *user_data) {
    (void)level, (void)user_data;
    if (strstr(message, "settled") != NULL || strstr(message, "takes over") != NULL)
        settled = 1;
}

/* Whether a process is a helper for our cache; the command line has zeros between its words. */
static bool is_helper(const char *process, const char *cache) {
    char path[64], line[8192];
    snprintf(path, sizeof path, "/proc/%.20s/cmdline", process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, line, sizeof line - 1) : 0;
    if (file >= 0)
        close(file);
    for (ssize_t i = 0; i < size - 1; i++)
        if (line[i] == '\0')
            line[i] = ' ';
    line[size > 0 ? size : 0] = '\0';
    return strstr(line, "portmm-warm") != NULL && strstr(line, cache) != NULL;
}

/* Sends it to the process group of each helper; returns how many there are. */
static int signal_helpers(int number) {
    const char *cache = getenv("PORTMM_CACHE_DIR");
    DIR *all = opendir("/proc");
    int found = 0;
    for (const struct dirent *each; cache != NULL && all != NULL && (each = readdir(all)) != NULL;) {
        pid_t process = (pid_t)atoi(each->d_name);
        if (process > 0 && is_helper(each->d_name, cache)) {
            kill(-getpgid(process), number);
            found++;
        }
    }
    if (all != NULL)
        closedir(all);
    return found;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void print_times(const char *name, group which, double reference) {
    const double *sorted = times[which];
    size_t count = counts[which];
    if (count > 0)
        printf("%-8s %6zu calls   median %8.2f ms (%.2f)   p95 %8.2f ms   worst %8.2f ms (%.1f)\n", name, count,
               sorted[count / 2], sorted[count / 2] / reference, sorted[count * 95 / 100], sorted[count - 1],
               sorted[count - 1] / reference);
}

/* Whose turn it is now. */
static group take_turn(bool stops) {
    static uint64_t turn_end;
    static group turn = BESIDE;
    if (settled) {
        if (turn == STOPPED)
            signal_helpers(SIGCONT);
        turn = SETTLED;
    } else if (stops && portmm_clock_ns() >= turn_end) {
        group next = turn == BESIDE ? STOPPED : BESIDE;
        if (signal_helpers(next == STOPPED ? SIGSTOP : SIGCONT) > 0)
            turn = next;
        turn_end = portmm_clock_ns() + TURN_NS;
    }
    return turn;
}

static portmm_status multiply(portmm_queue *queue, portmm_buffer *const buffers[3]) {
    portmm_status status = portmm_sgemm(queue, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, N, N, N, 1,
                                        buffers[0], 0, N, buffers[1], 0, N, 0, buffers[2], 0, N, 0, NULL, NULL);
    return status == PORTMM_STATUS_SUCCESS ? portmm_queue_finish(queue) : status;
}

static portmm_status measure(portmm_queue *queue, portmm_buffer *const buffers[3], bool stops, double seconds) {
    portmm_status status = multiply(queue, buffers); /* starts the warm-up */
    uint64_t start = portmm_clock_ns();
    while (status == PORTMM_STATUS_SUCCESS && (double)(portmm_clock_ns() - start) * 1e-9 < seconds &&
           counts[SETTLED] < AFTER && counts[BESIDE] < MOST && counts[STOPPED] < MOST) {
        group turn = take_turn(stops);
        uint64_t begin = portmm_clock_ns();
        status = multiply(queue, buffers);
        times[turn][counts[turn]++] = (double)(portmm_clock_ns() - begin) * 1e-6;
    }
    signal_helpers(SIGCONT);
    return status;
}

int main(int argc, char **argv) {
    static float host[N * N];
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    bool by_thread = argc > 2 && strcmp(argv[2], "thread") == 0;
    options.backend = argc > 1 ? argv[1] : "opencl";
    options.warmup = by_thread ? PORTMM_WARMUP_THREAD : PORTMM_WARMUP_HELPER;
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
    if (status == PORTMM_STATUS_SUCCESS)
        status = measure(queue, buffers, !by_thread, argc > 3 ? atof(argv[3]) : 1e9);
    group basis = counts[STOPPED] > 0 ? STOPPED : SETTLED;
    if (status != PORTMM_STATUS_SUCCESS || counts[basis] == 0 || counts[BESIDE] == 0) {
        fprintf(stderr, "%s\n", status != PORTMM_STATUS_SUCCESS ? portmm_last_error() : "nothing to compare with");
        return 1;
    }
    for (int i = 0; i < GROUPS; i++)
        qsort(times[i], counts[i], sizeof *times[i], compare);
    double reference = times[basis][counts[basis] / 2];
    print_times("beside", BESIDE, reference);
    print_times("stopped", STOPPED, reference);
    print_times("settled", SETTLED, reference);
    for (int i = 0; i < 3; i++)
        portmm_buffer_destroy(buffers[i]);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
    return 0;
}
