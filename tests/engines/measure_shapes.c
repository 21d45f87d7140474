/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the engine that is chosen is the better one: a context that chooses against one for each engine, pinned, in
 * turns in one process, by medians. Ends with 1 where ours takes more than 1.05 times the best, 1.15 where no size is
 * above 128, and with 77 where there is no such device.
 *
 *     measure_shapes SPEC [MxNxK...]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <portmm/portmm.h>

enum { MAX_ENGINES = 4, MAX_ROUNDS = 400, MIN_ROUNDS = 15, TRIES = 3 };

static const double seconds_for_shape = 2;

typedef struct shape {
    int64_t m, n, k;
} shape;

typedef struct contender {
    char engine[32]; /* "": chooses */
    portmm_context *context;
    portmm_queue *queue;
    portmm_buffer *a, *b, *c;
    double times[MAX_ROUNDS]; /* milliseconds */
} contender;

static contender contenders[1 + MAX_ENGINES];
static int contender_count = 1;

static void check(portmm_status status, const char *what) {
    if (status == PORTMM_STATUS_SUCCESS)
        return;
    fprintf(stderr, "measure_shapes: %s: %s\n", what, portmm_last_error());
    exit(1);
}

static bool open_contender(contender *this, const char *spec) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = spec;
    options.engine = this->engine[0] != '\0' ? this->engine : NULL;
    options.start = PORTMM_START_FAST;
    options.warmup = PORTMM_WARMUP_OFF; /* prewarm settles the choice */
    if (portmm_context_create(&options, &this->context) != PORTMM_STATUS_SUCCESS)
        return false;
    check(portmm_queue_create(this->context, &this->queue), "queue");
    return true;
}

/* Every engine that the device has. */
static void list_engines(portmm_context *context) {
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    portmm_inventory *inventory;
    check(portmm_context_get_info(context, &info), "context");
    check(portmm_inventory_create(NULL, &inventory), "inventory");
    for (size_t i = 0; i < portmm_inventory_device_count(inventory); i++) {
        portmm_device_info device = PORTMM_DEVICE_INFO_INIT;
        char names[128];
        check(portmm_inventory_get_device(inventory, i, &device), "device");
        if (strcmp(device.backend, info.backend) != 0 || device.index != info.device_index)
            continue;
        snprintf(names, sizeof names, "%s", device.engines);
        for (char *name = strtok(names, ", "); name != NULL && contender_count <= MAX_ENGINES;
             name = strtok(NULL, ", "))
            snprintf(contenders[contender_count++].engine, sizeof contenders->engine, "%s", name);
    }
    portmm_inventory_destroy(inventory);
}

static portmm_buffer *make_buffer(const contender *this, int64_t rows, int64_t columns) {
    size_t size = (size_t)(rows * columns) * sizeof(float);
    portmm_buffer *buffer;
    float *host = malloc(size);
    if (host == NULL)
        exit(1);
    for (size_t i = 0; i < size / sizeof *host; i++)
        host[i] = (float)(i % 7) - 3;
    check(portmm_buffer_create(this->context, size, &buffer), "buffer");
    check(portmm_buffer_write(this->queue, buffer, 0, size, host), "write");
    free(host);
    return buffer;
}

static double multiply(const contender *this, const shape *of) {
    uint64_t begin = portmm_clock_ns();
    check(portmm_sgemm(this->queue, PORTMM_ROW_MAJOR, PORTMM_NO_TRANS, PORTMM_NO_TRANS, of->m, of->n, of->k, 1, this->a,
                       0, of->k, this->b, 0, of->n, 0, this->c, 0, of->n, 0, NULL, NULL),
          "product");
    check(portmm_queue_finish(this->queue), "product");
    return (double)(portmm_clock_ns() - begin) * 1e-6;
}

