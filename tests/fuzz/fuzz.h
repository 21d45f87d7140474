/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share. A target is libFuzzer's LLVMFuzzerTestOneInput; with other compilers replay.c calls it
 * for the files of the corpus. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inputs that the parser took for good, as they were given: a corpus without any would test little. */
extern unsigned long fuzz_accepted;

#define FUZZ_REQUIRE(condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                              \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* From malloc, of just this size, so that a sanitizer sees a read beyond it. */
static inline unsigned char *fuzz_copy(const void *data, size_t size) {
    unsigned char *copy = malloc(size > 0 ? size : 1);
    FUZZ_REQUIRE(copy != NULL);
    copy[0] = 0;
    if (size > 0)
        memcpy(copy, data, size);
    return copy;
}

/* Entry and bundle have their sum at bytes 32 to 47, over those before it and those up to `end`. Made right here, so
 * that what lies behind the comparison of sums is reached; whoever plants a file would do so, too. */
static inline void fuzz_seal(unsigned char *bytes, size_t end) {
    XXH128_canonical_t sum;
    XXH128_hash_t header = XXH3_128bits(bytes, 32);
    XXH128_canonicalFromHash(&sum, XXH3_128bits_withSeed(bytes + 48, end - 48, header.low64 ^ header.high64));
    memcpy(bytes + 32, sum.digest, sizeof sum.digest);
}

#endif
