/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

char *bench_request_encode(const bench_request *request) {
    const bench_problem *p = &request->problem;
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:I, s:b, s:I, s:I, s:I, s:s, s:b, s:b, s:I, s:I, s:b, s:b, s:b}", "backend",
                  request->backend, "engine", request->engine, "start", request->start, "device_index",
                  (json_int_t)request->device_index, "resolve", request->resolve, "m", (json_int_t)p->m, "n",
                  (json_int_t)p->n, "k", (json_int_t)p->k, "dtype", bench_dtype_name(p->dtype), "transa", p->transa,
                  "transb", p->transb, "runs", (json_int_t)request->runs, "loops", (json_int_t)request->loops,
                  "runs_bounded", request->runs_bounded, "steady", request->steady, "verify", request->verify);
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

bool bench_request_decode(const char *text, bench_request *request, void **storage) {
    json_t *object = json_loads(text, 0, NULL);
    json_int_t device_index, m, n, k, runs, loops;
    int resolve, transa, transb, runs_bounded, steady, verify;
    const char *dtype = "";
    *request = (bench_request){0};
    /* "!": a key that is missing or one too many means that parent and child are of different versions. */
    int error = json_unpack(
        object, "{s:s, s:s, s:s, s:I, s:b, s:I, s:I, s:I, s:s, s:b, s:b, s:I, s:I, s:b, s:b, s:b !}", "backend",
        &request->backend, "engine", &request->engine, "start", &request->start, "device_index", &device_index,
        "resolve", &resolve, "m", &m, "n", &n, "k", &k, "dtype", &dtype, "transa", &transa, "transb", &transb, "runs",
        &runs, "loops", &loops, "runs_bounded", &runs_bounded, "steady", &steady, "verify", &verify);
    if (object == NULL || error != 0 || !bench_dtype_from_name(dtype, &request->problem.dtype) || m < 1 || n < 1 ||
        k < 1 || runs < 0 || loops < 0) {
        json_decref(object);
        return false;
    }
    bench_problem *p = &request->problem;
    p->m = m;
    p->n = n;
    p->k = k;
    p->transa = transa != 0;
    p->transb = transb != 0;
    request->device_index = device_index;
    request->resolve = resolve != 0;
    request->runs = runs;
    request->loops = loops;
    request->runs_bounded = runs_bounded != 0;
    request->steady = steady != 0;
    request->verify = verify != 0;
    *storage = object;
    return true;
}

void bench_request_free(void *storage) {
    json_decref(storage);
}

json_t *bench_json_string(const char *text) {
    json_t *string = json_string(text);
    if (string == NULL) {
        char *copy = bench_copy(text, strlen(text));
        for (char *c = copy; *c != '\0'; c++) {
            *c = (unsigned char)*c < 0x80 ? *c : '?';
        }
        string = json_string(copy);
        free(copy);
    }
    return string;
}