static void prepare(contender *this, const shape *of) {
    portmm_problem problem = PORTMM_PROBLEM_INIT;
    problem.m = of->m;
    problem.n = of->n;
    problem.k = of->k;
    check(portmm_prewarm(this->context, &problem), "prewarm");
    this->a = make_buffer(this, of->m, of->k);
    this->b = make_buffer(this, of->k, of->n);
    this->c = make_buffer(this, of->m, of->n);
    multiply(this, of);
}

static void release(contender *this) {
    portmm_buffer_destroy(this->a);
    portmm_buffer_destroy(this->b);
    portmm_buffer_destroy(this->c);
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The ratio of ours to the best; the order changes from round to round. */
static double measure(const shape *of, const char **best, double *ours_ms, double *best_ms) {
    int rounds = 0;
    uint64_t begin = portmm_clock_ns();
    while (rounds < MIN_ROUNDS ||
           (rounds < MAX_ROUNDS && (double)(portmm_clock_ns() - begin) * 1e-9 < seconds_for_shape)) {
        for (int i = 0; i < contender_count; i++) {
            contender *each = &contenders[(i + rounds) % contender_count];
            each->times[rounds] = multiply(each, of);
        }
        rounds++;
    }
    *best_ms = 0;
    for (int i = 0; i < contender_count; i++) {
        qsort(contenders[i].times, (size_t)rounds, sizeof(double), compare);
        double median = contenders[i].times[rounds / 2];
        if (i == 0) {
            *ours_ms = median;
        } else if (*best_ms == 0 || median < *best_ms) {
            *best_ms = median;
            *best = contenders[i].engine;
        }
    }
    return *ours_ms / *best_ms;
}

static bool check_shape(const shape *of) {
    int64_t largest = of->m > of->n ? of->m : of->n;
    double bound = (of->k > largest ? of->k : largest) <= 128 ? 1.15 : 1.05, ratio = 0, ours = 0, best = 0;
    const char *engine = "";
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    for (int i = 0; i < contender_count; i++)
        prepare(&contenders[i], of);
    int tries = 0;
    do /* what else the machine does may fall on one of them */
        ratio = measure(of, &engine, &ours, &best);
    while (ratio > bound && ++tries < TRIES);
    check(portmm_context_get_info(contenders[0].context, &info), "context");
    printf("%5lldx%lldx%lld: ours %.3f ms (%s), best engine %.3f ms (%s), ratio %.3f of at most %.2f%s\n",
           (long long)of->m, (long long)of->n, (long long)of->k, ours, info.engine, best, engine, ratio, bound,
           ratio <= bound ? "" : "  TOO SLOW");
    fflush(stdout);
    for (int i = 0; i < contender_count; i++)
        release(&contenders[i]);
    return ratio <= bound;
}

int main(int argc, char **argv) {
    bool good = true;
    const char *spec = argc > 1 ? argv[1] : "opencl";
    if (!open_contender(&contenders[0], spec)) {
        const char *required = getenv("PORTMM_TEST_REQUIRE");
        printf("skipped: %s\n", portmm_last_error());
        return required != NULL && strstr(required, spec) != NULL ? 1 : 77;
    }
    list_engines(contenders[0].context);
    for (int i = 1; i < contender_count; i++)
        if (!open_contender(&contenders[i], spec))
            check(PORTMM_STATUS_UNAVAILABLE, contenders[i].engine);
    for (int i = 2; i < argc; i++) {
        shape of;
        long long m, n, k;
        if (sscanf(argv[i], "%lldx%lldx%lld", &m, &n, &k) != 3) {
            fprintf(stderr, "measure_shapes: \"%s\" is not MxNxK\n", argv[i]);
            return 2;
        }
        of = (shape){m, n, k};
        good = check_shape(&of) && good;
    }
    for (int i = 0; i < contender_count; i++) {
        portmm_queue_destroy(contenders[i].queue);
        portmm_context_destroy(contenders[i].context);
    }
    return good ? 0 : 1;
}
