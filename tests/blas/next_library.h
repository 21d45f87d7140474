/* SPDX-License-Identifier: Apache-2.0 */
/* A BLAS library behind ours, whose products take as long as the test says. */
#ifndef NEXT_LIBRARY_H
#define NEXT_LIBRARY_H

typedef struct next_control {
    int gemm_ms;
    _Atomic(int) products; /* counted */
} next_control;

#endif
