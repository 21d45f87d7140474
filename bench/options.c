/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "text.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* Sizes stay below 2^31: more could be neither allocated nor verified in a sensible time. */
#define SIZE_MOST INT64_C(2147483647)
#define SIZE_DEFAULT INT64_C(1000)
enum { RANGE_MOST = 1000 };

const char *const bench_backend_names[] = {"cpu", "opencl", "cuda", NULL};

/* What is gathered before it can be judged as a whole. A dimension of 0 was not given. */
typedef struct parse {
    bench_options *options;
    bench_shape dimensions;
} parse;

/* Applies one option's argument (NULL if it takes none); returns a complaint or NULL. */
typedef char *(*apply_function)(parse *self, const char *name, const char *argument);

static char *parse_number(const char *name, const char *argument, int64_t least, int64_t most, int64_t *value) {
    if (bench_parse_integer(argument, least, most, value)) {
        return NULL;
    }
    return bench_format("%s '%s': give a whole number from %lld to %lld", name, argument, (long long)least,
                        (long long)most);
}

/* Calls `apply` for every item of a comma-separated list. */
static char *for_each_item(parse *self, const char *name, const char *list, apply_function apply) {
    const char *begin = list;
    for (;;) {
        size_t length = strcspn(begin, ",");
        if (length == 0) {
            return bench_format("%s '%s': an item of the list is empty", name, list);
        }
        char *item = bench_copy(begin, length);
        char *complaint = apply(self, name, item);
        free(item);
        if (complaint != NULL || begin[length] == '\0') {
            return complaint;
        }
        begin += length + 1;
    }
}

