/* SPDX-License-Identifier: Apache-2.0 */
/* portmm-bench: how long a matrix product takes from the start of a process, and where the time goes. */
#include "compare.h"
#include "environment.h"
#include "explain.h"
#include "inventory.h"
#include "machine_state.h"
#include "outputs.h"
#include "report.h"
#include "run.h"
#include "sample.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

enum { EXIT_FINE = 0, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_UNAVAILABLE = 3, EXIT_INTERRUPTED = 130 };

typedef struct program {
    bench_options options;
    bench_launcher launcher;
    bench_outputs outputs;
    json_t *older; /* of --compare, else NULL */
    json_t *facts; /* of the machine, before the run and behind it */
    FILE *human;   /* NULL: nobody reads */
    bench_block *blocks;
    size_t block_count;
    char **missing; /* with --backend all: what is not measured, and why */
    size_t missing_count;
} program;

/* ---- failures ---- */

/* An argument the library refuses was the user's; everything else is the machine's. */
static int exit_code_of(const bench_failure *failure) {
    return failure->status == PORTMM_STATUS_INVALID_ARGUMENT ? EXIT_USAGE : EXIT_UNAVAILABLE;
}

/* "spec: reason"; the library's reasons often begin with the spec already. New text. */
static char *join_reason(const char *spec, const char *reason) {
    size_t length = strlen(spec);
    bool named = strncmp(reason, spec, length) == 0 && reason[length] == ':';
    return named ? bench_copy(reason, strlen(reason)) : bench_format("%s: %s", spec, reason);
}

static int fail_with(program *self, const char *spec, const bench_failure *failure) {
    if (bench_interrupted()) {
        return EXIT_INTERRUPTED;
    }
    char *line = join_reason(spec, failure->text);
    bench_complain("%s", line);
    free(line);
    if (failure->status == PORTMM_STATUS_UNAVAILABLE && strchr(spec, ':') != NULL) {
        char *devices = bench_inventory_devices(&self->launcher, spec);
        if (devices[0] != '\0') {
            bench_complain("available: %s", devices);
        }
        free(devices);
    }
    return exit_code_of(failure);
}

static void note_missing(program *self, const char *spec, const char *reason) {
    self->missing = bench_resize(self->missing, self->missing_count + 1, sizeof *self->missing);
    self->missing[self->missing_count++] = join_reason(spec, reason);
}

/* ---- measuring ---- */

static int check_sizes(const program *self) {
    bench_machine machine;
    bench_get_machine(&machine);
    for (size_t i = 0; i < self->options.shape_count; i++) {
        const bench_shape *shape = &self->options.shapes[i];
        bench_problem problem = {.m = shape->m, .n = shape->n, .k = shape->k, .dtype = self->options.dtype};
        double bytes = bench_matrix_bytes(&problem);
        if (machine.memory_bytes > 0 && bytes > machine.memory_bytes) {
            bench_complain("%lldx%lldx%lld: its three matrices take %.4g GiB, this machine has %.4g GiB: choose "
                           "smaller sizes",
                           (long long)shape->m, (long long)shape->n, (long long)shape->k, bytes / 0x1p30,
                           machine.memory_bytes / 0x1p30);
            return EXIT_USAGE;
        }
    }
    return EXIT_FINE;
}

static bench_identity copy_identity(const bench_identity *from) {
    bench_identity copy = *from;
    char **texts[] = {&copy.backend, &copy.device, &copy.platform, &copy.driver, &copy.engine, &copy.reason};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i] = bench_copy(*texts[i], strlen(*texts[i]));
    }
    return copy;
}

static void report_block(const program *self, const bench_block *block) {
    if (self->human != NULL) {
        fputs(self->block_count > 1 ? "\n\n" : "", self->human);
        bench_report_block(self->human, &self->options, block);
        (void)fflush(self->human);
        return;
    }
    for (size_t i = 0; i < block->warning_count; i++) {
        bench_complain("%s: %s", block->identity.backend, block->warnings[i]);
    }
}

static bool measure_shape(program *self, const bench_identity *identity, const bench_shape *shape, bench_start start,
                          bench_failure *failure) {
    const bench_options *options = &self->options;
    bench_block block = {
        .identity = copy_identity(identity),
        .start = start,
        .problem = {shape->m, shape->n, shape->k, options->dtype, options->transa, options->transb},
    };
    bool complete = bench_measure(&self->launcher, options, &block, failure);
    if (!complete && !(bench_interrupted() && block.row_count != 0)) {
        bench_block_fini(&block);
        return false;
    }
    self->blocks = bench_resize(self->blocks, self->block_count + 1, sizeof *self->blocks);
    self->blocks[self->block_count++] = block;
    report_block(self, &block);
    return complete;
}

static bool measure_backend(program *self, const bench_identity *identity, bench_failure *failure) {
    for (size_t i = 0; i < self->options.shape_count; i++) {
        for (int start = 0; start < BENCH_START_COUNT; start++) {
            if (self->options.starts[start] &&
                !measure_shape(self, identity, &self->options.shapes[i], (bench_start)start, failure)) {
                return false;
            }
        }
    }
    return true;
}

