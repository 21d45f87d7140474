/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

test_settings test_driver_settings;

#define TEXT(name)                                                                                                     \
    { #name, offsetof(test_settings, name), true }
#define NUMBER(name)                                                                                                   \
    { #name, offsetof(test_settings, name), false }

static const struct {
    const char *name;
    size_t at;
    bool is_text;
} members[] = {TEXT(real),        TEXT(fail),       TEXT(stop),        TEXT(type),      TEXT(name),    TEXT(version),
               TEXT(standard),    TEXT(binary),     TEXT(edit),        TEXT(log),       NUMBER(code),  NUMBER(first),
               NUMBER(last),      NUMBER(fp64),     NUMBER(local),     NUMBER(group),   NUMBER(alloc), NUMBER(unified),
               NUMBER(available), NUMBER(compiler), NUMBER(platforms), NUMBER(devices), NUMBER(icd),   NUMBER(keep)};

static bool apply_word(const char *word, size_t length) {
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        size_t name = strlen(members[i].name);
        if (length <= name || word[name] != '=' || memcmp(word, members[i].name, name) != 0)
            continue;
        char value[TEST_TEXT], *member = (char *)&test_driver_settings + members[i].at;
        snprintf(value, sizeof value, "%.*s", (int)(length - name - 1), word + name + 1);
        if (members[i].is_text)
            memcpy(member, value, sizeof value);
        else
            *(long *)(void *)member = strtol(value, NULL, 0);
        return true;
    }
    fprintf(stderr, "test driver: unknown setting \"%.*s\"\n", (int)length, word);
    return false;
}

static bool apply(const char *settings) {
    bool good = true;
    while (settings != NULL && *settings != '\0') {
        size_t length = strcspn(settings, " ");
        if (length > 0)
            good = apply_word(settings, length) && good;
        settings += length + (settings[length] == ' ');
    }
    return good;
}

static bool start_anew(void) {
    test_driver_settings = (test_settings){.first = 1, .last = 1000000000};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!members[i].is_text && members[i].at > offsetof(test_settings, last))
            *(long *)(void *)((char *)&test_driver_settings + members[i].at) = TEST_UNSET;
    strcpy(test_driver_settings.real, "libpocl.so.2");
    return apply(getenv("PORTMM_TEST_DRIVER"));
}

void test_settings_load(void) {
    if (test_driver_settings.real[0] == '\0')
        start_anew();
}

bool test_settings_change(const char *settings) {
    return start_anew() && apply(settings);
}

void test_settings_log(const char *what, double milliseconds, size_t bytes) {
    FILE *file = test_driver_settings.log[0] != '\0' ? fopen(test_driver_settings.log, "a") : NULL;
    if (file == NULL)
        return;
    fprintf(file, "%s %.3f %zu\n", what, milliseconds, bytes);
    fclose(file);
}