static bool is_backend_name(const char *name) {
    for (size_t i = 0; bench_backend_names[i] != NULL; i++) {
        if (strcmp(name, bench_backend_names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static char *check_backend_spec(const char *name, const char *spec) {
    size_t length = strcspn(spec, ":");
    char *family = bench_copy(spec, length);
    bool device = is_backend_name(family);
    bool choice = strcmp(family, "auto") == 0 || strcmp(family, "all") == 0;
    char *complaint = NULL;
    int64_t index = 0;
    if (!device && !choice) {
        complaint =
            bench_format("%s '%s': unknown backend '%s'; use cpu, opencl, cuda, auto or all", name, spec, family);
    } else if (choice && spec[length] == ':') {
        complaint = bench_format("%s '%s': '%s' takes no device index; name a backend, such as opencl%s", name, spec,
                                 family, spec + length);
    } else if (spec[length] == ':' && !bench_parse_integer(spec + length + 1, 0, INT32_MAX, &index)) {
        complaint = bench_format(
            "%s '%s': the device index is a whole number from 0, as in opencl:0; --list shows them", name, spec);
    }
    free(family);
    return complaint;
}

static char *add_backend(parse *self, const char *name, const char *spec) {
    bench_options *options = self->options;
    char *complaint = check_backend_spec(name, spec);
    for (size_t i = 0; complaint == NULL && i < options->backend_count; i++) {
        if (strcmp(options->backends[i], spec) == 0) {
            complaint = bench_format("%s: '%s' is listed twice", name, spec);
        } else if (strcmp(options->backends[i], "all") == 0 || strcmp(spec, "all") == 0) {
            complaint = bench_format("%s: 'all' stands alone; it already has every backend", name);
        }
    }
    if (complaint == NULL) {
        options->backends = bench_resize(options->backends, options->backend_count + 1, sizeof *options->backends);
        options->backends[options->backend_count++] = bench_copy(spec, strlen(spec));
    }
    return complaint;
}

static char *apply_backend(parse *self, const char *name, const char *argument) {
    return for_each_item(self, name, argument, add_backend);
}

static void add_shape(bench_options *options, bench_shape shape) {
    options->shapes = bench_resize(options->shapes, options->shape_count + 1, sizeof *options->shapes);
    options->shapes[options->shape_count++] = shape;
}

static char *apply_dimension(parse *self, const char *name, const char *argument) {
    bench_shape *shape = &self->dimensions;
    int64_t *dimension = name[1] == 'm' ? &shape->m : name[1] == 'n' ? &shape->n : &shape->k;
    return parse_number(name, argument, 1, SIZE_MOST, dimension);
}

/* FIRST:LAST:xFACTOR or FIRST:LAST:STEP; LAST is in it if it is met. */
static char *add_size_range(parse *self, const char *name, const char *item) {
    char *copy = bench_copy(item, strlen(item));
    char *last_text = strchr(copy, ':');
    *last_text++ = '\0';
    char *step_text = strchr(last_text, ':');
    bool ok = step_text != NULL, multiplies = false;
    int64_t first = 0, last = 0, step = 0;
    if (ok) {
        *step_text++ = '\0';
        multiplies = step_text[0] == 'x';
        ok = bench_parse_integer(copy, 1, SIZE_MOST, &first) &&
             bench_parse_integer(last_text, first, SIZE_MOST, &last) &&
             bench_parse_integer(step_text + (multiplies ? 1 : 0), multiplies ? 2 : 1, SIZE_MOST, &step);
    }
    free(copy);
    if (!ok) {
        return bench_format("%s '%s': give FIRST:LAST:xFACTOR or FIRST:LAST:STEP, such as 256:4096:x2 or 100:500:100",
                            name, item);
    }
    if (!multiplies && (last - first) / step >= RANGE_MOST) {
        return bench_format("%s '%s': that is more than %d sizes: take a larger step", name, item, RANGE_MOST);
    }
    for (int64_t size = first; size <= last; size = multiplies ? size * step : size + step) {
        add_shape(self->options, (bench_shape){size, size, size});
    }
    return NULL;
}

static char *add_size(parse *self, const char *name, const char *item) {
    int64_t size = 0;
    if (strchr(item, ':') != NULL) {
        return add_size_range(self, name, item);
    }
    char *complaint = parse_number(name, item, 1, SIZE_MOST, &size);
    if (complaint == NULL) {
        add_shape(self->options, (bench_shape){size, size, size});
    }
    return complaint;
}

static char *apply_size(parse *self, const char *name, const char *argument) {
    return for_each_item(self, name, argument, add_size);
}

static char *add_mxnxk(parse *self, const char *name, const char *item) {
    int64_t sizes[3];
    const char *begin = item;
    bool ok = true;
    for (int i = 0; i < 3 && ok; i++) {
        size_t length = strcspn(begin, "x");
        char *number = bench_copy(begin, length);
        ok = bench_parse_integer(number, 1, SIZE_MOST, &sizes[i]) && begin[length] == (i < 2 ? 'x' : '\0');
        free(number);
        begin += length + (ok && i < 2 ? 1 : 0);
    }
    if (!ok) {
        return bench_format("%s '%s': give MxNxK, such as 1000x500x250, each a whole number from 1 to %lld", name, item,
                            (long long)SIZE_MOST);
    }
    add_shape(self->options, (bench_shape){sizes[0], sizes[1], sizes[2]});
    return NULL;
}

static char *apply_shape(parse *self, const char *name, const char *argument) {
    return for_each_item(self, name, argument, add_mxnxk);
}

static char *apply_dtype(parse *self, const char *name, const char *argument) {
    if (bench_dtype_from_name(argument, &self->options->dtype)) {
        return NULL;
    }
    return bench_format("%s '%s': use f32 or f64", name, argument);
}

static char *apply_transpose(parse *self, const char *name, const char *argument) {
    bool *flag = strcmp(name, "--transa") == 0 ? &self->options->transa : &self->options->transb;
    if (strcmp(argument, "n") != 0 && strcmp(argument, "t") != 0) {
        return bench_format("%s '%s': use n (as it is) or t (transposed)", name, argument);
    }
    *flag = argument[0] == 't';
    return NULL;
}

static char *apply_engine(parse *self, const char *name, const char *argument) {
    self->options->engine = argument;
    return argument[0] != '\0' ? NULL : bench_format("%s '': name an engine; --list shows them", name);
}

static char *add_start(parse *self, const char *name, const char *item) {
    bench_start start = BENCH_FAST;
    if (!bench_start_from_name(item, &start)) {
        return bench_format("%s '%s': use fast, tuned or hybrid, or a comma-separated list", name, item);
    }
    self->options->starts[start] = true;
    return NULL;
}

static char *apply_start(parse *self, const char *name, const char *argument) {
    return for_each_item(self, name, argument, add_start);
}

static char *add_temperature(parse *self, const char *name, const char *item) {
    bench_temperature temperature = BENCH_COLD;
    if (!bench_temperature_from_name(item, &temperature)) {
        return bench_format("%s '%s': use cold, driver, cached, relaunch or warm, or a comma-separated list", name,
                            item);
    }
    if (self->options->temperatures[temperature]) {
        return bench_format("%s: '%s' is listed twice", name, item);
    }
    self->options->temperatures[temperature] = true;
    return NULL;
}

static char *apply_temperature(parse *self, const char *name, const char *argument) {
    return for_each_item(self, name, argument, add_temperature);
}

static char *apply_runs(parse *self, const char *name, const char *argument) {
    self->options->runs_given = true;
    return parse_number(name, argument, 0, 10000, &self->options->runs);
}

static char *apply_loops(parse *self, const char *name, const char *argument) {
    return parse_number(name, argument, 0, 1000000, &self->options->loops);
}

static char *apply_samples(parse *self, const char *name, const char *argument) {
    return parse_number(name, argument, 1, 10000, &self->options->samples);
}

static const char *const format_options[BENCH_FORMAT_COUNT] = {
    [BENCH_JSON] = "--json", [BENCH_CSV] = "--csv", [BENCH_TRACE] = "--trace", [BENCH_HTML] = "--html"};

static char *apply_output(parse *self, const char *name, const char *argument) {
    const char **paths = self->options->paths;
    for (int i = 0; i < BENCH_FORMAT_COUNT; i++) {
        if (strcmp(name, format_options[i]) == 0) {
            paths[i] = argument;
        } else if (paths[i] != NULL && strcmp(paths[i], argument) == 0) {
            return bench_format("%s %s: %s goes there already", name, argument, format_options[i]);
        }
    }
    return argument[0] != '\0' ? NULL : bench_format("%s '': name a file, or - for stdout", name);
}

static char *apply_input(parse *self, const char *name, const char *argument) {
    *(strcmp(name, "--from") == 0 ? &self->options->from : &self->options->compare) = argument;
    return argument[0] != '\0' ? NULL : bench_format("%s '': name a file that --json wrote", name);
}

static char *apply_least_effect(parse *self, const char *name, const char *argument) {
    int64_t percent = 0;
    char *complaint = parse_number(name, argument, 1, 1000, &percent);
    self->options->least_effect = (double)percent / 100;
    return complaint;
}

static char *apply_fail_on(parse *self, const char *name, const char *argument) {
    self->options->fail_on_slower = strcmp(argument, "slower") == 0;
    return self->options->fail_on_slower ? NULL : bench_format("%s '%s': use slower", name, argument);
}

static char *apply_flag(parse *self, const char *name, const char *argument) {
    bench_options *options = self->options;
    const struct {
        const char *name;
        bool *flag;
        bool value;
    } flags[] = {
        {"--verify", &options->verify, true}, {"--no-verify", &options->verify, false},
        {"--peers", &options->peers, true},   {"--explain", &options->explain, true},
        {"--quiet", &options->quiet, true},
    };
    (void)argument;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(name, flags[i].name) == 0) {
            *flags[i].flag = flags[i].value;
        }
    }
    return NULL;
}

static char *apply_action(parse *self, const char *name, const char *argument) {
    (void)argument;
    self->options->action = strcmp(name, "--list") == 0   ? BENCH_LIST
                            : strcmp(name, "--help") == 0 ? BENCH_HELP
                                                          : BENCH_VERSION;
    return NULL;
}

static const struct option_row {
    const char *name;
    apply_function apply;
    bool has_argument;
} rows[] = {
    {"-m", apply_dimension, true},       {"-n", apply_dimension, true},
    {"-k", apply_dimension, true},       {"--size", apply_size, true},
    {"--shape", apply_shape, true},      {"--backend", apply_backend, true},
    {"--engine", apply_engine, true},    {"--dtype", apply_dtype, true},
    {"--transa", apply_transpose, true}, {"--transb", apply_transpose, true},
    {"--start", apply_start, true},      {"--temperature", apply_temperature, true},
    {"--runs", apply_runs, true},        {"--loops", apply_loops, true},
    {"--samples", apply_samples, true},  {"--verify", apply_flag, false},
    {"--no-verify", apply_flag, false},  {"--peers", apply_flag, false},
    {"--json", apply_output, true},      {"--csv", apply_output, true},
    {"--trace", apply_output, true},     {"--html", apply_output, true},
    {"--from", apply_input, true},       {"--compare", apply_input, true},
    {"--fail-on", apply_fail_on, true},  {"--effect", apply_least_effect, true},
    {"--explain", apply_flag, false},    {"--quiet", apply_flag, false},
    {"--list", apply_action, false},     {"--help", apply_action, false},
    {"--version", apply_action, false},
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0], FIRST_CODE = 256 };

static const struct exclusion {
    const char *one, *other;
} exclusions[] = {
    {"--engine", "--start"},     {"-m", "--size"},         {"-n", "--size"},  {"-k", "--size"},
    {"-m", "--shape"},           {"-n", "--shape"},        {"-k", "--shape"}, {"--size", "--shape"},
    {"--verify", "--no-verify"}, {"--explain", "--quiet"},
};

static size_t find_row(const char *name) {
    size_t i = 0;
    while (i < ROW_COUNT && strcmp(rows[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* With --from nothing is measured: only what says what to do with the results goes with it. */
static bool goes_with_from(const char *name) {
    static const char *const names[] = {"--from",    "--json",    "--csv",    "--trace", "--html",
                                        "--compare", "--fail-on", "--effect", "--quiet", "--explain"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static char *check_combination(const bool seen[ROW_COUNT]) {
    for (size_t i = 0; i < sizeof exclusions / sizeof exclusions[0]; i++) {
        if (seen[find_row(exclusions[i].one)] && seen[find_row(exclusions[i].other)]) {
            return bench_format("%s and %s exclude each other: give one of them", exclusions[i].one,
                                exclusions[i].other);
        }
    }
    if ((seen[find_row("--fail-on")] || seen[find_row("--effect")]) && !seen[find_row("--compare")]) {
        return bench_format("%s needs --compare OLD.json", seen[find_row("--effect")] ? "--effect" : "--fail-on");
    }
    for (size_t i = 0; seen[find_row("--from")] && i < ROW_COUNT; i++) {
        if (seen[i] && !goes_with_from(rows[i].name)) {
            return bench_format("--from and %s exclude each other: --from measures nothing", rows[i].name);
        }
    }
    for (size_t i = 0; seen[find_row("--list")] && i < ROW_COUNT; i++) {
        if (seen[i] && strcmp(rows[i].name, "--list") != 0 && strcmp(rows[i].name, "--backend") != 0) {
            return bench_format("--list and %s exclude each other: --list measures nothing", rows[i].name);
        }
    }
    return NULL;
}

/* getopt's table; a long option's code is FIRST_CODE and its row. */
static void make_long_options(struct option long_options[ROW_COUNT + 1]) {
    size_t count = 0;
    memset(long_options, 0, (ROW_COUNT + 1) * sizeof *long_options);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].name[1] == '-') {
            long_options[count++] = (struct option){
                .name = rows[i].name + 2,
                .has_arg = rows[i].has_argument ? required_argument : no_argument,
                .val = FIRST_CODE + (int)i,
            };
        }
    }
}

static char *explain_refusal(int code, const char *given) {
    if (code == ':') {
        return bench_format("%s needs a value; see portmm-bench --help", given);
    }
    if (optopt >= FIRST_CODE) {
        return bench_format("%s: this option takes no value", given);
    }
    return bench_format("unknown or ambiguous option '%s'; see portmm-bench --help", given);
}

static char *apply_options(parse *self, int argc, char **argv) {
    struct option long_options[ROW_COUNT + 1];
    bool seen[ROW_COUNT] = {false};
    make_long_options(long_options);
    optind = 0; /* glibc and musl: start afresh */
    opterr = 0;
    int code;
    while ((code = getopt_long(argc, argv, ":m:n:k:", long_options, NULL)) != -1) {
        if (code == ':' || code == '?') {
            return explain_refusal(code, argv[optind - 1]);
        }
        char letter[] = {'-', (char)code, '\0'};
        size_t row = code >= FIRST_CODE ? (size_t)(code - FIRST_CODE) : find_row(letter);
        if (seen[row]) {
            return bench_format("%s is given twice", rows[row].name);
        }
        seen[row] = true;
        char *complaint = rows[row].apply(self, rows[row].name, optarg);
        if (complaint != NULL || self->options->action == BENCH_HELP || self->options->action == BENCH_VERSION) {
            return complaint;
        }
    }
    if (optind < argc) {
        return bench_format("unexpected argument '%s'; see portmm-bench --help", argv[optind]);
    }
    return check_combination(seen);
}

static void fill_defaults(parse *self) {
    bench_options *options = self->options;
    bool any = false;
    for (size_t i = 0; i < BENCH_TEMPERATURE_COUNT; i++) {
        any = any || options->temperatures[i];
    }
    for (size_t i = 0; !any && i < BENCH_TEMPERATURE_COUNT; i++) {
        options->temperatures[i] = i != BENCH_DRIVER;
    }
    if (!options->starts[BENCH_FAST] && !options->starts[BENCH_TUNED] && !options->starts[BENCH_HYBRID]) {
        /* An engine that is named serves alone: the first product waits for it, as under `tuned`. */
        options->starts[options->engine[0] != '\0' ? BENCH_TUNED : BENCH_FAST] = true;
    }
    if (options->backend_count == 0) {
        (void)add_backend(self, "--backend", "auto");
    }
    if (options->shape_count == 0) {
        const bench_shape *given = &self->dimensions;
        add_shape(options, (bench_shape){
                               .m = given->m != 0 ? given->m : SIZE_DEFAULT,
                               .n = given->n != 0 ? given->n : SIZE_DEFAULT,
                               .k = given->k != 0 ? given->k : SIZE_DEFAULT,
                           });
    }
}

char *bench_options_parse(int argc, char **argv, bench_options *options) {
    *options =
        (bench_options){.engine = "", .runs = 10, .loops = 10, .samples = 5, .verify = true, .least_effect = 0.05};
    parse self = {.options = options};
    char *complaint = apply_options(&self, argc, argv);
    if (complaint != NULL) {
        bench_options_fini(options);
        return complaint;
    }
    fill_defaults(&self);
    return NULL;
}

void bench_options_fini(bench_options *options) {
    for (size_t i = 0; i < options->backend_count; i++) {
        free(options->backends[i]);
    }
    free(options->backends);
    free(options->shapes);
    *options = (bench_options){0};
}

bool bench_options_want_all(const bench_options *options) {
    return options->backend_count == 1 && strcmp(options->backends[0], "all") == 0;
}
