/* SPDX-License-Identifier: Apache-2.0 */
#include "print.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static long long number_of(const json_t *object, const char *key) {
    return (long long)json_integer_value(json_object_get(object, key));
}

/* A heading at column 1, a name at 3, a value at 24: everything below is laid out by these. */
static void print_heading(FILE *output, const char *text) {
    fprintf(output, "\n%s\n", text);
}

static void print_value(FILE *output, const char *name, const char *value) {
    if (value[0] != '\0') {
        fprintf(output, "  %-20s %s\n", name, value);
    }
}

static void print_size(FILE *output, const char *name, long long bytes) {
    if (bytes > 0) {
        fprintf(output, "  %-20s %.1f GiB\n", name, (double)bytes / 0x1p30);
    }
}

/* ---- sections ---- */

static void print_machine(FILE *output, const json_t *environment) {
    print_heading(output, "Machine");
    print_value(output, "system", text_of(environment, "distribution"));
    print_value(output, "kernel", text_of(environment, "system"));
    fprintf(output, "  %-20s %s, %lld cores\n", "processor", text_of(environment, "cpu"),
            number_of(environment, "cores"));
    print_value(output, "governor", text_of(environment, "governor"));
    print_size(output, "memory", number_of(environment, "memory_bytes"));
}

static void print_libraries(FILE *output, const json_t *libraries) {
    print_heading(output, "Libraries");
    for (size_t i = 0; i < json_array_size(libraries); i++) {
        const json_t *library = json_array_get(libraries, i);
        bool found = text_of(library, "file")[0] != '\0';
        fprintf(output, "  %-20s %s\n", text_of(library, "name"), found ? text_of(library, "file") : "not found");
        fprintf(output, "  %-20s %s\n", "", text_of(library, "purpose"));
        if (!found && strstr(text_of(library, "error"), "No such file") == NULL) {
            fprintf(output, "  %-20s %s\n", "", text_of(library, "error"));
        }
    }
}

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void print_drivers(FILE *output, const json_t *drivers) {
    print_heading(output, "OpenCL drivers");
    if (json_array_size(drivers) == 0) {
        fputs("  none: no ICD file is found. Install your GPU vendor's driver, or pocl-opencl-icd.\n", output);
    }
    for (size_t i = 0; i < json_array_size(drivers); i++) {
        const json_t *driver = json_array_get(drivers, i);
        const char *state = text_of(driver, "state");
        fprintf(output, "  %-20s %s", last_name(text_of(driver, "file")), text_of(driver, "library"));
        if (strcmp(state, "works") == 0) {
            long long devices = number_of(driver, "devices");
            fprintf(output, ": works, %lld device%s\n", devices, devices != 1 ? "s" : "");
        } else if (state[0] != '\0') {
            fprintf(output, ": %s\n  %-20s %s\n", state, "", text_of(driver, "text"));
        } else {
            fputc('\n', output);
        }
    }
}

static void print_types(FILE *output, const json_t *device) {
    fprintf(output, "  %-20s f32%s%s\n", "element types",
            json_is_true(json_object_get(device, "has_f64")) ? ", f64" : "",
            json_is_true(json_object_get(device, "has_f16")) ? ", f16" : "");
}

static void print_properties(FILE *output, const json_t *owner) {
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(owner, "properties"), name, value) {
        fprintf(output, "  %-30s %s\n", name, json_string_value(value));
    }
}

static void print_device(FILE *output, const json_t *device, bool all) {
    fprintf(output, "\n%s:%lld  %s\n", text_of(device, "backend"), number_of(device, "index"), text_of(device, "name"));
    print_value(output, "UNAVAILABLE", text_of(device, "unavailable_reason"));
    fprintf(output, "  %-20s %s, %lld compute units\n", "kind", text_of(device, "type"),
            number_of(device, "compute_units"));
    print_size(output, "memory", number_of(device, "memory_size"));
    print_size(output, "largest buffer", number_of(device, "max_allocation"));
    print_types(output, device);
    print_value(output, "engines", text_of(device, "engines"));
    print_value(output, "platform", text_of(device, "platform_name"));
    print_value(output, "platform version", text_of(device, "platform_version"));
    print_value(output, "vendor", text_of(device, "vendor"));
    print_value(output, "driver", text_of(device, "driver_version"));
    if (all) {
        print_properties(output, device);
    }
}

