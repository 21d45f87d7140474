/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "peers.h"
#include "platform.h"
#include "sample.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILLS_MOST = 5, PEERS_MOST = 8 };

typedef struct peer_plan {
    const bench_peer_kind *kind;
    char *program;
    char *full; /* drivers' caches, filled by this peer */
} peer_plan;

typedef struct run {
    bench_launcher *launcher;
    const bench_options *options;
    bench_block *block;
    bench_failure *failure;
    char *spec, *label;
    char *full;        /* ours and the drivers' caches */
    char *driver_full; /* the drivers' caches, filled without ours */
    peer_plan peers[PEERS_MOST];
    uint64_t round_ns;    /* when the current round of samples began */
    double last_round_ms; /* 0: none is complete */
} run;

/* ", about 12 s left for these sizes": by the last round, once there was one. `text` holds it. */
static const char *tell_left(const run *self, int64_t number, char text[64]) {
    double gone_ms = bench_elapsed_ms(self->round_ns, bench_clock_ns());
    double left_ms = self->last_round_ms * (double)(self->options->samples - number) - gone_ms;
    text[0] = '\0';
    if (self->last_round_ms > 0) {
        (void)snprintf(text, 64, ", about %.0f s left for this product", ceil(fmax(left_ms, 0) / 1000));
    }
    return text;
}

static bench_request make_request(const run *self) {
    return (bench_request){
        .backend = self->spec,
        .engine = self->options->engine,
        .start = bench_start_name(self->block->start),
        .device_index = self->block->identity.index,
        .problem = self->block->problem,
    };
}

/* peer NULL: libportmm itself. */
static json_t *launch_with(bench_launcher *launcher, const peer_plan *peer, const bench_request *request,
                           const bench_caches *caches, unsigned helper_limit_s, bench_failure *failure) {
    char *text = bench_request_encode(request);
    bench_launch_request launch = {
        .program = peer != NULL ? peer->program : NULL,
        .mode = peer != NULL ? peer->kind->mode : BENCH_SAMPLE_CHILD,
        .text = text,
        .caches = *caches,
        .helper_limit_s = helper_limit_s,
    };
    json_t *result = bench_launch(launcher, &launch, failure);
    free(text);
    return result;
}

static char *make_directory(bench_launcher *launcher, bench_failure *failure) {
    char *directory = bench_dirs_make(&launcher->dirs);
    if (directory == NULL) {
        bench_fail(failure, 0, "cannot make a directory in %s: is the disk full?", launcher->dirs.root);
    }
    return directory;
}

bool bench_resolve(bench_launcher *launcher, const bench_options *options, const char *spec, bench_identity *identity,
                   bench_failure *failure) {
    bench_request request = {.backend = spec,
                             .engine = options->engine,
                             .start = "fast",
                             .resolve = true,
                             .problem = {.m = 1, .n = 1, .k = 1}};
    char *directory = make_directory(launcher, failure);
    if (directory == NULL) {
        return false;
    }
    bench_caches caches = {.drivers = directory};
    bench_progress("opening %s", spec);
    json_t *result = launch_with(launcher, NULL, &request, &caches, 0, failure);
    bench_dirs_drop(directory);
    if (result != NULL) {
        bench_identity_read(identity, result);
    }
    json_decref(result);
    return result != NULL;
}

/* ---- filling ---- */

static int64_t count_of(const json_t *result, const char *key) {
    return json_integer_value(json_object_get(json_object_get(result, "cache"), key));
}

/* Runs the product until a process finds everything and adds nothing. drivers NULL: empty ones for each process. */
static bool fill_caches(run *self, const char *ours, const char *drivers, const char *name) {
    bench_request request = make_request(self);
    bool settled = false;
    for (int i = 0; i < FILLS_MOST && !settled; i++) {
        bench_progress("%s %s: filling the caches for %s, %d of at most %d", self->spec, self->label, name, i + 1,
                       FILLS_MOST);
        char *fresh = drivers == NULL ? make_directory(self->launcher, self->failure) : NULL;
        if (drivers == NULL && fresh == NULL) {
            return false;
        }
        bench_caches caches = {.ours = ours, .drivers = drivers != NULL ? drivers : fresh, .filling = true};
        json_t *result = launch_with(self->launcher, NULL, &request, &caches, BENCH_HELPER_LIMIT_S, self->failure);
        bench_dirs_drop(fresh);
        if (result == NULL) {
            return false;
        }
        settled =
            count_of(result, "misses") == 0 && count_of(result, "stores") == 0 && count_of(result, "helpers") == 0;
        json_decref(result);
    }
    if (!settled) {
        bench_block_warn(self->block,
                         bench_format("%s: libportmm's cache had not settled after %d processes", name, FILLS_MOST));
    }
    return true;
}

