/* SPDX-License-Identifier: Apache-2.0 */
/* portmm-cache: looks after the on-disk cache of compiled programs. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"

static const char help_text[] =
    "Usage: portmm-cache COMMAND [OPTION]...\n"
    "Looks after the cache in which libportmm keeps compiled programs, so that the first product of a\n"
    "process is fast.\n"
    "\n"
    "Look\n"
    "  path            where the cache is, and whether each place is trusted\n"
    "  stats           how large it is, and what all processes found in it\n"
    "  list            its entries, least recently used first\n"
    "  explain         why a product would have to compile: which part of the key differs from the\n"
    "                  nearest entry (with --backend, --dtype, --shape, --trans)\n"
    "  verify          check every entry; with --recompile also products against new compilations\n"
    "Fill\n"
    "  prewarm         compile and store what products need (with --backend, --dtype, --shape, --trans)\n"
    "  seal FILE       write all entries into one file that a container image or installer can ship\n"
    "  import FILE     take the entries of such a file\n"
    "Delete\n"
    "  prune           least recently used entries, down to the limit\n"
    "  clear           all entries and counts\n"
    "\n"
    "Options\n"
    "  --dir DIR          the cache's directory (default: PORTMM_CACHE_DIR, else\n"
    "                     $XDG_CACHE_HOME/portmm, else ~/.cache/portmm)\n"
    "  --path-ro LIST     directories and sealed files that are only read, ':' between them (default:\n"
    "                     PORTMM_CACHE_PATH_RO)\n"
    "  --json             one JSON object instead of text\n"
    "  --dry-run          prune, clear, verify --remove: say what would be removed, remove nothing\n"
    "  --remove           verify: remove bad entries\n"
    "  --recompile        verify: make the products of --backend, --dtype (f32, f64), --shape and --trans\n"
    "                     with the cache and with all programs compiled anew, check the results, and\n"
    "                     compare the programs\n"
    "  --max-size SIZE    prune: the limit, such as 500M (default: PORTMM_CACHE_MAX_SIZE, else 1G)\n"
    "  --backend LIST     auto (default; PORTMM_BACKEND), cpu, opencl, cuda, or devices such as opencl:1\n"
    "  --dtype LIST       f32 (default), f64, f16, bf16, c32, c64\n"
    "  --shape LIST       small, medium (default), large, tall, flat, deep, vector, or m, n and k such as\n"
    "                     1000x200x300\n"
    "  --trans LIST       nn (default), nt, tn, tt: which of A and B are transposed\n"
    "  --help, --version\n"
    "\n"
    "Examples\n"
    "  portmm-cache prewarm --backend opencl --dtype f32,f64 --shape small,large\n"
    "  portmm-cache seal /opt/app/portmm.bundle      # later: PORTMM_CACHE_PATH_RO=/opt/app/portmm.bundle\n"
    "  portmm-cache explain --shape 1000x1000x1000   # why is the first product slow?\n"
    "  portmm-cache prune --max-size 200M --dry-run\n"
    "\n"
    "Exit status\n"
    "  0 fine   1 a problem was found, or a product failed   2 bad usage   3 the cache cannot be used\n";

typedef struct tool_command {
    const char *name;
    int operands;
    int (*run)(const tool_request *request, portmm_cache *cache, json_t *result);
    void (*print)(const json_t *result);
    const char *options; /* letters of those it takes besides the common ones */
} tool_command;

static const tool_command commands[] = {
    {"path", 0, tool_path, tool_print_path, ""},
    {"stats", 0, tool_stats, tool_print_stats, ""},
    {"list", 0, tool_list, tool_print_list, ""},
    {"explain", 0, tool_explain, tool_print_explain, "bdst"},
    {"verify", 0, tool_verify, tool_print_verify, "bdstnxc"},
    {"prewarm", 0, tool_prewarm, tool_print_prewarm, "bdst"},
    {"seal", 1, tool_seal, tool_print_moved, ""},
    {"import", 1, tool_import, tool_print_moved, ""},
    {"prune", 0, tool_prune, tool_print_removed, "nm"},
    {"clear", 0, tool_clear, tool_print_removed, "n"},
};

static const struct option table[] = {
    {"dir", required_argument, NULL, 'D'},      {"path-ro", required_argument, NULL, 'P'},
    {"json", no_argument, NULL, 'j'},           {"dry-run", no_argument, NULL, 'n'},
    {"remove", no_argument, NULL, 'x'},         {"recompile", no_argument, NULL, 'c'},
    {"max-size", required_argument, NULL, 'm'}, {"backend", required_argument, NULL, 'b'},
    {"dtype", required_argument, NULL, 'd'},    {"shape", required_argument, NULL, 's'},
    {"trans", required_argument, NULL, 't'},    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},        {NULL, 0, NULL, 0},
};

/* ---- for the commands ---- */

