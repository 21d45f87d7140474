/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of OpenCL 1.2 in use, as a table filled from the ICD loader that is found at run time. */
#ifndef PMM_CL_API_H
#define PMM_CL_API_H

#ifndef CL_TARGET_OPENCL_VERSION /* clblast.pc defines it, too */
#define CL_TARGET_OPENCL_VERSION 120
#endif
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <portmm/backend.h>

#define PMM_CL_FUNCTIONS(X)                                                                                            \
    X(clGetPlatformIDs)                                                                                                \
    X(clGetPlatformInfo)                                                                                               \
    X(clGetDeviceIDs)                                                                                                  \
    X(clGetDeviceInfo)                                                                                                 \
    X(clGetExtensionFunctionAddress)                                                                                   \
    X(clCreateContext)                                                                                                 \
    X(clRetainContext)                                                                                                 \
    X(clGetContextInfo)                                                                                                \
    X(clReleaseContext)                                                                                                \
    X(clCreateCommandQueue)                                                                                            \
    X(clRetainCommandQueue)                                                                                            \
    X(clGetCommandQueueInfo)                                                                                           \
    X(clReleaseCommandQueue)                                                                                           \
    X(clFlush)                                                                                                         \
    X(clFinish)                                                                                                        \
    X(clCreateBuffer)                                                                                                  \
    X(clRetainMemObject)                                                                                               \
    X(clGetMemObjectInfo)                                                                                              \
    X(clEnqueueMapBuffer)                                                                                              \
    X(clEnqueueUnmapMemObject)                                                                                         \
    X(clGetEventProfilingInfo)                                                                                         \
    X(clReleaseMemObject)                                                                                              \
    X(clEnqueueReadBuffer)                                                                                             \
    X(clEnqueueWriteBuffer)                                                                                            \
    X(clEnqueueReadBufferRect)                                                                                         \
    X(clEnqueueWriteBufferRect)                                                                                        \
    X(clEnqueueMarkerWithWaitList)                                                                                     \
    X(clEnqueueBarrierWithWaitList)                                                                                    \
    X(clWaitForEvents)                                                                                                 \
    X(clRetainEvent)                                                                                                   \
    X(clReleaseEvent)                                                                                                  \
    X(clCreateProgramWithSource)                                                                                       \
    X(clCreateProgramWithBinary)                                                                                       \
    X(clBuildProgram)                                                                                                  \
    X(clGetProgramInfo)                                                                                                \
    X(clGetProgramBuildInfo)                                                                                           \
    X(clReleaseProgram)                                                                                                \
    X(clCreateKernel)                                                                                                  \
    X(clSetKernelArg)                                                                                                  \
    X(clReleaseKernel)                                                                                                 \
    X(clEnqueueNDRangeKernel)

/* The headers' own table of functions; only those above are filled in. */
typedef cl_icd_dispatch pmm_cl_api;

/* Loads the loader. UNAVAILABLE: there is none. */
portmm_status pmm_cl_load(const pmm_host *host, pmm_cl_api *api);

#endif
