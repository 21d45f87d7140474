/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions for one type each. */
#include "gemm.h"
#include "status.h"

/* All that the three forms have in common; the scalars follow. */
#define FORM(number)                                                                                                   \
    {                                                                                                                  \
        .dtype = (number), .layout = layout, .transa = transa, .transb = transb, .m = m, .n = n, .k = k, .lda = lda,   \
        .ldb = ldb, .ldc = ldc, .batch_count = 1                                                                       \
    }

static portmm_status take_real(pmm_gemm *gemm, double alpha, double beta) {
    gemm->alpha = alpha;
    gemm->beta = beta;
    return PORTMM_STATUS_SUCCESS;
}

#define TAKE_REAL(name) take_real(&gemm, alpha, beta)
#define TAKE_PAIR(name) pmm_gemm_set_scalars(name, &gemm, alpha, beta)

#define DEFINE_HOST(name, scalar, take, element, number)                                                               \
    portmm_status name(portmm_context *context, portmm_layout layout, portmm_transpose transa,                         \
                       portmm_transpose transb, int64_t m, int64_t n, int64_t k, scalar alpha, const element *a,       \
                       int64_t lda, const element *b, int64_t ldb, scalar beta, element *c, int64_t ldc) {             \
        pmm_gemm gemm = FORM(number);                                                                                  \
        pmm_clear_error();                                                                                             \
        portmm_status status = take(#name);                                                                            \
        if (status != PORTMM_STATUS_SUCCESS)                                                                           \
            return status;                                                                                             \
        return pmm_gemm_on_host(#name, context, &gemm, (const void *[PMM_OPERANDS]){a, b, c, NULL});                   \
    }

#define DEFINE_BUFFERS(name, scalar, take, number)                                                                     \
    portmm_status name(portmm_queue *queue, portmm_layout layout, portmm_transpose transa, portmm_transpose transb,    \
                       int64_t m, int64_t n, int64_t k, scalar alpha, const portmm_buffer *a, int64_t a_offset,        \
                       int64_t lda, const portmm_buffer *b, int64_t b_offset, int64_t ldb, scalar beta,                \
                       portmm_buffer *c, int64_t c_offset, int64_t ldc, size_t wait_count,                             \
                       portmm_event *const *wait_list, portmm_event **event) {                                         \
        pmm_gemm gemm = FORM(number);                                                                                  \
        gemm.a_offset = a_offset;                                                                                      \
        gemm.b_offset = b_offset;                                                                                      \
        gemm.c_offset = c_offset;                                                                                      \
        return enqueue(#name, take(#name), queue, &gemm, a, b, c, wait_count, wait_list, event);                       \
    }

#define DEFINE_STRIDED(name, scalar, take, number)                                                                     \
    portmm_status name(portmm_queue *queue, portmm_layout layout, portmm_transpose transa, portmm_transpose transb,    \
                       int64_t m, int64_t n, int64_t k, scalar alpha, const portmm_buffer *a, int64_t a_offset,        \
                       int64_t lda, int64_t a_stride, const portmm_buffer *b, int64_t b_offset, int64_t ldb,           \
                       int64_t b_stride, scalar beta, portmm_buffer *c, int64_t c_offset, int64_t ldc,                 \
                       int64_t c_stride, int64_t batch_count, size_t wait_count, portmm_event *const *wait_list,       \
                       portmm_event **event) {                                                                         \
        pmm_gemm gemm = FORM(number);                                                                                  \
        gemm.a_offset = a_offset;                                                                                      \
        gemm.b_offset = b_offset;                                                                                      \
        gemm.c_offset = c_offset;                                                                                      \
        gemm.a_stride = a_stride;                                                                                      \
        gemm.b_stride = b_stride;                                                                                      \
        gemm.c_stride = c_stride;                                                                                      \
        gemm.batch_count = batch_count;                                                                                \
        return enqueue(#name, take(#name), queue, &gemm, a, b, c, wait_count, wait_list, event);                       \
    }

/* `taken`: what became of the scalars. */
static portmm_status enqueue(const char *function, portmm_status taken, portmm_queue *queue, pmm_gemm *gemm,
                             const portmm_buffer *a, const portmm_buffer *b, const portmm_buffer *c, size_t wait_count,
                             portmm_event *const *wait_list, portmm_event **event) {
    if (event != NULL)
        *event = NULL;
    if (taken != PORTMM_STATUS_SUCCESS)
        return taken;
    pmm_clear_error();
    return pmm_gemm_on_buffers(function, queue, gemm, (const portmm_buffer *[PMM_OPERANDS]){a, b, c, NULL}, wait_count,
                               wait_list, event);
}

#define DEFINE_TYPE(letter, scalar, take, element, number)                                                             \
    DEFINE_HOST(portmm_##letter##gemm_host, scalar, take, element, number)                                             \
    DEFINE_BUFFERS(portmm_##letter##gemm, scalar, take, number)                                                        \
    DEFINE_STRIDED(portmm_##letter##gemm_strided_batched, scalar, take, number)

DEFINE_TYPE(s, float, TAKE_REAL, float, PORTMM_F32)
DEFINE_TYPE(d, double, TAKE_REAL, double, PORTMM_F64)
DEFINE_TYPE(c, const void *, TAKE_PAIR, void, PORTMM_C32)
DEFINE_TYPE(z, const void *, TAKE_PAIR, void, PORTMM_C64)
DEFINE_TYPE(h, float, TAKE_REAL, uint16_t, PORTMM_F16)