static void print_backends(FILE *output, const json_t *facts, bool all) {
    print_heading(output, "Backends");
    const json_t *backends = json_object_get(facts, "backends"), *devices = json_object_get(facts, "devices");
    for (size_t i = 0; i < json_array_size(backends); i++) {
        const json_t *backend = json_array_get(backends, i);
        bool available = json_is_true(json_object_get(backend, "available"));
        fprintf(output, "  %-20s %s\n", text_of(backend, "name"), available ? "available" : "unavailable");
        if (!available) {
            fprintf(output, "  %-20s %s\n", "", text_of(backend, "unavailable_reason"));
        } else if (all) {
            fprintf(output, "  %-20s %s\n", "", text_of(backend, "module_file"));
        }
        const char *name;
        json_t *value;
        json_object_foreach(json_object_get(backend, "properties"), name, value) {
            fprintf(output, "  %-20s %s: %s\n", "", name, json_string_value(value));
        }
    }
    for (size_t i = 0; i < json_array_size(devices); i++) {
        print_device(output, json_array_get(devices, i), all);
    }
}

static void print_choice(FILE *output, const json_t *choice) {
    print_heading(output, "Choice");
    if (text_of(choice, "error")[0] != '\0') {
        fprintf(output, "  %-20s nothing: %s\n", text_of(choice, "spec"), text_of(choice, "error"));
        return;
    }
    fprintf(output, "  %-20s %s:%lld, first engine %s\n", text_of(choice, "spec"), text_of(choice, "backend"),
            number_of(choice, "device_index"), text_of(choice, "engine"));
    print_value(output, "why", text_of(choice, "reason"));
}

static void print_cache(FILE *output, const json_t *cache) {
    print_heading(output, "Cache");
    if (text_of(cache, "reason")[0] != '\0') {
        fprintf(output, "  %s\n", text_of(cache, "reason"));
    }
    const json_t *places = json_object_get(cache, "places");
    for (size_t i = 0; i < json_array_size(places); i++) {
        const json_t *place = json_array_get(places, i);
        const char *trust = text_of(place, "trust"), *reason = text_of(place, "reason");
        fprintf(output, "  %-20s %s: %s", text_of(place, "tier"), text_of(place, "path"), trust);
        if (strcmp(trust, "trusted") == 0) {
            fprintf(output, ", %lld entries, %lld KiB", number_of(place, "entries"), number_of(place, "bytes") / 1024);
        }
        fprintf(output, "%s%s\n", strcmp(trust, "missing") != 0 && reason[0] != '\0' ? ": " : "",
                strcmp(trust, "missing") != 0 ? reason : "");
    }
}

static void print_variables(FILE *output, const json_t *variables) {
    print_heading(output, "Environment variables");
    if (json_object_size(variables) == 0) {
        fputs("  none that matters here\n", output);
    }
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)variables, name, value) {
        fprintf(output, "  %s=%s\n", name, json_string_value(value));
    }
}

static void print_problems(FILE *output, const json_t *problems) {
    print_heading(output, "Problems");
    if (json_array_size(problems) == 0) {
        fputs("  none found\n", output);
    }
    for (size_t i = 0; i < json_array_size(problems); i++) {
        fprintf(output, "  %zu. %s\n", i + 1, json_string_value(json_array_get(problems, i)));
    }
}

void info_print(FILE *output, const json_t *facts, bool all) {
    const json_t *environment = json_object_get(facts, "environment");
    fprintf(output, "libportmm %s, portmm-info of revision %s\n", text_of(facts, "portmm"),
            text_of(environment, "revision"));
    print_machine(output, environment);
    print_libraries(output, json_object_get(facts, "libraries"));
    print_drivers(output, json_object_get(facts, "opencl_drivers"));
    print_backends(output, facts, all);
    print_choice(output, json_object_get(facts, "choice"));
    print_cache(output, json_object_get(facts, "cache"));
    print_variables(output, json_object_get(environment, "variables"));
    print_problems(output, json_object_get(facts, "problems"));
}

/* ---- the report ---- */

/* Copies a line with every `home` in it written as ~. */
static void print_without_home(FILE *output, const char *line, const char *home) {
    const char *found;
    while (home != NULL && home[0] == '/' && home[1] != '\0' && (found = strstr(line, home)) != NULL) {
        fprintf(output, "%.*s~", (int)(found - line), line);
        line = found + strlen(home);
    }
    fputs(line, output);
}

void info_print_report(FILE *output, const json_t *facts) {
    FILE *draft = tmpfile();
    if (draft == NULL) {
        info_print(output, facts, true);
        return;
    }
    info_print(draft, facts, true);
    rewind(draft);
    fputs("```\n", output);
    size_t size = 1 << 16;
    char *line = bench_resize(NULL, size, 1);
    while (fgets(line, (int)size, draft) != NULL) {
        print_without_home(output, line, getenv("HOME"));
    }
    free(line);
    fputs("```\n", output);
    (void)fclose(draft);
}