/* Every device is opened before the first is measured, so that a spec that cannot work is told at once. */
static int measure_listed(program *self) {
    const bench_options *options = &self->options;
    bench_identity *identities = bench_resize(NULL, options->backend_count, sizeof *identities);
    bench_failure failure = {0};
    size_t opened = 0;
    int code = EXIT_FINE;
    while (opened < options->backend_count && code == EXIT_FINE) {
        const char *spec = options->backends[opened];
        if (bench_resolve(&self->launcher, options, spec, &identities[opened], &failure)) {
            opened++;
        } else {
            code = fail_with(self, spec, &failure);
        }
    }
    for (size_t i = 0; i < options->backend_count && code == EXIT_FINE; i++) {
        if (!measure_backend(self, &identities[i], &failure)) {
            code = fail_with(self, options->backends[i], &failure);
        }
    }
    for (size_t i = 0; i < opened; i++) {
        bench_identity_fini(&identities[i]);
    }
    free(identities);
    return code;
}

static void report_missing(const program *self) {
    for (size_t i = 0; i < self->missing_count; i++) {
        if (self->human != NULL) {
            fprintf(self->human, "%snot measured: %s\n", i == 0 ? "\n" : "", self->missing[i]);
        } else {
            bench_complain("not measured: %s", self->missing[i]);
        }
    }
}

static int measure_all(program *self) {
    bench_failure failure = {0};
    for (size_t i = 0; bench_backend_names[i] != NULL && !bench_interrupted(); i++) {
        bench_identity identity = {0};
        if (!bench_resolve(&self->launcher, &self->options, bench_backend_names[i], &identity, &failure) ||
            !measure_backend(self, &identity, &failure)) {
            note_missing(self, bench_backend_names[i], failure.text);
        }
        bench_identity_fini(&identity);
    }
    if (bench_interrupted()) {
        return EXIT_INTERRUPTED;
    }
    bench_progress_clear();
    report_missing(self);
    if (self->block_count == 0) {
        bench_complain("no backend is available");
    }
    return self->block_count != 0 ? EXIT_FINE : EXIT_UNAVAILABLE;
}

static int compare(program *self, const json_t *document) {
    bool matched = false;
    bool slower = bench_compare(self->human, self->older, document, self->options.least_effect, &matched);
    if (!matched) {
        bench_complain("--compare %s: no row of it was measured now: repeat its options", self->options.compare);
        return EXIT_USAGE;
    }
    return slower && self->options.fail_on_slower ? EXIT_WRONG : EXIT_FINE;
}

/* Everything that is made from the results: files, and the comparison. */
static int deliver_document(program *self, const json_t *document) {
    if (!bench_outputs_write(&self->outputs, document)) {
        return EXIT_USAGE;
    }
    if (self->human != NULL && (self->options.from == NULL || self->options.explain)) {
        fputc('\n', self->human);
        bench_explain(self->human, document, self->options.explain);
        bench_answer(self->human, document);
    }
    return self->older != NULL ? compare(self, document) : EXIT_FINE;
}

/* What could be told before the run without disturbing it. */
static void gather_facts_before(program *self) {
    self->facts = json_pack("{s:o, s:o}", "page_cache_before", bench_describe_page_cache(), "clock",
                            bench_describe_clock(BENCH_CPUS));
}

/* Loaders, kernels in use, and the driver's settings, from a process for each backend measured. */
static void gather_inventory(program *self) {
    json_t *backends = json_object();
    for (size_t i = 0; i < self->block_count && !bench_interrupted(); i++) {
        const char *name = self->blocks[i].identity.backend;
        if (json_object_get(backends, name) == NULL) {
            json_t *inventory = bench_inventory_probe(&self->launcher, name);
            json_t *backend = json_array_get(json_object_get(inventory, "backends"), 0);
            json_t *properties = json_object_get(backend, "properties"), *nvidia = json_object_get(inventory, "nvidia");
            (void)json_object_set_new(backends, name, properties != NULL ? json_incref(properties) : json_object());
            if (nvidia != NULL) {
                (void)json_object_set(self->facts, "nvidia", nvidia);
            }
            json_decref(inventory);
        }
    }
    (void)json_object_set_new(self->facts, "backends", backends);
}

static void gather_facts_after(program *self) {
    json_t *clock = json_object_get(self->facts, "clock"), *after = bench_describe_clock(BENCH_CPUS);
    json_int_t events = json_integer_value(json_object_get(after, "throttle_count")) -
                        json_integer_value(json_object_get(clock, "throttle_count"));
    (void)json_object_set_new(clock, "throttled", json_integer(events));
    json_decref(after);
    (void)json_object_set_new(self->facts, "denormals", bench_describe_denormals());
    gather_inventory(self);
}

