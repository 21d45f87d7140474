/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers.h"

#include "children.h"

#include "environment.h"
#include "inventory_child.h"
#include "request.h"
#include "terminal.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static bench_outcome run_child(const info_asker *asker, const char *mode, const char *argument,
                               const bench_variable *variables, size_t count) {
    bench_command command = {.arguments = {asker->program, mode, argument},
                             .variables = variables,
                             .variable_count = count,
                             .timeout_s = asker->limit_s};
    return bench_run_child(&command);
}

static json_t *read_outcome(bench_outcome *outcome) {
    json_t *result = outcome->trouble == NULL ? json_loads(outcome->output, 0, NULL) : NULL;
    if (result == NULL) {
        char *text =
            bench_format("the process that asks %s", outcome->trouble != NULL ? outcome->trouble : "left no answer");
        result = json_pack("{s:o}", "error", bench_json_string(text));
        free(text);
    }
    free(outcome->output);
    free(outcome->trouble);
    return result;
}

json_t *info_ask_child(const info_asker *asker, const char *mode, const char *argument, const bench_variable *variables,
                       size_t count) {
    bench_outcome outcome = run_child(asker, mode, argument, variables, count);
    return read_outcome(&outcome);
}

/* ---- one driver alone ---- */

static bool write_icd_file(const char *directory, size_t number, const char *library) {
    char *path = bench_format("%s/%03zu.icd", directory, number);
    FILE *file = fopen(path, "w");
    bool ok = file != NULL && fprintf(file, "%s\n", library) > 0;
    ok = file != NULL && fclose(file) == 0 && ok;
    free(path);
    return ok;
}

static size_t restrict_loader(bench_variable variables[3], const char *directory) {
    variables[0] = (bench_variable){"OCL_ICD_VENDORS", directory};
    variables[1] = (bench_variable){"OPENCL_VENDOR_PATH", NULL};
    variables[2] = (bench_variable){"OCL_ICD_FILENAMES", NULL};
    return 3;
}

typedef struct verdict {
    const char *state;
    size_t devices;
    char *text; /* new text */
} verdict;

static char *copy_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return bench_copy(text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

/* It ended well, but has no device: perhaps its library cannot be opened. */
static verdict explain_absence(const info_asker *asker, const char *library, const json_t *inventory) {
    json_t *opened = info_ask_child(asker, INFO_OPEN_CHILD, library, NULL, 0);
    char *error = copy_text(opened, "error");
    json_decref(opened);
    if (error[0] != '\0') {
        return (verdict){.state = "not loadable", .text = error};
    }
    free(error);
    const json_t *backend = json_array_get(json_object_get(inventory, "backends"), 0);
    return (verdict){.state = "no device", .text = copy_text(backend, "unavailable_reason")};
}

static verdict judge(const info_asker *asker, const char *library, bench_outcome *outcome) {
    if (outcome->trouble != NULL) {
        const char *state = strstr(outcome->trouble, "did not end") != NULL ? "hung" : "crashed";
        char *text = bench_format("the process that asked it %s", outcome->trouble);
        free(outcome->output);
        free(outcome->trouble);
        return (verdict){.state = state, .text = text};
    }
    json_t *inventory = read_outcome(outcome);
    size_t devices = json_array_size(json_object_get(inventory, "devices"));
    verdict result = devices != 0 ? (verdict){.state = "works", .devices = devices, .text = bench_copy("", 0)}
                                  : explain_absence(asker, library, inventory);
    json_decref(inventory);
    return result;
}

static verdict probe_driver(const info_asker *asker, const char *library) {
    char *directory = bench_make_private_directory();
    if (directory == NULL || !write_icd_file(directory, 0, library)) {
        free(directory);
        return (verdict){.state = "not asked", .text = bench_format("no file can be written in $TMPDIR, else /tmp")};
    }
    bench_variable variables[3];
    size_t count = restrict_loader(variables, directory);
    bench_outcome outcome = run_child(asker, BENCH_INVENTORY_CHILD, "opencl", variables, count);
    verdict result = judge(asker, library, &outcome);
    (void)bench_remove_tree(directory);
    free(directory);
    return result;
}

/* ---- all of them ---- */

static bool is_safe(const char *state) {
    return strcmp(state, "crashed") != 0 && strcmp(state, "hung") != 0;
}

static void leave_out_unsafe(const json_t *drivers, info_safe_drivers *safe) {
    safe->directory = bench_make_private_directory();
    for (size_t i = 0; i < json_array_size(drivers) && safe->directory != NULL; i++) {
        const json_t *driver = json_array_get(drivers, i);
        if (is_safe(json_string_value(json_object_get(driver, "state")))) {
            (void)write_icd_file(safe->directory, i, json_string_value(json_object_get(driver, "library")));
        }
    }
    if (safe->directory != NULL) {
        safe->count = restrict_loader(safe->variables, safe->directory);
    }
}

json_t *info_probe_drivers(const info_asker *asker, info_safe_drivers *safe) {
    *safe = (info_safe_drivers){0};
    json_t *drivers = bench_list_icd_files();
    bool all_safe = true;
    for (size_t i = 0; i < json_array_size(drivers) && !bench_interrupted(); i++) {
        json_t *driver = json_array_get(drivers, i);
        const char *library = json_string_value(json_object_get(driver, "library"));
        bench_progress("asking the OpenCL driver %s", library);
        verdict result = probe_driver(asker, library);
        (void)json_object_update_new(driver,
                                     json_pack("{s:s, s:I, s:o}", "state", result.state, "devices",
                                               (json_int_t)result.devices, "text", bench_json_string(result.text)));
        all_safe = all_safe && is_safe(result.state);
        free(result.text);
    }
    if (!all_safe) {
        leave_out_unsafe(drivers, safe);
    }
    bench_progress_clear();
    return drivers;
}

void info_safe_drivers_fini(info_safe_drivers *safe) {
    if (safe->directory != NULL) {
        (void)bench_remove_tree(safe->directory);
    }
    free(safe->directory);
}
