/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helper that libportmm starts after a cache miss: it makes the same product on scratch data, and so takes the
 * finished binaries into the cache. libportmm gives it an open, locked file that it never uses: the lock ends with this
 * process, and this process ends by itself after LIMIT_SECONDS.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include <portmm/portmm.h>

#include "platform.h"

#define LIMIT_SECONDS 180

static int print_usage(FILE *stream, int code) {
    fputs("usage: portmm-warm --backend=SPEC --dtype=N --layout=N --transa=N --transb=N --m=N --n=N --k=N\n"
          "                   [--lda=N --ldb=N --ldc=N] [--a-offset=N --b-offset=N --c-offset=N] [--engine=NAME]\n"
          "                   [--batch-count=N --a-stride=N --b-stride=N --c-stride=N] [--activation=N --bias-kind=N]\n"
          "                   [--module-path=DIR] [--cache-dir=DIR [--prove [--awaited]]]\n"
          "Fills the cache of compiled programs for one product; libportmm starts it by itself. With --prove, tries "
          "what\n"
          "was captured and is not trusted yet, with --awaited at normal priority. Enumerations are the numbers of "
          "portmm.h. Programs that want this "
          "ahead of time call portmm_prewarm.\n",
          stream);
    return code;
}

typedef struct warm_request {
    portmm_context_options options;
    portmm_problem problem;
    long long numbers[19]; /* in the order of the options */
    int proves, is_awaited;
} warm_request;

enum { FIRST_TEXT = 256, BACKEND = FIRST_TEXT, ENGINE, MODULE_PATH, CACHE_DIR, FIRST_NUMBER };

static int parse_number(const char *text, long long *number) {
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

static int parse(int argc, char **argv, warm_request *request) {
    static const struct option options[] = {{"backend", required_argument, NULL, BACKEND},
                                            {"engine", required_argument, NULL, ENGINE},
                                            {"module-path", required_argument, NULL, MODULE_PATH},
                                            {"cache-dir", required_argument, NULL, CACHE_DIR},
                                            {"dtype", required_argument, NULL, FIRST_NUMBER},
                                            {"layout", required_argument, NULL, FIRST_NUMBER + 1},
                                            {"transa", required_argument, NULL, FIRST_NUMBER + 2},
                                            {"transb", required_argument, NULL, FIRST_NUMBER + 3},
                                            {"m", required_argument, NULL, FIRST_NUMBER + 4},
                                            {"n", required_argument, NULL, FIRST_NUMBER + 5},
                                            {"k", required_argument, NULL, FIRST_NUMBER + 6},
                                            {"lda", required_argument, NULL, FIRST_NUMBER + 7},
                                            {"ldb", required_argument, NULL, FIRST_NUMBER + 8},
                                            {"ldc", required_argument, NULL, FIRST_NUMBER + 9},
                                            {"a-offset", required_argument, NULL, FIRST_NUMBER + 10},
                                            {"b-offset", required_argument, NULL, FIRST_NUMBER + 11},
                                            {"c-offset", required_argument, NULL, FIRST_NUMBER + 12},
                                            {"batch-count", required_argument, NULL, FIRST_NUMBER + 13},
                                            {"a-stride", required_argument, NULL, FIRST_NUMBER + 14},
                                            {"b-stride", required_argument, NULL, FIRST_NUMBER + 15},
                                            {"c-stride", required_argument, NULL, FIRST_NUMBER + 16},
                                            {"activation", required_argument, NULL, FIRST_NUMBER + 17},
                                            {"bias-kind", required_argument, NULL, FIRST_NUMBER + 18},
                                            {"prove", no_argument, NULL, 'p'},
                                            {"awaited", no_argument, NULL, 'a'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char **texts[] = {&request->options.backend, &request->options.engine, &request->options.module_path,
                            &request->options.cache_dir};
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (option == 'h')
            exit(print_usage(stdout, 0));
        if (option == 'p' || option == 'a') {
            *(option == 'p' ? &request->proves : &request->is_awaited) = 1;
            continue;
        }
        if (option >= FIRST_NUMBER && parse_number(optarg, &request->numbers[option - FIRST_NUMBER]))
            continue;
        if (option < FIRST_TEXT || option >= FIRST_NUMBER)
            return 0;
        *texts[option - FIRST_TEXT] = optarg;
    }
    return optind == argc && request->options.backend != NULL &&
           (!request->proves || request->options.cache_dir != NULL);
}

static void fill_problem(warm_request *request) {
    const long long *numbers = request->numbers;
    request->problem = (portmm_problem){.struct_size = sizeof request->problem,
                                        .dtype = (portmm_dtype)numbers[0],
                                        .layout = (portmm_layout)numbers[1],
                                        .transa = (portmm_transpose)numbers[2],
                                        .transb = (portmm_transpose)numbers[3],
                                        .m = numbers[4],
                                        .n = numbers[5],
                                        .k = numbers[6],
                                        .lda = numbers[7],
                                        .ldb = numbers[8],
                                        .ldc = numbers[9],
                                        .a_offset = numbers[10],
                                        .b_offset = numbers[11],
                                        .c_offset = numbers[12],
                                        .batch_count = numbers[13],
                                        .a_stride = numbers[14],
                                        .b_stride = numbers[15],
                                        .c_stride = numbers[16],
                                        .activation = (portmm_activation)numbers[17],
                                        .bias_kind = (portmm_bias)numbers[18]};
}

static int warm(void *argument) {
    warm_request *request = argument;
    request->options.cache_mode = request->proves ? PORTMM_CACHE_PROVE : PORTMM_CACHE_READ_WRITE;
    request->options.warmup = PORTMM_WARMUP_OFF; /* prewarm itself takes the binaries */
    portmm_context *context;
    portmm_status status = portmm_context_create(&request->options, &context);
    if (status == PORTMM_STATUS_SUCCESS)
        status = portmm_prewarm(context, &request->problem);
    if (status != PORTMM_STATUS_SUCCESS)
        fprintf(stderr, "portmm-warm: %s\n", portmm_last_error());
    portmm_context_destroy(context);
    return status == PORTMM_STATUS_SUCCESS ? 0 : 1;
}

int main(int argc, char **argv) {
    warm_request request = {.options = PORTMM_CONTEXT_OPTIONS_INIT, .numbers = {[13] = 1}};
    if (!parse(argc, argv, &request))
        return print_usage(stderr, 2);
    tool_limit_run(LIMIT_SECONDS);
    if (!request.is_awaited)
        tool_run_in_background();
    fill_problem(&request);
    return request.proves ? tool_run_apart(request.options.cache_dir, warm, &request) : warm(&request);
}
