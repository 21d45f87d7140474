/* SPDX-License-Identifier: Apache-2.0 */
/* The starter's compiled kernels: a file made by the build, see CMakeLists.txt. */
#ifndef PMM_CUDA_CODE_H
#define PMM_CUDA_CODE_H

#include <portmm/portmm.h>

typedef struct pmm_cuda_code {
    portmm_dtype dtype;
    int capability;   /* 90: made for compute capability 9.0 */
    const char *hash; /* of a text, which is PTX; NULL: machine code */
    const void *bytes;
    size_t size; /* of a text with its terminating zero */
} pmm_cuda_code;

extern const pmm_cuda_code pmm_cuda_codes[];
extern const size_t pmm_cuda_code_count;

#endif
