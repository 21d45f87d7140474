/* SPDX-License-Identifier: Apache-2.0 */
#include "seam.h"

#include <stdlib.h>
#include <string.h>

#include "program.h"

/* CLBlast makes a kernel just before it launches it. */
#define RECENT_KERNELS 16

static pmm_cl_api loader; /* what lies behind the seam */

/* The call of ours that is under way in this thread. */
static _Thread_local struct {
    const pmm_host *host; /* NULL: none is */
    pmm_seam_report report;
    struct {
        cl_kernel kernel;
        pmm_program *program;
        char name[101];
    } recent[RECENT_KERNELS];
    size_t next;
} seam;

void pmm_seam_load(const pmm_cl_api *api) {
    loader = *api;
}

void pmm_seam_enter(const pmm_host *host) {
    seam.host = host;
    seam.report = (pmm_seam_report){.seen = false};
}

pmm_seam_report pmm_seam_leave(void) {
    seam.host = NULL;
    memset(seam.recent, 0, sizeof seam.recent); /* the programs may go */
    return seam.report;
}

/* NULL: not a program of ours. A call that is not ours (another copy of CLBlast may resolve to the seam, too) gets the
 * loader's. */
static pmm_program *from_handle(cl_program program) {
    return seam.host != NULL && pmm_program_is_one(program) ? (pmm_program *)(void *)program : NULL;
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
    if (seam.host == NULL)
        return loader.clCreateProgramWithSource(context, count, strings, lengths, code);
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
    const char *source = device_count == 1 ? pmm_program_source_of_token(binaries[0], lengths[0]) : NULL;
    if (source == NULL && seam.host == NULL)
        return loader.clCreateProgramWithBinary(context, device_count, devices, lengths, binaries, status, code);
    if (status != NULL)
        *status = source != NULL ? CL_SUCCESS : CL_INVALID_BINARY;
    if (source != NULL && seam.host == NULL) /* the one CLBlast of the process, called by another copy of ours */
        return loader.clCreateProgramWithSource(context, 1, &source, NULL, code);
    return give(source != NULL ? pmm_program_create(context, source, strlen(source)) : NULL, CL_INVALID_BINARY, code);
}

PMM_EXPORT CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program handle, cl_uint device_count,
                                                          const cl_device_id *devices, const char *options,
                                                          void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
    pmm_program *program = from_handle(handle);
    if (program == NULL)
        return loader.clBuildProgram(handle, device_count, devices, options, notify, data);
    if (device_count != 1 || notify != NULL || data != NULL)
        return CL_INVALID_VALUE; /* CLBlast never does */
    cl_int code = pmm_program_build(seam.host, &loader, program, devices[0], options);
    memcpy(seam.report.failure, program->failure, sizeof seam.report.failure);
    /* CLBlast prints the log of the code that is usual here. */
    return code == CL_BUILD_PROGRAM_FAILURE ? CL_COMPILE_PROGRAM_FAILURE : code;
}

PMM_EXPORT CL_API_ENTRY cl_int CL_API_CALL clReleaseProgram(cl_program handle) {
    pmm_program *program = from_handle(handle);
    if (program != NULL)
        pmm_program_release(&loader, program);
    else if (!pmm_program_is_one(handle))
        return loader.clReleaseProgram(handle);
    /* Else CLBlast's static destructors run, at exit: the driver may be gone, and the process ends anyway. */
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
    if (program == NULL)
        return loader.clGetProgramInfo(handle, property, room, value, size_told);
    if (property == CL_PROGRAM_BINARY_SIZES)
        return give_value(&token_size, sizeof token_size, room, value, size_told);
    if (property == CL_PROGRAM_BINARIES) {
        if (size_told != NULL)
            *size_told = sizeof(unsigned char *);
        if (value != NULL)
            pmm_program_token(program, *(unsigned char **)value);
        return CL_SUCCESS;
    }
    if (program->real == NULL)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    return loader.clGetProgramInfo(program->real, property, room, value, size_told);
}

PMM_EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetProgramBuildInfo(cl_program handle, cl_device_id device,
                                                                 cl_program_build_info property, size_t room,
                                                                 void *value, size_t *size_told) {
    const pmm_program *program = from_handle(handle);
    if (program == NULL)
        return loader.clGetProgramBuildInfo(handle, device, property, room, value, size_told);
    if (program->real == NULL)
        return CL_INVALID_PROGRAM;
    return loader.clGetProgramBuildInfo(program->real, device, property, room, value, size_told);
}

PMM_EXPORT CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program handle, const char *name, cl_int *code) {
    pmm_program *program = from_handle(handle);
    if (program == NULL)
        return loader.clCreateKernel(handle, name, code);
    if (program->real == NULL) {
        if (code != NULL)
            *code = CL_INVALID_PROGRAM_EXECUTABLE;
        return NULL;
    }
    const pmm_host *host = seam.host;
    host->span_begin(host, PORTMM_PHASE_KERNEL_CREATE, "clCreateKernel");
    cl_kernel kernel = loader.clCreateKernel(program->real, name, code);
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
    cl_int code =
        loader.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, wait_count, wait_list, event);
    if (code == CL_SUCCESS && seam.host != NULL)
        note_launch(kernel, dimensions, local);
    return code;
}

/* CLBlast releases the buffer that could not be made, and cannot bear the error: it would end the process. */
PMM_EXPORT CL_API_ENTRY cl_int CL_API_CALL clReleaseMemObject(cl_mem memory) {
    return memory != NULL ? loader.clReleaseMemObject(memory) : CL_SUCCESS;
}
