/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam under CLBlast, on the real driver, with a host whose cache is a list in memory that can lie. The library is
 * loaded as the OpenCL module loads it.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/key.h"
#include "clblast/clblast.h"
#include "platform.h"
#include "status.h"

/* ---- a host ---- */

typedef struct stored {
    char name[PMM_KEY_NAME_SIZE];
    void *data;
    size_t size;
} stored;

static stored entries[32];
static size_t entry_count;
static int gets, hits, puts_done, rejects, bypasses, builds, binary_loads;

static void get_name(const pmm_cache_key *key, char name[PMM_KEY_NAME_SIZE]) {
    size_t size = 0;
    unsigned char *encoded = pmm_key_encode(key, &size);
    pmm_key_name(encoded, size, name);
    free(encoded);
}

static stored *find(const pmm_cache_key *key) {
    char name[PMM_KEY_NAME_SIZE];
    get_name(key, name);
    for (size_t i = 0; i < entry_count; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    return NULL;
}

static bool host_get(const pmm_host *host, const pmm_cache_key *key, void **data, size_t *size) {
    (void)host;
    const stored *entry = find(key);
    gets++;
    if (entry == NULL || entry->size == 0)
        return false;
    hits++;
    *data = malloc(entry->size);
    memcpy(*data, entry->data, entry->size);
    *size = entry->size;
    return true;
}

static bool host_put(const pmm_host *host, const pmm_cache_key *key, const void *data, size_t size) {
    (void)host;
    stored *entry = find(key);
    if (entry == NULL) {
        entry = &entries[entry_count++];
        get_name(key, entry->name);
    }
    free(entry->data);
    entry->data = malloc(size);
    memcpy(entry->data, data, size);
    entry->size = size;
    puts_done++;
    return true;
}

static void host_reject(const pmm_host *host, const pmm_cache_key *key, const char *why) {
    (void)host, (void)why;
    stored *entry = find(key);
    ck_assert_ptr_nonnull(entry);
    entry->size = 0;
    rejects++;
}

static bool host_failed(const pmm_host *host, const pmm_cache_key *key, char *reason, size_t size) {
    (void)host, (void)key, (void)reason, (void)size;
    return false;
}

static void host_fail(const pmm_host *host, const pmm_cache_key *key, const char *reason) {
    (void)host, (void)key;
    ck_abort_msg("a program was refused: %s", reason);
}

static void host_bypass(const pmm_host *host) {
    (void)host;
    bypasses++;
}

static void host_log(const pmm_host *host, portmm_log_level level, const char *format, ...) {
    (void)host, (void)level, (void)format;
}

static void host_span_begin(const pmm_host *host, portmm_phase phase, const char *detail) {
    (void)host, (void)detail;
    builds += phase == PORTMM_PHASE_BUILD;
    binary_loads += phase == PORTMM_PHASE_BINARY_LOAD;
}

static void host_nothing(const pmm_host *host) {
    (void)host;
}

static void *host_open(const pmm_host *host, const char *name, bool beside, const char **why) {
    (void)host, (void)beside;
    return pmm_library_open(name, false, why);
}

static char *host_environment(const char *prefix, const char *const *except) {
    (void)prefix, (void)except;
    return calloc(1, 1);
}

static const pmm_host host = {.struct_size = sizeof host,
                              .log = host_log,
                              .fail = pmm_fail,
                              .span_begin = host_span_begin,
                              .span_end = host_nothing,
                              .cache_get = host_get,
                              .cache_propose = host_put,
                              .cache_reject = host_reject,
                              .cache_fail = host_fail,
                              .cache_failed = host_failed,
                              .cache_bypass = host_bypass,
                              .environment = host_environment,
                              .library_open = host_open,
                              .library_symbol = pmm_library_symbol,
                              .lock = host_nothing,
                              .unlock = host_nothing};

/* ---- devices ---- */

static pmm_cl_api api;
static const pmm_clblast *clblast;
static cl_device_id device_id;

typedef struct fixture {
    pmm_device device;
    pmm_queue queue;
    pmm_buffer a, b, c;
    pmm_engine_state *engine;
} fixture;

enum { N = 48 };
static float a[N * N], b[N * N], expected[N * N];

static void open_bench(fixture *this) {
    cl_int code = 0;
    static const pmm_cl_found found = {.info = {.type = PORTMM_DEVICE_CPU}};
    *this = (fixture){.device = {.host = &host, .api = &api, .found = &found}};
    this->device.context = api.clCreateContext(NULL, 1, &device_id, NULL, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    this->queue.device = &this->device;
    this->queue.queue = api.clCreateCommandQueue(this->device.context, device_id, 0, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    pmm_buffer *buffers[] = {&this->a, &this->b, &this->c};
    const float *contents[] = {a, b, expected /* any */};
    for (int i = 0; i < 3; i++) {
        buffers[i]->device = &this->device;
        buffers[i]->memory = api.clCreateBuffer(this->device.context, CL_MEM_READ_WRITE, sizeof a, NULL, &code);
        ck_assert_int_eq(code, CL_SUCCESS);
        ck_assert_int_eq(api.clEnqueueWriteBuffer(this->queue.queue, buffers[i]->memory, CL_TRUE, 0, sizeof a,
                                                  contents[i], 0, NULL, NULL),
                         CL_SUCCESS);
    }
    ck_assert_int_eq(clblast->engine->open(&this->device, &this->engine), PORTMM_STATUS_SUCCESS);
}

static void close_bench(fixture *this) {
    clblast->engine->close(this->engine);
    api.clReleaseMemObject(this->a.memory);
    api.clReleaseMemObject(this->b.memory);
    api.clReleaseMemObject(this->c.memory);
    api.clReleaseCommandQueue(this->queue.queue);
    api.clReleaseContext(this->device.context);
}

static void run_product(fixture *this, portmm_transpose transa) {
    float result[N * N], poison[N * N];
    memset(poison, 0xff, sizeof poison); /* NaN */
    ck_assert_int_eq(
        api.clEnqueueWriteBuffer(this->queue.queue, this->c.memory, CL_TRUE, 0, sizeof poison, poison, 0, NULL, NULL),
        CL_SUCCESS);
    pmm_gemm gemm = {.dtype = PORTMM_F32,
                     .layout = PORTMM_ROW_MAJOR,
                     .transa = transa,
                     .transb = PORTMM_NO_TRANS,
                     .m = N,
                     .n = N,
                     .k = N,
                     .batch_count = 1,
                     .alpha = 1,
                     .beta = 0,
                     .a = &this->a,
                     .b = &this->b,
                     .c = &this->c,
                     .lda = N,
                     .ldb = N,
                     .ldc = N};
    portmm_status status = clblast->engine->gemm(this->engine, &this->queue, &gemm, 0, NULL, NULL);
    ck_assert_msg(status == PORTMM_STATUS_SUCCESS, "%s", portmm_last_error());
    ck_assert_int_eq(
        api.clEnqueueReadBuffer(this->queue.queue, this->c.memory, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL),
        CL_SUCCESS);
    if (transa == PORTMM_NO_TRANS)
        ck_assert_mem_eq(result, expected, sizeof result); /* small integers: exact */
}

static void set_up(void) {
    gets = hits = puts_done = rejects = bypasses = builds = binary_loads = 0;
}

static void tear_down(void) {
    clblast->forget(&host);
    for (size_t i = 0; i < entry_count; i++)
        free(entries[i].data);
    entry_count = 0;
    memset(entries, 0, sizeof entries);
}

/* ---- tests, each from an empty cache ---- */

START_TEST(test_build_then_capture_then_load) {
    fixture bench;
    open_bench(&bench);
    run_product(&bench, PORTMM_NO_TRANS);
    ck_assert_int_eq(builds, 1);
    ck_assert_int_eq(gets, 1);
    ck_assert_int_eq(hits, 0);
    ck_assert_int_eq(bypasses, 0);
    ck_assert(clblast->engine->capture_wanted(bench.engine));
    ck_assert(!clblast->engine->capture_wanted(bench.engine)); /* told once */
    clblast->engine->capture(bench.engine);
    ck_assert_int_eq(puts_done, 1);
    clblast->engine->capture(bench.engine); /* nothing new */
    ck_assert_int_eq(puts_done, 1);
    clblast->forget(&host);
    run_product(&bench, PORTMM_NO_TRANS);
    ck_assert_int_eq(builds, 1);
    ck_assert_int_eq(binary_loads, 1);
    ck_assert(!clblast->engine->capture_wanted(bench.engine));
    close_bench(&bench);
}
END_TEST

START_TEST(test_entry_grows) {
    fixture bench;
    open_bench(&bench);
    run_product(&bench, PORTMM_NO_TRANS);
    clblast->engine->capture(bench.engine);
    size_t before = entries[0].size;
    clblast->engine->capture_wanted(bench.engine);
    clblast->forget(&host);
    run_product(&bench, PORTMM_TRANS); /* other kernels of the same program */
    ck_assert_int_eq(builds, 1);
    ck_assert(clblast->engine->capture_wanted(bench.engine));
    clblast->engine->capture(bench.engine);
    ck_assert_uint_eq(entry_count, 1);
    ck_assert_uint_gt(entries[0].size, before);
    clblast->forget(&host);
    run_product(&bench, PORTMM_NO_TRANS);
    run_product(&bench, PORTMM_TRANS);
    ck_assert(!clblast->engine->capture_wanted(bench.engine)); /* the entry has both */
    close_bench(&bench);
}
END_TEST

/* CLBlast hands the "binary" that it was told, our token, to clCreateProgramWithBinary for a second driver context. */
START_TEST(test_second_context) {
    fixture first, second;
    open_bench(&first);
    run_product(&first, PORTMM_NO_TRANS);
    open_bench(&second);
    run_product(&second, PORTMM_NO_TRANS);
    ck_assert_int_eq(builds, 2); /* each driver context needs its own; nothing was captured yet */
    ck_assert_int_eq(bypasses, 0);
    clblast->engine->capture(first.engine);
    ck_assert_int_eq(puts_done, 1); /* the first one's alone */
    close_bench(&second);
    close_bench(&first);
}
END_TEST

START_TEST(test_lying_cache) {
    static const struct {
        const char *name;
        const char *bytes;
        size_t size;
    } lies[] = {{"no end of the launches", "abc", 3},
                {"no binary", "Xgemm:1x1x1\0\0", 13},
                {"text for a binary", "Xgemm:1x1x1\0\0this is no binary", 30}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        fixture bench;
        set_up();
        open_bench(&bench);
        run_product(&bench, PORTMM_NO_TRANS);
        clblast->engine->capture(bench.engine);
        clblast->forget(&host);
        free(entries[0].data);
        entries[0].data = malloc(lies[i].size);
        memcpy(entries[0].data, lies[i].bytes, lies[i].size);
        entries[0].size = lies[i].size;
        run_product(&bench, PORTMM_NO_TRANS); /* right, from source */
        ck_assert_msg(rejects == 1, "%s", lies[i].name);
        ck_assert_int_eq(builds, 2);
        clblast->engine->capture(bench.engine);
        clblast->forget(&host);
        run_product(&bench, PORTMM_NO_TRANS);
        ck_assert_int_eq(builds, 2); /* healed */
        close_bench(&bench);
        tear_down();
    }
}
END_TEST

static void prepare_matrices(void) {
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 5 - 2);
        b[i] = (float)(i % 7 - 3);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int p = 0; p < N; p++)
                expected[i * N + j] += a[i * N + p] * b[p * N + j];
}

static bool load_all(void) {
    char path[4096];
    const char *why = "";
    cl_platform_id platform;
    if (pmm_cl_load(&host, &api) != PORTMM_STATUS_SUCCESS || api.clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_id, NULL) != CL_SUCCESS)
        return false;
    snprintf(path, sizeof path, "%s/" PMM_CLBLAST_FILE, getenv("PORTMM_MODULE_PATH"));
    void *library = pmm_library_open(path, true, &why);
    if (library == NULL) {
        printf("%s: %s\n", path, why);
        exit(1);
    }
    pmm_clblast_entry_fn *entry;
    *(void **)&entry = pmm_library_symbol(library, PMM_CLBLAST_ENTRY_NAME);
    clblast = entry(&api);
    return true;
}

int main(void) {
    if (!load_all()) {
        printf("skipped: no OpenCL device (%s)\n", portmm_last_error());
        const char *required = getenv("PORTMM_TEST_REQUIRE");
        return required != NULL && strstr(required, "opencl") != NULL ? 1 : 77;
    }
    prepare_matrices();
    Suite *suite = suite_create("seam");
    TCase *tests = tcase_create("clblast");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_build_then_capture_then_load);
    tcase_add_test(tests, test_entry_grows);
    tcase_add_test(tests, test_second_context);
    tcase_add_test(tests, test_lying_cache);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