static bool fill_drivers(run *self, const peer_plan *peer, char **full) {
    bench_request request = make_request(self);
    *full = make_directory(self->launcher, self->failure);
    if (*full == NULL) {
        return false;
    }
    bench_caches caches = {.drivers = *full};
    json_t *result = launch_with(self->launcher, peer, &request, &caches, BENCH_HELPER_LIMIT_S, self->failure);
    json_decref(result);
    return result != NULL;
}

static bool prepare_caches(run *self) {
    const bool *wanted = self->options->temperatures;
    if (wanted[BENCH_CACHED] || wanted[BENCH_RELAUNCH] || wanted[BENCH_WARM]) {
        self->full = make_directory(self->launcher, self->failure);
        if (self->full == NULL || !fill_caches(self, self->full, self->full, "relaunch")) {
            return false;
        }
        /* Without the drivers' caches a process may find more to store. */
        if (wanted[BENCH_CACHED] && !fill_caches(self, self->full, NULL, "cached")) {
            return false;
        }
    }
    if (wanted[BENCH_DRIVER]) {
        bench_progress("%s %s: filling the drivers' caches", self->spec, self->label);
        return fill_drivers(self, NULL, &self->driver_full);
    }
    return true;
}

/* ---- samples of ours ---- */

static void warn_about_sample(run *self, const bench_row *row) {
    const bench_cache_counts *cache = &row->details[row->process_to_result.count - 1].cache;
    const char *name = bench_temperature_name(row->temperature);
    bool full =
        row->temperature == BENCH_CACHED || row->temperature == BENCH_RELAUNCH || row->temperature == BENCH_WARM;
    if (full && (cache->misses != 0 || cache->stores != 0)) {
        bench_block_warn(self->block, bench_format("%s: a process missed or stored entries of libportmm's cache, which "
                                                   "should have been full",
                                                   name));
    }
    if (cache->faults != 0) {
        bench_block_warn(self->block, bench_format("%s: libportmm's cache met trouble with the file system", name));
    }
}

static void take_engine(bench_row *row, const json_t *result) {
    const char *engine = json_string_value(json_object_get(result, "engine"));
    if (engine != NULL && engine[0] != '\0') {
        free(row->engine);
        row->engine = bench_copy(engine, strlen(engine));
    }
}

static bool take_sample(run *self, bench_row *row, int64_t number) {
    bench_temperature temperature = row->temperature;
    bench_request request = make_request(self);
    request.runs = number == 0 ? self->options->runs : 0;
    request.loops = self->options->loops;
    request.runs_bounded = !self->options->runs_given;
    request.verify = number == 0 && self->options->verify;
    request.steady = temperature == BENCH_WARM;
    bool needs_fresh = temperature == BENCH_COLD || temperature == BENCH_CACHED;
    char *fresh = needs_fresh ? make_directory(self->launcher, self->failure) : NULL;
    if (needs_fresh && fresh == NULL) {
        return false;
    }
    const bench_caches caches[BENCH_TEMPERATURE_COUNT] = {
        [BENCH_COLD] = {.ours = fresh, .drivers = fresh},
        [BENCH_DRIVER] = {.ours = NULL, .drivers = self->driver_full},
        [BENCH_CACHED] = {.ours = self->full, .drivers = fresh},
        [BENCH_RELAUNCH] = {.ours = self->full, .drivers = self->full},
        [BENCH_WARM] = {.ours = self->full, .drivers = self->full},
    };
    unsigned helper_limit_s = temperature == BENCH_COLD ? 0 : BENCH_HELPER_LIMIT_S;
    json_t *result = launch_with(self->launcher, NULL, &request, &caches[temperature], helper_limit_s, self->failure);
    bench_dirs_drop(fresh);
    if (result == NULL) {
        return false;
    }
    bench_row_add(row, result);
    take_engine(row, result);
    json_decref(result);
    warn_about_sample(self, row);
    return true;
}

/* ---- peers ---- */

