/* SPDX-License-Identifier: Apache-2.0 */
/* What the engines have in common. */
#include "cuda_state.h"

bool pmm_cuda_has_lists(const pmm_gemm *gemm) {
    return gemm->batch_count > 1 && (gemm->a_offsets != NULL || gemm->b_offsets != NULL || gemm->c_offsets != NULL);
}

static int64_t locate(int64_t offset, int64_t stride, const int64_t *offsets, int64_t number) {
    return offset + (offsets != NULL ? offsets[number] : number * stride);
}

pmm_cuda_place pmm_cuda_place_in_batch(const pmm_gemm *gemm, int64_t number) {
    if (gemm->batch_count == 1) /* strides and lists mean nothing */
        return (pmm_cuda_place){gemm->a_offset, gemm->b_offset, gemm->c_offset};
    return (pmm_cuda_place){locate(gemm->a_offset, gemm->a_stride, gemm->a_offsets, number),
                            locate(gemm->b_offset, gemm->b_stride, gemm->b_offsets, number),
                            locate(gemm->c_offset, gemm->c_stride, gemm->c_offsets, number)};
}

typedef struct product {
    pmm_engine_state *engine;
    const pmm_gemm *gemm;
    pmm_cuda_launch *launch;
} product;

static portmm_status launch_product(pmm_queue *queue, void *what) {
    const product *this = what;
    return this->launch(this->engine, queue, this->gemm);
}

portmm_status pmm_cuda_engine_gemm(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                                   pmm_event *const *wait_list, pmm_event **event, pmm_cuda_launch *launch) {
    product this = {engine, gemm, launch};
    return pmm_cuda_enqueue(queue, wait_count, wait_list, event, launch_product, &this);
}

bool pmm_cuda_never_wants_capture(pmm_engine_state *engine) {
    (void)engine;
    return false;
}

void pmm_cuda_capture_nothing(pmm_engine_state *engine) {
    (void)engine;
}
