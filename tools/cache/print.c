/* SPDX-License-Identifier: Apache-2.0 */
/* The results as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cache/cache.h"

static const char *tell_size(long long bytes) {
    static char texts[4][32];
    static unsigned next;
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof texts[0], unit > 0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

static const char *tell_day(long long ns) {
    static char text[32];
    time_t seconds = (time_t)(ns / 1000000000);
    const struct tm *local = ns > 0 ? localtime(&seconds) : NULL;
    if (local == NULL || strftime(text, sizeof text, "%Y-%m-%d %H:%M", local) == 0)
        return "-";
    return text;
}

static bool is_true(const json_t *object, const char *name) {
    return json_is_true(json_object_get(object, name));
}

static void print_places(const json_t *result) {
    const json_t *place;
    size_t number;
    if (tool_text(result, "reason")[0] != '\0')
        printf("%s\n", tool_text(result, "reason"));
    json_array_foreach(json_object_get(result, "places"), number, place) {
        printf("%-8s %s  (%s%s", tool_text(place, "tier"), tool_text(place, "path"), tool_text(place, "trust"),
               is_true(place, "writable") ? ", written" : "");
        if (strcmp(tool_text(place, "trust"), "trusted") == 0)
            printf(", %lld entries, %s", tool_number(place, "entries"), tell_size(tool_number(place, "bytes")));
        printf(")\n");
        if (tool_text(place, "reason")[0] != '\0' && strcmp(tool_text(place, "trust"), "missing") != 0)
            printf("         %s\n", tool_text(place, "reason"));
    }
}

void tool_print_path(const json_t *result) {
    print_places(result);
}

void tool_print_stats(const json_t *result) {
    static const char *const names[][2] = {{"contexts", "contexts counted"},
                                           {"hits", "entries found and used"},
                                           {"memory_hits", "  of them in the process's memory"},
                                           {"misses", "looked for and not found"},
                                           {"compiled", "programs compiled"},
                                           {"stores", "entries written"},
                                           {"waited", "waits for another process's compilation"},
                                           {"gave_up", "waits given up"},
                                           {"remembered", "builds not tried, since they had failed"},
                                           {"bypassed", "programs the cache could not see"},
                                           {"rejects", "damaged or refused entries removed"},
                                           {"evicted", "entries removed for the limit's sake"},
                                           {"faults", "troubles with the file system"},
                                           {"helpers", "helper processes started"}};
    print_places(result);
    long long limit = tool_number(result, "max_size");
    printf("\n%lld entries, %s of ", tool_number(result, "entries"), tell_size(tool_number(result, "bytes")));
    printf("%s\n\nSince the cache was last cleared:\n", limit > 0 ? tell_size(limit) : "no limit");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        printf("%10lld  %s\n", tool_number(result, names[i][0]), names[i][1]);
}

static const char *find_device(const json_t *entry) {
    const json_t *fields = json_object_get(entry, "fields");
    const char *name = tool_text(fields, "device.name");
    return name[0] != '\0' ? name : tool_text(fields, "device");
}

void tool_print_list(const json_t *result) {
    const json_t *entry, *entries = json_object_get(result, "entries");
    size_t number;
    if (json_array_size(entries) == 0) {
        printf("The cache is empty.\n");
        return;
    }
    printf("%-32s  %-16s %10s %10s  %-16s  %s\n", "name", "kind", "file", "unpacked", "last used", "device");
    json_array_foreach(entries, number, entry) {
        printf("%-32s  %-16s %10s %10s", tool_text(entry, "name"), tool_text(entry, "kind"),
               tell_size(tool_number(entry, "bytes")), tell_size(tool_number(entry, "payload_bytes")));
        printf("  %-16s  %s%s\n", tell_day(tool_number(entry, "used_ns")), find_device(entry),
               tool_number(entry, "expires_ns") > 0 ? "  (a build that failed)" : "");
    }
}

static void print_product(const json_t *product) {
    printf("%s  %s %s %lldx%lldx%lld", tool_text(product, "backend"), tool_text(product, "dtype"),
           tool_text(product, "trans"), tool_number(product, "m"), tool_number(product, "n"),
           tool_number(product, "k"));
    if (tool_text(product, "device")[0] != '\0')
        printf("  on %s", tool_text(product, "device"));
}

static void print_difference(const json_t *one) {
    printf("  missing  %s (%s)\n", tool_text(one, "missing"), tool_text(one, "kind"));
    if (tool_text(one, "nearest")[0] == '\0') {
        printf("           no entry of this kind is there\n");
        return;
    }
    printf("           nearest is %s; field %s differs\n", tool_text(one, "nearest"), tool_text(one, "field"));
    printf("           wanted  %.300s\n           found   %.300s\n", tool_text(one, "wanted"), tool_text(one, "found"));
}

void tool_print_explain(const json_t *result) {
    const json_t *product, *difference, *differences;
    size_t number, position;
    json_array_foreach(json_object_get(result, "products"), number, product) {
        print_product(product);
        differences = json_object_get(product, "differences");
        if (tool_text(product, "error")[0] != '\0')
            printf("\n  failed: %s\n", tool_text(product, "error"));
        else
            printf("\n%s", json_array_size(differences) == 0 ? "  nothing missed\n" : "");
        json_array_foreach(differences, position, difference) {
            print_difference(difference);
        }
    }
}

static void print_recompiled(const json_t *result) {
    const json_t *one;
    size_t number;
    json_array_foreach(json_object_get(result, "products"), number, one) {
        print_product(one);
        printf(", %s: %s%s\n", is_true(one, "compiled_anew") ? "compiled anew" : "with the cache",
               is_true(one, "right")                ? "right"
               : tool_text(one, "error")[0] != '\0' ? "failed: "
                                                    : "WRONG",
               tool_text(one, "error"));
    }
    json_array_foreach(json_object_get(result, "programs"), number, one) {
        printf("%s  %s\n", tool_text(one, "name"), tool_text(one, "outcome"));
    }
}

void tool_print_verify(const json_t *result) {
    const json_t *entry;
    size_t number;
    json_array_foreach(json_object_get(result, "entries"), number, entry) {
        if (tool_text(entry, "problem")[0] != '\0')
            printf("%s in %s: %s%s\n", tool_text(entry, "name"), tool_text(entry, "place"), tool_text(entry, "problem"),
                   is_true(entry, "removed") ? " (removed)" : "");
    }
    print_recompiled(result);
    printf("%lld entries checked, %lld bad, %lld removed\n", tool_number(result, "checked"), tool_number(result, "bad"),
           tool_number(result, "removed"));
}

void tool_print_removed(const json_t *result) {
    printf("%s %lld entries, %s", is_true(result, "dry_run") ? "Would remove" : "Removed",
           tool_number(result, "entries"), tell_size(tool_number(result, "bytes")));
    printf("; %lld entries, %s %s", tool_number(result, "kept_entries"), tell_size(tool_number(result, "kept_bytes")),
           is_true(result, "dry_run") ? "would stay" : "stay");
    if (tool_number(result, "leftovers") > 0)
        printf("; %lld files of killed processes", tool_number(result, "leftovers"));
    if (tool_number(result, "failed") > 0)
        printf("; %lld could not be removed", tool_number(result, "failed"));
    printf("\n");
}

void tool_print_prewarm(const json_t *result) {
    const json_t *product;
    size_t number;
    json_array_foreach(json_object_get(result, "products"), number, product) {
        print_product(product);
        if (is_true(product, "failed"))
            printf(": FAILED: %s\n", tool_text(product, "error"));
        else if (is_true(product, "already_there"))
            printf(": already there\n");
        else
            printf(": %lld compiled, %lld loaded, %lld stored in %.2f s\n", tool_number(product, "compiled"),
                   tool_number(product, "loaded"), tool_number(product, "stored"),
                   (double)tool_number(product, "ns") * 1e-9);
    }
    printf("%lld compiled, %lld loaded, %lld products already there, %lld failed\n", tool_number(result, "compiled"),
           tool_number(result, "loaded"), tool_number(result, "already_there"), tool_number(result, "failed"));
}

void tool_print_moved(const json_t *result) {
    bool sealed = strcmp(tool_text(result, "command"), "seal") == 0;
    printf("%s: %lld entries, %s %s", tool_text(result, "file"), tool_number(result, "entries"),
           tell_size(tool_number(result, "bytes")), sealed ? "sealed" : "imported");
    if (tool_number(result, "already_there") > 0)
        printf("; %lld were there already", tool_number(result, "already_there"));
    if (tool_number(result, "passed_over") > 0)
        printf("; %lld passed over", tool_number(result, "passed_over"));
    printf("\n");
}