/* A peer that cannot run is named with the reason; it does not end the measurement. */
static void prepare_peers(run *self) {
    bench_block *block = self->block;
    const bench_peer_kind *kind = NULL;
    while ((kind = bench_next_peer_kind(block->identity.backend, kind)) != NULL && block->peer_count < PEERS_MOST) {
        block->peers = bench_resize(block->peers, block->peer_count + 1, sizeof *block->peers);
        bench_peer *peer = &block->peers[block->peer_count];
        peer_plan *plan = &self->peers[block->peer_count++];
        *peer = (bench_peer){.name = kind->name};
        plan->kind = kind;
        plan->program = bench_find_peer(kind, self->launcher->self);
        if (plan->program == NULL) {
            peer->absent = bench_format("its program %s is not beside portmm-bench; it is built where the library was "
                                        "found",
                                        kind->program);
            continue;
        }
        bench_progress("%s %s: filling the drivers' caches for %s", self->spec, self->label, kind->name);
        if (!fill_drivers(self, plan, &plan->full)) {
            peer->absent = bench_format("%s", self->failure->text);
            continue;
        }
        for (int t = 0; t < BENCH_TEMPERATURE_COUNT; t++) {
            if (bench_peer_has_temperature((bench_temperature)t)) {
                peer->rows[peer->row_count++] = (bench_row){.temperature = (bench_temperature)t};
            }
        }
    }
}

static void warn_about_peer(run *self, const bench_peer *peer, const bench_row *row, const json_t *result) {
    const char *device = json_string_value(json_object_get(result, "device"));
    if (strcmp(self->block->identity.backend, "opencl") == 0 && device != NULL &&
        strcmp(device, self->block->identity.device) != 0) {
        bench_block_warn(self->block, bench_format("peer %s ran on another device: %s", peer->name, device));
    }
    if (row->verified && !row->correct) {
        bench_block_warn(self->block, bench_format("peer %s: its result is wrong", peer->name));
    }
}

static void take_peer_sample(run *self, size_t position, bench_row *row, int64_t number) {
    bench_peer *peer = &self->block->peers[position];
    const peer_plan *plan = &self->peers[position];
    bench_request request = make_request(self);
    request.runs = number == 0 ? self->options->runs : 0;
    request.loops = self->options->loops;
    request.runs_bounded = !self->options->runs_given;
    request.verify = number == 0 && self->options->verify;
    request.steady = row->temperature == BENCH_WARM;
    char *fresh = row->temperature == BENCH_COLD ? make_directory(self->launcher, self->failure) : NULL;
    bench_caches caches = {.drivers = fresh != NULL ? fresh : plan->full};
    json_t *result = launch_with(self->launcher, plan, &request, &caches, BENCH_HELPER_LIMIT_S, self->failure);
    bench_dirs_drop(fresh);
    if (result == NULL) {
        peer->absent = bench_format("%s", self->failure->text);
        return;
    }
    bench_row_add(row, result);
    if (peer->device == NULL) {
        const char *device = json_string_value(json_object_get(result, "device"));
        peer->device = device != NULL ? bench_copy(device, strlen(device)) : NULL;
    }
    warn_about_peer(self, peer, row, result);
    json_decref(result);
}

static void take_peer_samples(run *self, int64_t number) {
    for (size_t p = 0; p < self->block->peer_count; p++) {
        bench_peer *peer = &self->block->peers[p];
        for (size_t i = 0; i < peer->row_count && peer->absent == NULL && !bench_interrupted(); i++) {
            char left[64];
            bench_progress("%s %s: sample %lld of %lld, %s %s%s", self->spec, self->label, (long long)number + 1,
                           (long long)self->options->samples, peer->name,
                           bench_temperature_name(peer->rows[i].temperature), tell_left(self, number, left));
            take_peer_sample(self, p, &peer->rows[i], number);
        }
    }
}

/* ---- a block ---- */

static bool take_samples(run *self) {
    bench_block *block = self->block;
    for (int64_t number = 0; number < self->options->samples; number++) {
        self->round_ns = bench_clock_ns();
        for (size_t i = 0; i < block->row_count; i++) {
            char left[64];
            bench_progress("%s %s: sample %lld of %lld, %s%s", self->spec, self->label, (long long)number + 1,
                           (long long)self->options->samples, bench_temperature_name(block->rows[i].temperature),
                           tell_left(self, number, left));
            if (!take_sample(self, &block->rows[i], number)) {
                return false;
            }
        }
        take_peer_samples(self, number);
        self->last_round_ms = bench_elapsed_ms(self->round_ns, bench_clock_ns());
    }
    return true;
}

static bool is_noisy(const bench_row *row) {
    const bench_series *series[] = {&row->first_gemm, &row->process_to_result, &row->gemm};
    for (size_t i = 0; i < sizeof series / sizeof series[0]; i++) {
        bench_summary summary = bench_summarize(series[i]);
        if (bench_is_noisy(&summary)) {
            return true;
        }
    }
    return false;
}

