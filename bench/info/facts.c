/* SPDX-License-Identifier: Apache-2.0 */
#include "facts.h"

#include "cache.h"
#include "children.h"
#include "drivers.h"

#include "environment.h"
#include "inventory_child.h"
#include "request.h"
#include "terminal.h"
#include "text.h"

#include <portmm/portmm.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1 };

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* ---- problems: what is wrong, and what to do ---- */

static void add_problem(json_t *problems, char *text) {
    (void)json_array_append_new(problems, bench_json_string(text));
    free(text);
}

static void judge_drivers(const json_t *drivers, json_t *problems) {
    for (size_t i = 0; i < json_array_size(drivers); i++) {
        const json_t *driver = json_array_get(drivers, i);
        const char *state = text_of(driver, "state"), *file = text_of(driver, "file");
        if (strcmp(state, "crashed") == 0 || strcmp(state, "hung") == 0) {
            add_problem(problems, bench_format("the OpenCL driver of %s %s: %s. It can take every OpenCL program down; "
                                               "update it, or move that file away.",
                                               file, state, text_of(driver, "text")));
        } else if (strcmp(state, "not loadable") == 0) {
            add_problem(problems, bench_format("the OpenCL driver of %s cannot be loaded (%s); install it again, or "
                                               "remove that file.",
                                               file, text_of(driver, "text")));
        }
    }
}

static void judge_backends(const json_t *facts, json_t *problems) {
    const json_t *backends = json_object_get(facts, "backends");
    bool any = false;
    for (size_t i = 0; i < json_array_size(backends); i++) {
        any = any || json_is_true(json_object_get(json_array_get(backends, i), "available"));
    }
    if (!any) {
        add_problem(problems, bench_format("no backend can be used: each says above what it lacks."));
    }
}

/* The first place is the user's; the choice tells of it, where a context was opened. */
static void judge_cache(const json_t *cache, const json_t *choice, json_t *problems) {
    const char *told = text_of(choice, "cache_reason");
    if (told[0] != '\0') {
        add_problem(problems, bench_format("the on-disk cache: %s", told));
    }
    const json_t *places = json_object_get(cache, "places");
    for (size_t i = 0; i < json_array_size(places); i++) {
        const json_t *place = json_array_get(places, i);
        const char *trust = text_of(place, "trust"), *reason = text_of(place, "reason");
        bool bad = strcmp(trust, "refused") == 0 || strcmp(trust, "faulty") == 0;
        if (bad && strcmp(reason, told) != 0) {
            add_problem(problems, bench_format("the on-disk cache: %s", reason));
        }
    }
}

static json_t *find_problems(const json_t *facts) {
    json_t *problems = json_array();
    judge_drivers(json_object_get(facts, "opencl_drivers"), problems);
    judge_backends(facts, problems);
    const json_t *choice = json_object_get(facts, "choice");
    if (text_of(choice, "error")[0] != '\0') {
        add_problem(problems, bench_format("no device is opened: %s", text_of(choice, "error")));
    }
    judge_cache(json_object_get(facts, "cache"), choice, problems);
    return problems;
}

/* ---- all of it ---- */

static void add_inventory(json_t *facts, json_t *inventory, const char *backend) {
    const char *error = text_of(inventory, "error");
    if (error[0] != '\0') {
        json_decref(inventory);
        inventory = json_pack("{s:[{s:s, s:s, s:b, s:s}], s:[]}", "backends", "name", backend, "module_file", "",
                              "available", 0, "unavailable_reason", error, "devices");
    }
    json_t *backends = json_object_get(facts, "backends"), *devices = json_object_get(facts, "devices");
    (void)json_array_extend(backends, json_object_get(inventory, "backends"));
    (void)json_array_extend(devices, json_object_get(inventory, "devices"));
    json_decref(inventory);
}

json_t *info_collect(const info_asker *asker, const char *spec, bool probe) {
    static const char *const backends[] = {"cuda", "opencl", "cpu"};
    info_safe_drivers safe = {0};
    json_t *environment = bench_describe_environment();
    json_t *drivers = probe ? info_probe_drivers(asker, &safe) : bench_list_icd_files();
    json_t *facts =
        json_pack("{s:i, s:s, s:[], s:[]}", "schema", (int)SCHEMA, "portmm", portmm_version(), "backends", "devices");
    bench_progress("looking for libraries");
    json_t *libraries = info_ask_child(asker, INFO_LIBRARIES_CHILD, NULL, NULL, 0);
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        bench_progress("asking backend %s", backends[i]);
        add_inventory(facts, info_ask_child(asker, BENCH_INVENTORY_CHILD, backends[i], safe.variables, safe.count),
                      backends[i]);
    }
    bench_progress("opening %s", spec);
    json_t *choice = info_ask_child(asker, INFO_CHOICE_CHILD, spec, safe.variables, safe.count);
    bench_progress_clear();
    info_safe_drivers_fini(&safe);
    (void)json_object_set_new(choice, "spec", bench_json_string(spec));
    (void)json_object_set_new(facts, "choice", choice);
    (void)json_object_set_new(facts, "cache", info_describe_cache());
    (void)json_object_set_new(facts, "libraries", json_incref(json_object_get(libraries, "libraries")));
    (void)json_object_set_new(facts, "opencl_drivers", drivers);
    (void)json_object_set_new(facts, "environment", environment);
    json_decref(libraries);
    (void)json_object_set_new(facts, "problems", find_problems(facts));
    return facts;
}

bool info_is_usable(const json_t *facts) {
    return json_object_get(json_object_get(facts, "choice"), "error") == NULL;
}
