/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target on files, without libFuzzer: usage: fuzz_TARGET FILE... */
#include "fuzz.h"

static void run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    size_t size = (size_t)ftell(file);
    unsigned char *bytes = malloc(size > 0 ? size : 1);
    rewind(file);
    if (bytes == NULL || fread(bytes, 1, size, file) != size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        run_file(argv[i]);
    printf("%d inputs, %lu of them good\n", argc - 1, fuzz_accepted);
    if (fuzz_accepted == 0) {
        puts("FAILED: none is good: the corpus is of another format, make_corpus writes a new one");
        return 1;
    }
    return 0;
}