/* Appends the row to *noisy, a list in one line. */
static void note_if_noisy(char **noisy, const char *name, const bench_row *row) {
    if (is_noisy(row)) {
        char *longer = bench_format("%s%s%s", *noisy, (*noisy)[0] != '\0' ? ", " : "", name);
        free(*noisy);
        *noisy = longer;
    }
}

static void warn_about_row(bench_block *block, const char *prefix, const bench_row *row, char **noisy) {
    char *name = bench_format("%s%s", prefix, bench_temperature_name(row->temperature));
    note_if_noisy(noisy, name, row);
    if (row->unsettled) {
        bench_block_warn(block, bench_format("%s: steady products had not settled within 5 s", name));
    }
    if (row->details != NULL && bench_median_detail(row)->phases_ms[BENCH_UNATTRIBUTED] < 0) {
        bench_block_warn(block, bench_format("%s: phases overlap, so that they add up to more than the whole", name));
    }
    if (row->details != NULL && row->verified && !row->correct) {
        bench_block_warn(block, bench_format("%s: WRONG RESULT: relative error %.3g, and %.3g is allowed", name,
                                             row->relative_error, bench_unit_roundoff(block->problem.dtype)));
    }
    free(name);
}

static void warn_about_block(bench_launcher *launcher, bench_block *block) {
    char *noisy = bench_copy("", 0);
    for (size_t i = 0; i < block->row_count; i++) {
        warn_about_row(block, "", &block->rows[i], &noisy);
    }
    for (size_t p = 0; p < block->peer_count; p++) {
        char *prefix = bench_format("raw %s ", block->peers[p].name);
        for (size_t i = 0; i < block->peers[p].row_count; i++) {
            warn_about_row(block, prefix, &block->peers[p].rows[i], &noisy);
        }
        free(prefix);
    }
    if (noisy[0] != '\0') {
        bench_block_warn(block, bench_format("IQR above 10 %% of the median, so the machine was not quiet: %s", noisy));
    }
    free(noisy);
    if (launcher->helpers_killed != 0) {
        bench_block_warn(block, bench_format("%zu helper processes did not end within %d s and were killed",
                                             launcher->helpers_killed, (int)BENCH_HELPER_LIMIT_S));
        launcher->helpers_killed = 0;
    }
}

/* The rows, and the peers' rows, that no sample was taken for. */
static void drop_empty_rows(bench_block *block) {
    while (block->row_count != 0 && block->rows[block->row_count - 1].process_to_result.count == 0) {
        block->row_count--;
    }
    for (size_t p = 0; p < block->peer_count; p++) {
        bench_peer *peer = &block->peers[p];
        while (peer->row_count != 0 && peer->rows[peer->row_count - 1].process_to_result.count == 0) {
            peer->row_count--;
        }
    }
}

static void fini_run(run *self) {
    for (size_t i = 0; i < PEERS_MOST; i++) {
        free(self->peers[i].program);
        bench_dirs_drop(self->peers[i].full);
    }
    bench_dirs_drop(self->full);
    bench_dirs_drop(self->driver_full);
    free(self->spec);
    free(self->label);
}

bool bench_measure(bench_launcher *launcher, const bench_options *options, bench_block *block, bench_failure *failure) {
    run self = {.launcher = launcher, .options = options, .block = block, .failure = failure};
    self.spec = bench_format("%s:%lld", block->identity.backend, (long long)block->identity.index);
    self.label = bench_problem_label(&block->problem);
    for (int t = 0; t < BENCH_TEMPERATURE_COUNT; t++) {
        if (options->temperatures[t]) {
            block->rows[block->row_count++] = (bench_row){.temperature = (bench_temperature)t};
        }
    }
    bool ok = prepare_caches(&self);
    if (ok && options->peers) {
        prepare_peers(&self);
    }
    ok = ok && !bench_interrupted() && take_samples(&self) && !bench_interrupted();
    if (bench_interrupted()) {
        drop_empty_rows(block);
    }
    if (ok || bench_interrupted()) {
        warn_about_block(launcher, block);
    }
    fini_run(&self);
    bench_progress_clear();
    return ok;
}

bool bench_block_is_wrong(const bench_block *block) {
    for (size_t i = 0; i < block->row_count; i++) {
        if (block->rows[i].verified && !block->rows[i].correct) {
            return true;
        }
    }
    return false;
}
