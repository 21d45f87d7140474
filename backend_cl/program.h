/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of CLBlast, as we keep them. What CLBlast holds as its cl_program is a pmm_program: its source waits
 * until the build options are known, and only then it is decided whether the driver gets a binary or the source.
 *
 * Everything here runs with host->lock held, except pmm_programs_capture.
 */
#ifndef PMM_CL_PROGRAM_H
#define PMM_CL_PROGRAM_H

#include "cl_api.h"

/* Which kernels ran with which work-group sizes: "Xgemm:32x4x1". Some drivers compile for each of them. */
typedef struct pmm_launch_set {
    char **names;
    size_t count;
} pmm_launch_set;

typedef struct pmm_program pmm_program;
#define PMM_BUILD_LOG 512

struct pmm_program {
    uint64_t mark;     /* tells it from a driver's object */
    size_t references; /* CLBlast's, and one of a capture under way */
    uint64_t number;   /* the token's */
    cl_context context;
    char *source;
    /* From the build on: */
    cl_device_id device;
    char *options;
    cl_program real;
    unsigned quirks;             /* of the device */
    char failure[PMM_BUILD_LOG]; /* what the compiler said of it; "": it was not refused */
    pmm_launch_set stored;       /* ran before the binary in the cache was taken */
    pmm_launch_set launched;     /* ran in this process and are not among those */
    pmm_program *next;
};

bool pmm_program_is_one(const void *handle);
pmm_program *pmm_program_create(cl_context context, const char *source, size_t size);
/* CLBlast asks for a program's binary only to hand it back for another context: a token with the number will do. */
#define PMM_TOKEN_SIZE 16
void pmm_program_token(const pmm_program *program, unsigned char token[PMM_TOKEN_SIZE]);
/* NULL: no such program. */
const char *pmm_program_source_of_token(const unsigned char *token, size_t size);
void pmm_program_release(const pmm_cl_api *api, pmm_program *program);

/* From the cache, or else from source. A program that was refused a short while ago, also in another process, is not
 * tried: CL_BUILD_PROGRAM_FAILURE. CL_OUT_OF_HOST_MEMORY or what clBuildProgram gives. */
cl_int pmm_program_build(const pmm_host *host, const pmm_cl_api *api, pmm_program *program, cl_device_id device,
                         const char *options);

/* True: this kernel has not run with this size before, and the cache's binary may lack it. */
bool pmm_program_note_launch(pmm_program *program, const char *kernel, cl_uint dimensions, const size_t *local);

/* Takes the binaries of all programs of the context with new launches and stores them. Without the lock. */
void pmm_programs_capture(const pmm_host *host, const pmm_cl_api *api, cl_context context);

#endif
