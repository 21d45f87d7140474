/* SPDX-License-Identifier: Apache-2.0 */
/* portmm-info: what of libportmm this machine can use, and why the rest is missing. */
#include "children.h"
#include "facts.h"
#include "print.h"

#include "inventory_child.h"
#include "platform.h"
#include "terminal.h"
#include "text.h"

#include <getopt.h>
#include <portmm/portmm.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FINE = 0, EXIT_PROBLEM = 1, EXIT_USAGE = 2, EXIT_UNAVAILABLE = 3, EXIT_INTERRUPTED = 130 };

static const char help_text[] =
    "Usage: portmm-info [OPTION]...\n"
    "Shows what libportmm finds on this machine: libraries, OpenCL drivers, backends, devices, which\n"
    "device and engine it takes by itself, and its cache; and says why something is missing.\n"
    "\n"
    "  --backend SPEC  what is asked for: auto (default; PORTMM_BACKEND), cpu, opencl, cuda, or a\n"
    "                  device such as opencl:1\n"
    "  --long          every property of every device\n"
    "  --report        all of it as one block to paste into a bug report; home directories become ~\n"
    "  --json          all of it as JSON\n"
    "  --timeout SECS  how long a driver may take to answer (default: 30)\n"
    "  --no-probe      do not ask each OpenCL driver in a process of its own\n"
    "  --check         exit status 1 where a problem is found\n"
    "  --help, --version\n"
    "\n"
    "Drivers are loaded in child processes only: one that crashes or hangs is named, and left out of\n"
    "the rest.\n"
    "\n"
    "Exit status\n"
    "  0 what is asked for can be used   1 with --check: a problem was found   2 bad usage\n"
    "  3 what is asked for cannot be used   130 interrupted\n";

typedef struct info_options {
    const char *spec;
    bool all, report, json, probe, check;
    int64_t timeout_s;
} info_options;

/* An exit status, or -1 to go on. */
static int parse(int argc, char **argv, info_options *options) {
    enum { BACKEND = 256, LONG, REPORT, JSON, NO_PROBE, TIMEOUT, CHECK, HELP, VERSION };
    static const struct option table[] = {
        {"backend", required_argument, NULL, BACKEND}, {"long", no_argument, NULL, LONG},
        {"report", no_argument, NULL, REPORT},         {"json", no_argument, NULL, JSON},
        {"no-probe", no_argument, NULL, NO_PROBE},     {"timeout", required_argument, NULL, TIMEOUT},
        {"check", no_argument, NULL, CHECK},           {"help", no_argument, NULL, HELP},
        {"version", no_argument, NULL, VERSION},       {NULL, 0, NULL, 0},
    };
    for (int code; (code = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        switch (code) {
        case BACKEND:
            options->spec = optarg;
            break;
        case LONG:
            options->all = true;
            break;
        case REPORT:
            options->report = true;
            break;
        case JSON:
            options->json = true;
            break;
        case NO_PROBE:
            options->probe = false;
            break;
        case TIMEOUT:
            if (!bench_parse_integer(optarg, 1, 3600, &options->timeout_s)) {
                fprintf(stderr, "portmm-info: --timeout '%s': give whole seconds from 1 to 3600\n", optarg);
                return EXIT_USAGE;
            }
            break;
        case CHECK:
            options->check = true;
            break;
        case HELP:
            fputs(help_text, stdout);
            return EXIT_FINE;
        case VERSION:
            printf("portmm-info %s\n", portmm_version());
            return EXIT_FINE;
        default:
            fputs("Try 'portmm-info --help'.\n", stderr);
            return EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "portmm-info: '%s': no such argument\nTry 'portmm-info --help'.\n", argv[optind]);
        return EXIT_USAGE;
    }
    if (options->json && (options->report || options->all)) {
        fputs("portmm-info: --json has everything already; leave --long and --report out\n", stderr);
        return EXIT_USAGE;
    }
    return -1;
}

/* An inventory of the backend refuses a malformed spec before any driver is loaded. */
static bool is_spec(const char *spec) {
    size_t length = strcspn(spec, ":");
    static const char *const names[] = {"auto", "cpu", "opencl", "cuda"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == length && strncmp(names[i], spec, length) == 0) {
            const char *index = spec + length;
            return index[0] == '\0' || (i != 0 && index[1] != '\0' && strlen(index) < 10 &&
                                        strspn(index + 1, "0123456789") == strlen(index + 1));
        }
    }
    return false;
}

static int show(const info_options *options, const char *self) {
    const info_asker asker = {.program = self, .limit_s = (unsigned)options->timeout_s};
    json_t *facts = info_collect(&asker, options->spec, options->probe);
    if (bench_interrupted()) {
        json_decref(facts);
        return EXIT_INTERRUPTED;
    }
    if (options->json) {
        (void)json_dumpf(facts, stdout, JSON_INDENT(2));
        (void)putchar('\n');
    } else if (options->report) {
        info_print_report(stdout, facts);
    } else {
        info_print(stdout, facts, options->all);
    }
    bool problem = json_array_size(json_object_get(facts, "problems")) != 0, usable = info_is_usable(facts);
    json_decref(facts);
    if (fflush(stdout) != 0) {
        fputs("portmm-info: the output cannot be written: is the disk full?\n", stderr);
        return EXIT_PROBLEM;
    }
    if (!usable) {
        return EXIT_UNAVAILABLE;
    }
    return options->check && problem ? EXIT_PROBLEM : EXIT_FINE;
}

static int run_child(int argc, char **argv) {
    if (argc >= 3 && strcmp(argv[1], BENCH_INVENTORY_CHILD) == 0) {
        return bench_inventory_main(argc, argv);
    }
    if (argc >= 2 && strcmp(argv[1], INFO_LIBRARIES_CHILD) == 0) {
        return info_libraries_main();
    }
    if (argc >= 3 && strcmp(argv[1], INFO_OPEN_CHILD) == 0) {
        return info_open_main(argv[2]);
    }
    if (argc >= 3 && strcmp(argv[1], INFO_CHOICE_CHILD) == 0) {
        return info_choice_main(argv[2]);
    }
    return -1;
}

int main(int argc, char **argv) {
    int status = run_child(argc, argv);
    if (status >= 0) {
        return status;
    }
    const char *asked = getenv("PORTMM_BACKEND");
    info_options options = {.spec = asked != NULL && asked[0] != '\0' ? asked : "auto", .probe = true, .timeout_s = 30};
    status = parse(argc, argv, &options);
    if (status >= 0) {
        return status;
    }
    if (!is_spec(options.spec)) {
        fprintf(stderr, "portmm-info: '%s' is no backend; use auto, cpu, opencl, cuda, or a device such as opencl:1\n",
                options.spec);
        return EXIT_USAGE;
    }
    char self[4096];
    if (!bench_self_path(self, sizeof self)) {
        fputs("portmm-info: its own file cannot be found; is /proc mounted?\n", stderr);
        return EXIT_UNAVAILABLE;
    }
    bench_catch_signals();
    if (bench_stderr_is_terminal()) {
        bench_progress_enable();
    }
    return show(&options, self);
}
