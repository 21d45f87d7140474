/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/problems.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tool_word {
    const char *text;
    int value;
} tool_word;

static const tool_word dtypes[] = {{"f32", PORTMM_F32},
                                   {"f64", PORTMM_F64},
                                   {"f16", PORTMM_F16},
                                   {"bf16", PORTMM_BF16},
                                   {"c32", PORTMM_C32},
                                   {"c64", PORTMM_C64},
                                   {NULL, 0}};

/* Two letters as a number: op(A), then op(B). */
static const tool_word transposes[] = {{"nn", 0}, {"nt", 1}, {"tn", 2}, {"tt", 3}, {NULL, 0}};

/* Kernels differ between classes; of one class all sizes to a factor of two share what is known. */
static const struct {
    const char *name;
    int64_t m, n, k;
} shapes[] = {{"small", 64, 64, 64},  {"medium", 512, 512, 512}, {"large", 2048, 2048, 2048}, {"tall", 4096, 64, 64},
              {"flat", 64, 4096, 64}, {"deep", 64, 64, 4096},    {"vector", 1024, 1, 1024}};

enum { MOST = 64, WORD = 64 };

typedef struct problem_list {
    portmm_problem items[MOST];
    size_t count;
} problem_list;

/* Copies the next word of a list with ',' between; false at its end. */
static bool next_word(const char **list, char word[WORD]) {
    if (**list == '\0')
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(word, WORD, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

static const tool_word *find_word(const tool_word *words, const char *text) {
    while (words->text != NULL && strcmp(words->text, text) != 0)
        words++;
    return words->text != NULL ? words : NULL;
}

const char *tool_dtype_name(portmm_dtype dtype) {
    for (const tool_word *each = dtypes; each->text != NULL; each++)
        if (each->value == (int)dtype)
            return each->text;
    return "?";
}

static bool read_shape(const char *text, portmm_problem *problem) {
    int64_t *const sizes[] = {&problem->m, &problem->n, &problem->k};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, text) == 0) {
            problem->m = shapes[i].m;
            problem->n = shapes[i].n;
            problem->k = shapes[i].k;
            return true;
        }
    for (int i = 0; i < 3; i++) {
        char *end;
        errno = 0;
        *sizes[i] = strtoll(text, &end, 10);
        if (errno != 0 || end == text || *sizes[i] < 1 || *end != (i < 2 ? 'x' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

static bool add_transposes(const tool_request *request, portmm_problem problem, problem_list *list) {
    char word[WORD];
    for (const char *at = request->transposes; next_word(&at, word);) {
        const tool_word *found = find_word(transposes, word);
        if (found == NULL || list->count == MOST) {
            tool_complain(request, TOOL_USAGE,
                          found == NULL ? "--trans '%s': give nn, nt, tn, tt, or some of them with commas"
                                        : "'%s': more than 64 products; do them in several runs",
                          word);
            return false;
        }
        problem.transa = (found->value & 2) != 0 ? PORTMM_TRANS : PORTMM_NO_TRANS;
        problem.transb = (found->value & 1) != 0 ? PORTMM_TRANS : PORTMM_NO_TRANS;
        list->items[list->count++] = problem;
    }
    return true;
}

static bool add_shapes(const tool_request *request, portmm_problem problem, problem_list *list) {
    char word[WORD];
    for (const char *at = request->shapes; next_word(&at, word);) {
        if (!read_shape(word, &problem)) {
            tool_complain(request, TOOL_USAGE,
                          "--shape '%s': give small, medium, large, tall, flat, deep, vector, or sizes such as "
                          "1000x200x300 (m, n, k)",
                          word);
            return false;
        }
        if (!add_transposes(request, problem, list))
            return false;
    }
    return true;
}

static bool make_list(const tool_request *request, problem_list *list) {
    char word[WORD];
    list->count = 0;
    for (const char *at = request->dtypes; next_word(&at, word);) {
        portmm_problem problem = PORTMM_PROBLEM_INIT;
        const tool_word *found = find_word(dtypes, word);
        if (found == NULL) {
            tool_complain(request, TOOL_USAGE,
                          "--dtype '%s': give f32, f64, f16, bf16, c32, c64, or some of them with "
                          "commas",
                          word);
            return false;
        }
        problem.dtype = (portmm_dtype)found->value;
        if (!add_shapes(request, problem, list))
            return false;
    }
    return true;
}

bool tool_visit_problems(const tool_request *request, const portmm_context_options *options, tool_visitor visit,
                         void *user) {
    static problem_list list;
    char spec[WORD];
    if (!make_list(request, &list))
        return false;
    for (const char *at = request->backends; next_word(&at, spec);) {
        portmm_context_options own = *options;
        portmm_context *context = NULL;
        own.backend = spec;
        portmm_status status = portmm_context_create(&own, &context);
        for (size_t i = 0; i < list.count && (i == 0 || status == PORTMM_STATUS_SUCCESS); i++)
            visit(context, spec, &list.items[i], user);
        portmm_context_destroy(context);
    }
    return true;
}

json_t *tool_describe(portmm_context *context, const char *spec, const portmm_problem *problem) {
    portmm_context_info info = PORTMM_CONTEXT_INFO_INIT;
    char trans[3] = {problem->transa == PORTMM_NO_TRANS ? 'n' : 't', problem->transb == PORTMM_NO_TRANS ? 'n' : 't',
                     '\0'};
    json_t *object = json_object();
    tool_set_text(object, "backend", spec);
    if (context != NULL && portmm_context_get_info(context, &info) == PORTMM_STATUS_SUCCESS) {
        tool_set_text(object, "backend", info.backend);
        tool_set_text(object, "device", info.device_name);
    }
    tool_set_text(object, "dtype", tool_dtype_name(problem->dtype));
    tool_set_text(object, "trans", trans);
    tool_set_number(object, "m", (uint64_t)problem->m);
    tool_set_number(object, "n", (uint64_t)problem->n);
    tool_set_number(object, "k", (uint64_t)problem->k);
    return object;
}