static int deliver(program *self, bool interrupted) {
    gather_facts_after(self);
    json_t *document = bench_make_document(&self->options, self->blocks, self->block_count, self->facts, interrupted);
    int code = deliver_document(self, document);
    json_decref(document);
    return code;
}

/* Results of an earlier run; NULL after a complaint. */
static json_t *read_earlier(const char *option, const char *path) {
    char *complaint = NULL;
    json_t *document = bench_read_document(path, &complaint);
    if (document == NULL) {
        bench_complain("%s %s", option, complaint);
        free(complaint);
    }
    return document;
}

/* --from: nothing is measured. */
static int deliver_earlier(program *self) {
    json_t *document = read_earlier("--from", self->options.from);
    if (document == NULL) {
        return EXIT_USAGE;
    }
    int code = deliver_document(self, document);
    json_decref(document);
    return code;
}

static int measure(program *self) {
    int code = check_sizes(self);
    if (code == EXIT_FINE) {
        code = bench_options_want_all(&self->options) ? measure_all(self) : measure_listed(self);
    }
    if (code == EXIT_INTERRUPTED) {
        bench_complain("interrupted: %s",
                       self->block_count != 0 ? "what was done until then is told" : "nothing was done until then");
    }
    if (code == EXIT_FINE || (code == EXIT_INTERRUPTED && self->block_count != 0)) {
        int delivered = deliver(self, code == EXIT_INTERRUPTED);
        code = code == EXIT_FINE ? delivered : code;
    }
    for (size_t i = 0; i < self->block_count && code == EXIT_FINE; i++) {
        code = bench_block_is_wrong(&self->blocks[i]) ? EXIT_WRONG : EXIT_FINE;
    }
    return code;
}

/* ---- the program ---- */

static int act(program *self) {
    if (self->options.action == BENCH_LIST) {
        bool any = bench_inventory_print(&self->launcher, &self->options, stdout);
        return bench_interrupted() ? EXIT_INTERRUPTED : any ? EXIT_FINE : EXIT_UNAVAILABLE;
    }
    return measure(self);
}

static int run_program(program *self) {
    if (self->options.compare != NULL) {
        /* Before outputs are opened: one may be the same file. */
        self->older = read_earlier("--compare", self->options.compare);
        if (self->older == NULL) {
            return EXIT_USAGE;
        }
    }
    if (!bench_outputs_open(&self->outputs, &self->options)) {
        return EXIT_USAGE;
    }
    self->human = self->options.quiet ? NULL : bench_outputs_have_stdout(&self->outputs) ? stderr : stdout;
    if (self->options.from != NULL) {
        return deliver_earlier(self);
    }
    if (!bench_self_path(self->launcher.self, sizeof self->launcher.self)) {
        bench_complain("cannot tell the path of this program: is /proc mounted?");
        return EXIT_UNAVAILABLE;
    }
    bench_catch_signals();
    bench_adopt_orphans();
    if (!bench_dirs_open(&self->launcher.dirs)) {
        bench_complain("cannot make a private directory in $TMPDIR, else /tmp: set TMPDIR to a directory that is "
                       "yours");
        return EXIT_USAGE;
    }
    if (!self->options.quiet && bench_stderr_is_terminal()) {
        bench_progress_enable();
    }
    gather_facts_before(self);
    int code = act(self);
    bench_progress_clear();
    if (!bench_dirs_close(&self->launcher.dirs)) {
        bench_complain("something is left of the private directories: portmm-bench-* in $TMPDIR, else /tmp");
    }
    return code;
}

static void fini_program(program *self) {
    for (size_t i = 0; i < self->block_count; i++) {
        bench_block_fini(&self->blocks[i]);
    }
    for (size_t i = 0; i < self->missing_count; i++) {
        free(self->missing[i]);
    }
    json_decref(self->older);
    json_decref(self->facts);
    free(self->blocks);
    free(self->missing);
    bench_options_fini(&self->options);
}

int main(int argc, char **argv) {
    uint64_t entry = bench_clock_ns();
    if (argc > 1 && strcmp(argv[1], BENCH_SAMPLE_CHILD) == 0) {
        return bench_sample_main(argc, argv, entry);
    }
    if (argc > 1 && strcmp(argv[1], BENCH_INVENTORY_CHILD) == 0) {
        return bench_inventory_main(argc, argv);
    }
    program self = {0};
    char *complaint = bench_options_parse(argc, argv, &self.options);
    if (complaint != NULL) {
        bench_complain("%s", complaint);
        free(complaint);
        return EXIT_USAGE;
    }
    int code = EXIT_FINE;
    if (self.options.action == BENCH_HELP) {
        fputs(bench_help_text, stdout);
    } else if (self.options.action == BENCH_VERSION) {
        printf("portmm-bench %s (libportmm %s)\n", PORTMM_VERSION_STRING, portmm_version());
    } else {
        code = run_program(&self);
        bench_outputs_close(&self.outputs);
    }
    fini_program(&self);
    return code;
}
