/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the CUDA driver in use, as a table filled from the driver's library that is found at run time. */
#ifndef PMM_CUDA_API_H
#define PMM_CUDA_API_H

#include <cuda.h>
#include <cudaTypedefs.h>

#include <portmm/backend.h>

/* The symbol, with the version that CUDA 11 brought at the latest; and its type. cuda.h makes cuMemAlloc the name of
 * cuMemAlloc_v2 and so on, so calls look as in its manual. */
#define PMM_CUDA_FUNCTIONS(X)                                                                                          \
    X(cuInit, PFN_cuInit_v2000)                                                                                        \
    X(cuDriverGetVersion, PFN_cuDriverGetVersion_v2020)                                                                \
    X(cuGetErrorName, PFN_cuGetErrorName_v6000)                                                                        \
    X(cuGetErrorString, PFN_cuGetErrorString_v6000)                                                                    \
    X(cuDeviceGetCount, PFN_cuDeviceGetCount_v2000)                                                                    \
    X(cuDeviceGet, PFN_cuDeviceGet_v2000)                                                                              \
    X(cuDeviceGetName, PFN_cuDeviceGetName_v2000)                                                                      \
    X(cuDeviceGetAttribute, PFN_cuDeviceGetAttribute_v2000)                                                            \
    X(cuDeviceTotalMem_v2, PFN_cuDeviceTotalMem_v3020)                                                                 \
    X(cuDevicePrimaryCtxRetain, PFN_cuDevicePrimaryCtxRetain_v7000)                                                    \
    X(cuDevicePrimaryCtxRelease_v2, PFN_cuDevicePrimaryCtxRelease_v11000)                                              \
    X(cuCtxPushCurrent_v2, PFN_cuCtxPushCurrent_v4000)                                                                 \
    X(cuCtxPopCurrent_v2, PFN_cuCtxPopCurrent_v4000)                                                                   \
    X(cuCtxGetDevice, PFN_cuCtxGetDevice_v2000)                                                                        \
    X(cuStreamCreate, PFN_cuStreamCreate_v2000)                                                                        \
    X(cuStreamSynchronize, PFN_cuStreamSynchronize_v2000)                                                              \
    X(cuStreamGetCtx, PFN_cuStreamGetCtx_v9020)                                                                        \
    X(cuStreamQuery, PFN_cuStreamQuery_v2000)                                                                          \
    X(cuStreamWaitEvent, PFN_cuStreamWaitEvent_v3020)                                                                  \
    X(cuStreamDestroy_v2, PFN_cuStreamDestroy_v4000)                                                                   \
    X(cuEventCreate, PFN_cuEventCreate_v2000)                                                                          \
    X(cuEventRecord, PFN_cuEventRecord_v2000)                                                                          \
    X(cuEventSynchronize, PFN_cuEventSynchronize_v2000)                                                                \
    X(cuEventElapsedTime, PFN_cuEventElapsedTime_v2000)                                                                \
    X(cuEventDestroy_v2, PFN_cuEventDestroy_v4000)                                                                     \
    X(cuMemAlloc_v2, PFN_cuMemAlloc_v3020)                                                                             \
    X(cuMemFree_v2, PFN_cuMemFree_v3020)                                                                               \
    X(cuMemGetAddressRange_v2, PFN_cuMemGetAddressRange_v3020)                                                         \
    X(cuPointerGetAttribute, PFN_cuPointerGetAttribute_v4000)                                                          \
    X(cuMemcpyHtoDAsync_v2, PFN_cuMemcpyHtoDAsync_v3020)                                                               \
    X(cuMemcpyDtoHAsync_v2, PFN_cuMemcpyDtoHAsync_v3020)                                                               \
    X(cuMemcpy2DAsync_v2, PFN_cuMemcpy2DAsync_v3020)                                                                   \
    X(cuModuleLoadData, PFN_cuModuleLoadData_v2000)                                                                    \
    X(cuModuleGetFunction, PFN_cuModuleGetFunction_v2000)                                                              \
    X(cuModuleUnload, PFN_cuModuleUnload_v2000)                                                                        \
    X(cuLaunchKernel, PFN_cuLaunchKernel_v4000)                                                                        \
    X(cuLinkCreate_v2, PFN_cuLinkCreate_v6050)                                                                         \
    X(cuLinkAddData_v2, PFN_cuLinkAddData_v6050)                                                                       \
    X(cuLinkComplete, PFN_cuLinkComplete_v5050)                                                                        \
    X(cuLinkDestroy, PFN_cuLinkDestroy_v5050)

typedef struct pmm_cuda_api {
#define PMM_CUDA_MEMBER(symbol, type) type symbol;
    PMM_CUDA_FUNCTIONS(PMM_CUDA_MEMBER)
#undef PMM_CUDA_MEMBER
} pmm_cuda_api;

/* Loads the driver's library. UNAVAILABLE: there is none, or it is too old. */
portmm_status pmm_cuda_load(const pmm_host *host, pmm_cuda_api *api);

#endif
