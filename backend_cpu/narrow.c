/* SPDX-License-Identifier: Apache-2.0 */
#include "narrow.h"

#include <stdlib.h>

#include "cpu.h"
#include "epilogue.h"

/* A matrix of 16-bit elements and, without padding, the same in f32. */
typedef struct widened {
    uint16_t *narrow;
    int64_t outer, inner, leading; /* `leading` of the narrow one */
    float *wide;                   /* NULL until allocated */
} widened;

enum { A, B, C, BIAS, OPERANDS };

static widened describe(const pmm_gemm *gemm, pmm_buffer *buffer, int64_t offset, portmm_transpose transpose,
                        int64_t rows, int64_t columns, int64_t leading) {
    bool rows_are_runs = (gemm->layout == PORTMM_ROW_MAJOR) == (transpose == PORTMM_NO_TRANS);
    return (widened){.narrow = (uint16_t *)(void *)buffer->memory + offset,
                     .outer = rows_are_runs ? rows : columns,
                     .inner = rows_are_runs ? columns : rows,
                     .leading = leading};
}

/* So much smaller than what is in memory already that the size cannot overflow. */
static bool allocate(widened *this) {
    this->wide = malloc((size_t)this->outer * (size_t)this->inner * sizeof *this->wide);
    return this->wide != NULL;
}

static void widen(const widened *this, portmm_dtype dtype) {
    for (int64_t o = 0; o < this->outer; o++) {
        const uint16_t *from = this->narrow + o * this->leading;
        float *to = this->wide + o * this->inner;
        for (int64_t i = 0; i < this->inner; i++)
            to[i] = dtype == PORTMM_F16 ? pmm_f32_from_f16(from[i]) : pmm_f32_from_bf16(from[i]);
    }
}

static void narrow(const widened *this, portmm_dtype dtype) {
    for (int64_t o = 0; o < this->outer; o++) {
        const float *from = this->wide + o * this->inner;
        uint16_t *to = this->narrow + o * this->leading;
        for (int64_t i = 0; i < this->inner; i++)
            to[i] = dtype == PORTMM_F16 ? pmm_f16_from_f32(from[i]) : pmm_bf16_from_f32(from[i]);
    }
}

portmm_status pmm_cpu_narrow_gemm(const pmm_host *host, pmm_cpu_sgemm_fn *sgemm, const pmm_gemm *gemm) {
    const pmm_epilogue *epilogue = &gemm->epilogue;
    widened all[OPERANDS] = {[A] = describe(gemm, gemm->a, gemm->a_offset, gemm->transa, gemm->m, gemm->k, gemm->lda),
                             [B] = describe(gemm, gemm->b, gemm->b_offset, gemm->transb, gemm->k, gemm->n, gemm->ldb),
                             [C] =
                                 describe(gemm, gemm->c, gemm->c_offset, PORTMM_NO_TRANS, gemm->m, gemm->n, gemm->ldc)};
    if (epilogue->bias_kind != PORTMM_BIAS_NONE)
        all[BIAS] = (widened){.narrow = (uint16_t *)(void *)epilogue->bias->memory + epilogue->bias_offset,
                              .outer = 1,
                              .inner = epilogue->bias_kind == PORTMM_BIAS_PER_ROW ? gemm->m : gemm->n};
    bool has_room = true;
    for (int i = A; i < OPERANDS && has_room; i++)
        has_room = all[i].outer == 0 || allocate(&all[i]);
    if (has_room) {
        for (int i = A; i < OPERANDS; i++)
            if (i != C || pmm_gemm_reads_c(gemm))
                widen(&all[i], gemm->dtype);
        sgemm((int)gemm->layout, (int)gemm->transa, (int)gemm->transb, (int)gemm->m, (int)gemm->n, (int)gemm->k,
              (float)gemm->alpha, all[A].wide, (int)all[A].inner, all[B].wide, (int)all[B].inner, (float)gemm->beta,
              all[C].wide, (int)all[C].inner);
        if (pmm_cpu_has_epilogue(gemm)) {
            const pmm_cpu_epilogue finish = pmm_cpu_make_epilogue(gemm, all[C].inner);
            pmm_cpu_finish(&finish, PORTMM_F32, all[C].wide, all[BIAS].wide);
        }
        narrow(&all[C], gemm->dtype);
    }
    for (int i = A; i < OPERANDS; i++)
        free(all[i].wide);
    return has_room ? PORTMM_STATUS_SUCCESS
                    : host->fail(PORTMM_STATUS_OUT_OF_MEMORY, "cpu: no memory to hold the matrices in f32");
}
