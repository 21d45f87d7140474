/* SPDX-License-Identifier: Apache-2.0 */
/* The starter's kernels on the host. */
#ifndef TEST_CUDA_KERNELS_H
#define TEST_CUDA_KERNELS_H

#include "starter/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif
/* Runs kernel `name` for f32 or f64. 0: there is none, or it is not one of `threads` threads. */
int test_cuda_run_kernel(const char *name, int is_f64, const pmm_cuda_product *product, unsigned blocks, unsigned batch,
                         unsigned threads);
#ifdef __cplusplus
}
#endif

#endif
