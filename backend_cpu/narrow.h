/* SPDX-License-Identifier: Apache-2.0 */
/* Products of 16-bit types: converted to f32, multiplied there, and rounded once at the end. */
#ifndef PMM_CPU_NARROW_H
#define PMM_CPU_NARROW_H

#include <portmm/backend.h>

/* cblas.h of a build with 32-bit integers; enumerations are passed as int. */
typedef void pmm_cpu_sgemm_fn(int layout, int transa, int transb, int m, int n, int k, float alpha, const float *a,
                              int lda, const float *b, int ldb, float beta, float *c, int ldc);

/* One product, with its epilogue. OUT_OF_MEMORY: no room for the matrices in f32. */
portmm_status pmm_cpu_narrow_gemm(const pmm_host *host, pmm_cpu_sgemm_fn *sgemm, const pmm_gemm *gemm);

#endif
