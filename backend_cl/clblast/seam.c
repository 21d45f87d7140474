/* SPDX-License-Identifier: Apache-2.0 */
#include "seam.h"

#include <stdlib.h>
#include <string.h>

#include "program.h"

/* CLBlast makes a kernel just before it launches it. */
#define RECENT_KERNELS 16

static struct {
    const pmm_host *host; /* of the call under way; NULL: none is */
    const pmm_cl_api *api;
    pmm_seam_report report;
    struct {
        cl_kernel kernel;
        pmm_program *program;
        char name[101];
    } recent[RECENT_KERNELS];
    size_t next;
} seam;

void pmm_seam_enter(const pmm_host *host, const pmm_cl_api *api) {
    seam.host = host;
    seam.api = api;
    seam.report = (pmm_seam_report){false, false};
}

pmm_seam_report pmm_seam_leave(void) {
    seam.host = NULL;
    memset(seam.recent, 0, sizeof seam.recent); /* the programs may go */
    return seam.report;
}

static pmm_program *from_handle(cl_program program) {
    return (pmm_program *)(void *)program;
}

static cl_program to_handle(pmm_program *program) {
    return (cl_program)(void *)program;
}

static cl_program give(pmm_program *program, cl_int failure, cl_int *code) {
    if (code != NULL)
        *code = program != NULL ? CL_SUCCESS : failure;
    return to_handle(program);
}

static char *join_strings(cl_uint count, const char **strings, const size_t *lengths, size_t *size) {
    *size = 0;
    for (cl_uint i = 0; i < count; i++)
        *size += lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
    char *joined = malloc(*size + 1), *at = joined;
    for (cl_uint i = 0; joined != NULL && i < count; i++) {
        size_t length = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
        memcpy(at, strings[i], length);
        at += length;
    }
    return joined;
}

/* ---- what CLBlast calls ---- */

PMM_EXPORT CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                                         const char **strings, const size_t *lengths,
                                                                         cl_int *code) {
    size_t size = 0;
    char *source = join_strings(count, strings, lengths, &size);
    pmm_program *program = source != NULL ? pmm_program_create(context, source, size) : NULL;
    free(source);
    return give(program, CL_OUT_OF_HOST_MEMORY, code);
}

PMM_EXPORT CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint device_count,
                                                                         const cl_device_id *devices,
                                                                         const size_t *lengths,
                                                                         const unsigned char **binaries, cl_int *status,
                                                                         cl_int *code) {
    (void)devices; /* the build names the device again */
    pmm_program *program = device_count == 1 ? pmm_program_from_token(context, binaries[0], lengths[0]) : NULL;
    if (status != NULL)
        *status = program != NULL ? CL_SUCCESS : CL_INVALID_BINARY;
    return give(program, CL_INVALID_BINARY, code);
}

PMM_EXPORT CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program handle, cl_uint device_count,
                                                          const cl_device_id *devices, const char *options,
                                                          void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
    if (device_count != 1 || notify != NULL || data != NULL || seam.host == NULL)
        return CL_INVALID_VALUE; /* CLBlast never does */
    return pmm_program_build(seam.host, seam.api, from_handle(handle), devices[0], options);
}

PMM_EXPORT CL_API_ENTRY cl_int CL_API_CALL clReleaseProgram(cl_program handle) {
    /* Outside a call of ours CLBlast's static destructors run, at exit: the driver may be gone, the process ends. */
    if (seam.host != NULL)
        pmm_program_release(seam.api, from_handle(handle));
    return CL_SUCCESS;
}

static cl_int give_value(const void *value, size_t value_size, size_t room, void *target, size_t *size_told) {
    if (size_told != NULL)
        *size_told = value_size;
    if (target == NULL)
        return CL_SUCCESS;
    if (room < value_size)
        return CL_INVALID_VALUE;
    memcpy(target, value, value_size);
    return CL_SUCCESS;
}

/* The question that costs seconds on PoCL, which compiles a generic form of every kernel to answer it. */
PMM_EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetProgramInfo(cl_program handle, cl_program_info property, size_t room,
                                                            void *value, size_t *size_told) {
    const pmm_program *program = from_handle(handle);
    const size_t token_size = PMM_TOKEN_SIZE;
    if (property == CL_PROGRAM_BINARY_SIZES)
        return give_value(&token_size, sizeof token_size, room, value, size_told);
    if (property == CL_PROGRAM_BINARIES) {
        if (size_told != NULL)
            *size_told = sizeof(unsigned char *);
        if (value != NULL)
            pmm_program_token(program, *(unsigned char **)value);
        return CL_SUCCESS;
    }
    if (seam.host == NULL || program->real == NULL)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    return seam.api->clGetProgramInfo(program->real, property, room, value, size_told);
}

PMM_EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetProgramBuildInfo(cl_program handle, cl_device_id device,
                                                                 cl_program_build_info property, size_t room,
                                                                 void *value, size_t *size_told) {
    const pmm_program *program = from_handle(handle);
    if (seam.host == NULL || program->real == NULL)
        return CL_INVALID_PROGRAM;
    return seam.api->clGetProgramBuildInfo(program->real, device, property, room, value, size_told);
}

PMM_EXPORT CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program handle, const char *name, cl_int *code) {
    pmm_program *program = from_handle(handle);
    if (seam.host == NULL || program->real == NULL) {
        if (code != NULL)
            *code = CL_INVALID_PROGRAM_EXECUTABLE;
        return NULL;
    }
    const pmm_host *host = seam.host;
    host->span_begin(host, PORTMM_PHASE_KERNEL_CREATE, "clCreateKernel");
    cl_kernel kernel = seam.api->clCreateKernel(program->real, name, code);
    host->span_end(host);
    size_t at = seam.next++ % RECENT_KERNELS;
    seam.recent[at].kernel = kernel;
    seam.recent[at].program = program;
    strncpy(seam.recent[at].name, name, sizeof seam.recent[at].name - 1);
    return kernel;
}

static void note_launch(cl_kernel kernel, cl_uint dimensions, const size_t *local) {
    seam.report.seen = true;
    for (size_t i = 0; i < RECENT_KERNELS; i++) {
        size_t at = (seam.next + RECENT_KERNELS - 1 - i) % RECENT_KERNELS; /* the latest first: handles are reused */
        if (seam.recent[at].kernel != kernel)
            continue;
        if (pmm_program_note_launch(seam.recent[at].program, seam.recent[at].name, dimensions, local))
            seam.report.new_launches = true;
        break;
    }
}

PMM_EXPORT CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                                  cl_uint dimensions, const size_t *offset,
                                                                  const size_t *global, const size_t *local,
                                                                  cl_uint wait_count, const cl_event *wait_list,
                                                                  cl_event *event) {
    if (seam.host == NULL)
        return CL_INVALID_OPERATION;
    cl_int code = seam.api->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, wait_count,
                                                   wait_list, event);
    if (code == CL_SUCCESS)
        note_launch(kernel, dimensions, local);
    return code;
}
