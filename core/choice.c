/* SPDX-License-Identifier: Apache-2.0 */
#include "choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "dtype.h"

static unsigned char get_magnitude(int64_t size) {
    unsigned char bits = 0;
    for (; size > 1; size = size / 2)
        bits++;
    return bits;
}

static unsigned char get_form(portmm_transpose transpose, portmm_dtype dtype) {
    bool conjugates = transpose == PORTMM_CONJ_TRANS && pmm_dtype_is_complex(dtype);
    return conjugates ? 2 : transpose != PORTMM_NO_TRANS;
}

pmm_class pmm_class_of(const pmm_gemm *gemm) {
    bool rows = gemm->layout == PORTMM_ROW_MAJOR;
    unsigned char a = get_form(gemm->transa, gemm->dtype), b = get_form(gemm->transb, gemm->dtype);
    unsigned char m = get_magnitude(gemm->m), n = get_magnitude(gemm->n), k = get_magnitude(gemm->k);
    unsigned char dtype = (unsigned char)gemm->dtype, batch = get_magnitude(gemm->batch_count);
    /* A column-major product is the row-major one of the transposes. */
    return rows ? (pmm_class){{dtype, a, b, m, n, k, batch}} : (pmm_class){{dtype, b, a, n, m, k, batch}};
}

enum { FIELDS = 8 };

static pmm_cache_key make_key(const portmm_context *context, const pmm_class *of, pmm_key_field fields[FIELDS],
                              char *engines, size_t size) {
    const portmm_device_info *info = &context->info;
    const char *const texts[][2] = {{"library", PORTMM_VERSION_STRING},
                                    {"backend", info->backend},
                                    {"platform", info->platform_name},
                                    {"platform.version", info->platform_version},
                                    {"device", info->name},
                                    {"driver", info->driver_version},
                                    {"engines", engines}};
    size_t used = 0;
    for (const pmm_engine *const *each = context->backend->engines; *each != NULL && used < size; each++)
        used += (size_t)snprintf(engines + used, size - used, "%s ", (*each)->name);
    for (size_t i = 0; i < FIELDS - 1; i++)
        fields[i] = (pmm_key_field){texts[i][0], texts[i][1], strlen(texts[i][1])};
    fields[FIELDS - 1] = (pmm_key_field){"class", of->bytes, sizeof of->bytes};
    return (pmm_cache_key){.kind = "engine choice", .fields = fields, .count = FIELDS};
}

bool pmm_choice_read(portmm_context *context, const pmm_class *of, pmm_choice *choice) {
    pmm_key_field fields[FIELDS];
    char engines[128];
    pmm_cache_key key = make_key(context, of, fields, engines, sizeof engines);
    void *data = NULL;
    size_t size = 0;
    if (!pmm_cache_peek(&context->runtime.cache, &key, &data, &size))
        return false;
    bool good = size == sizeof *choice;
    if (good) {
        memcpy(choice, data, sizeof *choice);
        good = memchr(choice->serves, '\0', sizeof choice->serves) &&
               memchr(choice->refused, '\0', sizeof choice->refused);
    }
    free(data);
    return good;
}

bool pmm_choice_write(portmm_context *context, const pmm_class *of, const pmm_choice *choice) {
    pmm_key_field fields[FIELDS];
    char engines[128];
    pmm_cache_key key = make_key(context, of, fields, engines, sizeof engines);
    return pmm_cache_put(&context->runtime.cache, &key, choice, sizeof *choice);
}
