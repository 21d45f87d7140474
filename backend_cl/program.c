/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payload.h"
#include "quirks.h"

static pmm_program *programs; /* all of them */
static uint64_t last_number;

static const char token_magic[8] = {'P', 'M', 'M', 'T', 'O', 'K', 'E', 'N'};

static char *copy_text(const char *text, size_t size) {
    char *copy = malloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

/* No address: the first word of a driver's object is its table of functions. */
#define MARK UINT64_C(0x504d4d50524f4752)

bool pmm_program_is_one(const void *handle) {
    uint64_t word = 0;
    if (handle != NULL)
        memcpy(&word, handle, sizeof(void *) < sizeof word ? sizeof(void *) : sizeof word);
    return sizeof(void *) < sizeof word ? word == (uint32_t)MARK : word == MARK;
}

pmm_program *pmm_program_create(cl_context context, const char *source, size_t size) {
    pmm_program *program = calloc(1, sizeof *program);
    char *copy = copy_text(source, size);
    if (program == NULL || copy == NULL) {
        free(program);
        free(copy);
        return NULL;
    }
    program->mark = MARK;
    program->references = 1;
    program->number = ++last_number;
    program->context = context;
    program->source = copy;
    program->next = programs;
    programs = program;
    return program;
}

void pmm_program_token(const pmm_program *program, unsigned char token[PMM_TOKEN_SIZE]) {
    memcpy(token, token_magic, sizeof token_magic);
    memcpy(token + sizeof token_magic, &program->number, sizeof program->number);
}

const char *pmm_program_source_of_token(const unsigned char *token, size_t size) {
    for (const pmm_program *each = programs; each != NULL; each = each->next) {
        unsigned char expected[PMM_TOKEN_SIZE];
        pmm_program_token(each, expected);
        if (size == sizeof expected && memcmp(token, expected, size) == 0)
            return each->source;
    }
    return NULL;
}

void pmm_program_release(const pmm_cl_api *api, pmm_program *program) {
    if (--program->references > 0)
        return;
    pmm_program **link = &programs;
    while (*link != program)
        link = &(*link)->next;
    *link = program->next;
    if (program->real != NULL)
        api->clReleaseProgram(program->real);
    pmm_launch_set_clear(&program->stored);
    pmm_launch_set_clear(&program->launched);
    free(program->options);
    free(program->source);
    free(program);
}

/* ---- the key ---- */

enum { MAX_FIELDS = 24 };

typedef struct key_builder {
    pmm_key_field fields[MAX_FIELDS];
    char *owned[MAX_FIELDS]; /* parallel to fields; NULL: not ours */
    size_t count;
    bool complete; /* false: a part is missing, the key must not be used */
} key_builder;

static void add_field(key_builder *this, const char *label, const void *data, size_t size) {
    this->fields[this->count++] = (pmm_key_field){label, data, size};
}

static void add_owned(key_builder *this, const char *label, char *text) {
    if (text == NULL) {
        this->complete = false;
        return;
    }
    this->owned[this->count] = text;
    add_field(this, label, text, strlen(text));
}

static char *read_text(const pmm_cl_api *api, cl_device_id device, cl_device_info property) {
    size_t size = 0;
    if (api->clGetDeviceInfo(device, property, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    char *text = calloc(1, size + 1);
    if (text != NULL && size > 0 && api->clGetDeviceInfo(device, property, size, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    return text;
}

static char *read_platform_text(const pmm_cl_api *api, cl_device_id device, cl_platform_info property) {
    cl_platform_id platform;
    size_t size = 0;
    if (api->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS ||
        api->clGetPlatformInfo(platform, property, 0, NULL, &size) != CL_SUCCESS)
        return NULL;
    char *text = calloc(1, size + 1);
    if (text != NULL && api->clGetPlatformInfo(platform, property, size, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    return text;
}

/* Everything that decides what bytes the driver makes. The device's name alone would not do: drivers change, and PoCL
 * names its LLVM in the platform's version only. */
static void build_key(key_builder *this, const pmm_host *host, const pmm_cl_api *api, const pmm_program *program) {
    static const struct {
        const char *label;
        cl_device_info property;
    } texts[] = {{"device.name", CL_DEVICE_NAME},
                 {"device.vendor", CL_DEVICE_VENDOR},
                 {"device.version", CL_DEVICE_VERSION},
                 {"device.driver", CL_DRIVER_VERSION},
                 {"device.c", CL_DEVICE_OPENCL_C_VERSION},
                 {"device.profile", CL_DEVICE_PROFILE},
                 {"device.extensions", CL_DEVICE_EXTENSIONS}};
    /* Where the files of PoCL lie and what it prints do not change its code. */
    static const char *const pocl_except[] = {"POCL_CACHE_DIR", "POCL_KERNEL_CACHE", "POCL_DEBUG", "POCL_TRACING",
                                              NULL};
    static const char *const nothing[] = {NULL};
    static const struct {
        const char *label, *prefix;
        const char *const *except;
    } variables[] = {{"environment.pocl", "POCL_", pocl_except}, {"environment.clblast", "CLBLAST_", nothing}};
    *this = (key_builder){.complete = true};
    add_field(this, "source", program->source, strlen(program->source));
    add_field(this, "options", program->options, strlen(program->options));
    add_owned(this, "platform.name", read_platform_text(api, program->device, CL_PLATFORM_NAME));
    add_owned(this, "platform.version", read_platform_text(api, program->device, CL_PLATFORM_VERSION));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add_owned(this, texts[i].label, read_text(api, program->device, texts[i].property));
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        add_owned(this, variables[i].label, host->environment(variables[i].prefix, variables[i].except));
}

static pmm_cache_key get_key(const key_builder *this) {
    return (pmm_cache_key){.kind = "opencl program", .fields = this->fields, .count = this->count};
}

static void free_key(key_builder *this) {
    for (size_t i = 0; i < this->count; i++)
        free(this->owned[i]);
}

/* ---- build ---- */

static cl_int build_from_source(const pmm_host *host, const pmm_cl_api *api, pmm_program *program) {
    cl_int code = CL_SUCCESS;
    const char *source = program->source;
    host->span_begin(host, PORTMM_PHASE_BUILD, "clBuildProgram");
    program->real = api->clCreateProgramWithSource(program->context, 1, &source, NULL, &code);
    if (code == CL_SUCCESS)
        code = api->clBuildProgram(program->real, 1, &program->device, program->options, NULL, NULL);
    host->span_end(host);
    return code;
}

static cl_int build_from_binary(const pmm_host *host, const pmm_cl_api *api, pmm_program *program,
                                const unsigned char *binary, size_t size) {
    cl_int code = CL_SUCCESS, loaded = CL_SUCCESS;
    host->span_begin(host, PORTMM_PHASE_BINARY_LOAD, "clCreateProgramWithBinary");
    cl_program real =
        api->clCreateProgramWithBinary(program->context, 1, &program->device, &size, &binary, &loaded, &code);
    if (code == CL_SUCCESS)
        code = loaded;
    if (code == CL_SUCCESS)
        code = api->clBuildProgram(real, 1, &program->device, program->options, NULL, NULL);
    host->span_end(host);
    if (code == CL_SUCCESS)
        program->real = real;
    else if (real != NULL)
        api->clReleaseProgram(real);
    return code;
}

static bool load_from_cache(const pmm_host *host, const pmm_cl_api *api, pmm_program *program,
                            const pmm_cache_key *key) {
    void *data = NULL;
    size_t size = 0;
    host->span_begin(host, PORTMM_PHASE_CACHE_LOOKUP, "program");
    bool found = host->cache_get(host, key, &data, &size);
    host->span_end(host);
    bool loaded = false;
    if (found) {
        const unsigned char *binary = NULL;
        size_t binary_size = 0;
        loaded = pmm_payload_read(data, size, &program->stored, &binary, &binary_size) &&
                 build_from_binary(host, api, program, binary, binary_size) == CL_SUCCESS;
        if (!loaded) {
            pmm_launch_set_clear(&program->stored);
            host->cache_reject(host, key, "refused by the driver");
        }
    }
    free(data);
    return loaded;
}

/* One line of it, as far as there is room. */
static void read_log(const pmm_cl_api *api, pmm_program *program) {
    size_t size = 0;
    if (program->real == NULL ||
        api->clGetProgramBuildInfo(program->real, program->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS)
        return;
    char *log = calloc(1, size + 1);
    if (log != NULL && api->clGetProgramBuildInfo(program->real, program->device, CL_PROGRAM_BUILD_LOG, size, log,
                                                  NULL) == CL_SUCCESS) {
        for (char *at = log; *at != '\0'; at++)
            *at = *at == '\n' || *at == '\r' || *at == '\t' ? ' ' : *at;
        snprintf(program->failure, sizeof program->failure, "%s", log + strspn(log, " "));
    }
    free(log);
}

/* A failure without a word of the compiler's is not the program's fault, and not remembered. `key` may be NULL. */
static cl_int compile(const pmm_host *host, const pmm_cl_api *api, pmm_program *program, const pmm_cache_key *key) {
    if (key != NULL && host->cache_failed(host, key, program->failure, sizeof program->failure)) {
        host->log(host, PORTMM_LOG_WARNING, "a program is not compiled, as that failed a short while ago: %s",
                  program->failure);
        return CL_BUILD_PROGRAM_FAILURE;
    }
    cl_int code = build_from_source(host, api, program);
    if (code != CL_BUILD_PROGRAM_FAILURE)
        return code;
    /* Once more: processes that compile at the same time may disturb each other in the driver's own cache. */
    if (program->real != NULL)
        api->clReleaseProgram(program->real);
    code = build_from_source(host, api, program);
    if (code != CL_BUILD_PROGRAM_FAILURE)
        return code;
    read_log(api, program);
    host->log(host, PORTMM_LOG_WARNING, "a program cannot be compiled: %s", program->failure);
    if (key != NULL && program->failure[0] != '\0')
        host->cache_fail(host, key, program->failure);
    return code;
}

cl_int pmm_program_build(const pmm_host *host, const pmm_cl_api *api, pmm_program *program, cl_device_id device,
                         const char *options) {
    if (program->real != NULL)
        return CL_INVALID_OPERATION;
    free(program->options);
    program->device = device;
    program->options = copy_text(options != NULL ? options : "", options != NULL ? strlen(options) : 0);
    if (program->options == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    program->failure[0] = '\0';
    const pmm_cl_match match = pmm_cl_quirks_match(api, device);
    program->quirks = pmm_cl_quirks_find(&match);
    key_builder key;
    build_key(&key, host, api, program);
    const pmm_cache_key made = get_key(&key), *cache_key = key.complete ? &made : NULL;
    bool loaded = cache_key != NULL && load_from_cache(host, api, program, cache_key);
    cl_int code = loaded ? CL_SUCCESS : compile(host, api, program, cache_key);
    free_key(&key);
    return code;
}

/* ---- late capture ---- */

bool pmm_program_note_launch(pmm_program *program, const char *kernel, cl_uint dimensions, const size_t *local) {
    char name[160];
    size_t sizes[3] = {0, 0, 0};
    if ((program->quirks & PMM_CL_COMPLETE_AT_BUILD) && program->stored.count + program->launched.count > 0)
        return false;
    for (cl_uint i = 0; local != NULL && i < dimensions && i < 3; i++)
        sizes[i] = local[i];
    snprintf(name, sizeof name, "%.100s:%zux%zux%zu", kernel, sizes[0], sizes[1], sizes[2]);
    return !pmm_launch_set_has(&program->stored, name) && !pmm_launch_set_has(&program->launched, name) &&
           pmm_launch_set_add(&program->launched, name);
}

/* From malloc; NULL: the driver gives none. */
static unsigned char *take_binary(const pmm_cl_api *api, const pmm_program *program, size_t *size) {
    *size = 0;
    if (api->clGetProgramInfo(program->real, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) != CL_SUCCESS ||
        *size == 0)
        return NULL;
    unsigned char *binary = malloc(*size);
    if (binary != NULL &&
        api->clGetProgramInfo(program->real, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) != CL_SUCCESS) {
        free(binary);
        binary = NULL;
    }
    return binary;
}

static bool store_program(const pmm_host *host, const pmm_cl_api *api, const pmm_program *program,
                          const pmm_launch_set *launches) {
    size_t binary_size = 0, size = 0;
    unsigned char *binary = take_binary(api, program, &binary_size);
    void *payload = binary != NULL ? pmm_payload_make(launches, binary, binary_size, &size) : NULL;
    bool stored = false;
    if (payload != NULL) {
        key_builder key;
        build_key(&key, host, api, program);
        pmm_cache_key cache_key = get_key(&key);
        stored = key.complete && host->cache_propose(host, &cache_key, payload, size);
        free_key(&key);
    }
    free(payload);
    free(binary);
    return stored;
}

/* A program of the context with new launches, other than those in `done`; with a reference of the caller's. */
static pmm_program *next_to_capture(cl_context context, uint64_t after) {
    pmm_program *best = NULL;
    for (pmm_program *each = programs; each != NULL; each = each->next)
        if (each->context == context && each->real != NULL && each->launched.count > 0 && each->number > after &&
            (best == NULL || each->number < best->number))
            best = each;
    if (best != NULL)
        best->references++;
    return best;
}

void pmm_programs_capture(const pmm_host *host, const pmm_cl_api *api, cl_context context) {
    uint64_t after = 0;
    for (;;) {
        pmm_launch_set launches = {0};
        host->lock(host);
        pmm_program *program = next_to_capture(context, after);
        bool complete = program != NULL && pmm_launch_set_union(&launches, &program->stored) &&
                        pmm_launch_set_union(&launches, &program->launched);
        host->unlock(host);
        if (program == NULL)
            break;
        after = program->number;
        bool stored = complete && store_program(host, api, program, &launches);
        host->lock(host);
        if (stored)
            pmm_launch_set_move(&program->launched, &launches, &program->stored);
        pmm_program_release(api, program);
        host->unlock(host);
        pmm_launch_set_clear(&launches);
    }
}