static void complain(const tool_request *request, const char *format, va_list arguments) {
    fprintf(stderr, "portmm-cache%s%s: ", request->command != NULL ? " " : "",
            request->command != NULL ? request->command : "");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int tool_complain(const tool_request *request, int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(request, format, arguments);
    va_end(arguments);
    return status;
}

int tool_complain_last(const tool_request *request, int status) {
    return tool_complain(request, status, "%s", portmm_last_error());
}

long long tool_number(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

const char *tool_text(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

void tool_set_number(json_t *object, const char *name, uint64_t value) {
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

void tool_set_text(json_t *object, const char *name, const char *text) {
    tool_set_bytes(object, name, text, strlen(text));
}

void tool_set_bytes(json_t *object, const char *name, const void *data, size_t size) {
    char count[48];
    json_t *value = json_stringn(data, size);
    if (value == NULL) {
        snprintf(count, sizeof count, "(%zu bytes)", size);
        value = json_string(count);
    }
    json_object_set_new(object, name, value);
}

/* ---- the command line ---- */

static bool parse_size(const char *text, uint64_t *size) {
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    if (text[0] < '0' || text[0] > '9' || errno != 0 || end[unit != NULL] != '\0' || number > UINT64_MAX >> shift)
        return false;
    *size = (uint64_t)number << shift;
    return true;
}

static const tool_command *find_command(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void set_flag(tool_request *request, int code) {
    request->json = request->json || code == 'j';
    request->dry_run = request->dry_run || code == 'n';
    request->remove = request->remove || code == 'x';
    request->recompile = request->recompile || code == 'c';
}

/* An exit status, or -1 to go on. `given`: the letters of the options that were there. */
static int parse(int argc, char **argv, tool_request *request, char given[32]) {
    for (int code; (code = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        const char **const texts[] = {&request->directory, &request->path_ro, &request->backends,
                                      &request->dtypes,    &request->shapes,  &request->transposes};
        const char *letter = strchr("DPbdst", code);
        if (code == '?')
            return fputs("Try 'portmm-cache --help'.\n", stderr), TOOL_USAGE;
        if (code == 'h')
            return fputs(help_text, stdout) < 0 ? TOOL_PROBLEM : TOOL_FINE;
        if (code == 'V')
            return printf("portmm-cache %s\n", portmm_version()) < 0 ? TOOL_PROBLEM : TOOL_FINE;
        if (strchr(given, code) == NULL)
            given[strlen(given)] = (char)code;
        if (letter != NULL)
            *texts[letter - "DPbdst"] = optarg;
        else
            set_flag(request, code);
        if (code == 'm' && !(request->has_max_size = parse_size(optarg, &request->max_size)))
            return tool_complain(request, TOOL_USAGE, "--max-size '%s': give bytes, or a number with K, M, G or T",
                                 optarg);
    }
    return -1;
}

static int check_options(const tool_command *command, const tool_request *request, const char *given) {
    for (; *given != '\0'; given++) {
        if (strchr("DPj", *given) != NULL || strchr(command->options, *given) != NULL)
            continue;
        const struct option *each = table;
        while (each->val != *given)
            each++;
        return tool_complain(request, TOOL_USAGE, "--%s does nothing here\nTry 'portmm-cache --help'.", each->name);
    }
    if (request->dry_run && strcmp(command->name, "verify") == 0 && !request->remove)
        return tool_complain(request, TOOL_USAGE, "--dry-run is for --remove; without it nothing is removed");
    return -1;
}

static void print_warning(portmm_log_level level, const char *message, void *user) {
    (void)level;
    fprintf(stderr, "portmm-cache: %s\n", message);
    (void)user;
}

static int run(const tool_command *command, const tool_request *request) {
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_cache *cache = NULL;
    options.cache_dir = request->directory;
    options.cache_path_ro = request->path_ro;
    options.log = print_warning;
    if (portmm_cache_create(&options, &cache) != PORTMM_STATUS_SUCCESS)
        return tool_complain_last(request, TOOL_UNAVAILABLE);
    json_t *result = json_object();
    tool_set_number(result, "schema", 1);
    tool_set_text(result, "command", command->name);
    int status = command->run(request, cache, result);
    portmm_cache_destroy(cache);
    if (request->json) {
        json_dumpf(result, stdout, JSON_INDENT(2));
        putchar('\n');
    } else if (status <= TOOL_PROBLEM || command->run == tool_path) {
        command->print(result);
    }
    json_decref(result);
    if (fflush(stdout) != 0)
        return tool_complain(request, TOOL_PROBLEM, "the output cannot be written: is the disk full?");
    return status;
}

int main(int argc, char **argv) {
    const char *backend = getenv("PORTMM_BACKEND");
    tool_request request = {.backends = backend != NULL && backend[0] != '\0' ? backend : "auto",
                            .dtypes = "f32",
                            .shapes = "medium",
                            .transposes = "nn"};
    char given[32] = "";
    int status = parse(argc, argv, &request, given);
    if (status >= 0)
        return status;
    if (optind == argc)
        return fputs("portmm-cache: give a command\nTry 'portmm-cache --help'.\n", stderr), TOOL_USAGE;
    const tool_command *command = find_command(argv[optind]);
    if (command == NULL)
        return tool_complain(&request, TOOL_USAGE, "'%s' is no command\nTry 'portmm-cache --help'.", argv[optind]);
    request.command = command->name;
    request.operands = (const char *const *)&argv[optind + 1];
    if (argc - optind - 1 != command->operands)
        return tool_complain(&request, TOOL_USAGE, command->operands == 1 ? "give one file" : "'%s': no such argument",
                             argc - optind > 1 ? argv[optind + 1] : "");
    status = check_options(command, &request, given);
    return status >= 0 ? status : run(command, &request);
}
