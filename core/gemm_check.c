/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm_check.h"

#include <inttypes.h>

#include "status.h"

size_t pmm_dtype_size(portmm_dtype dtype) {
    return dtype == PORTMM_F64 ? sizeof(double) : sizeof(float);
}

static pmm_shape make_shape(portmm_layout layout, portmm_transpose transpose, int64_t rows, int64_t columns) {
    bool inner_is_columns = (layout == PORTMM_ROW_MAJOR) == (transpose == PORTMM_NO_TRANS);
    return inner_is_columns ? (pmm_shape){.outer = rows, .inner = columns}
                            : (pmm_shape){.outer = columns, .inner = rows};
}

void pmm_gemm_shapes(const pmm_gemm *gemm, pmm_shape shapes[PMM_MATRICES]) {
    shapes[PMM_A] = make_shape(gemm->layout, gemm->transa, gemm->m, gemm->k);
    shapes[PMM_B] = make_shape(gemm->layout, gemm->transb, gemm->k, gemm->n);
    shapes[PMM_C] = make_shape(gemm->layout, PORTMM_NO_TRANS, gemm->m, gemm->n);
}

bool pmm_gemm_only_scales(const pmm_gemm *gemm) {
    return gemm->k == 0 || gemm->alpha == 0;
}

static portmm_status check_enum(const char *function, const char *parameter, int value, int first, int last,
                                const char *meaning) {
    if (value >= first && value <= last)
        return PORTMM_STATUS_SUCCESS;
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s = %d is not a %s (%d to %d)", function, parameter, value,
                    meaning, first, last);
}

static portmm_status check_size(const char *function, const char *parameter, int64_t value) {
    if (value >= 0)
        return PORTMM_STATUS_SUCCESS;
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s = %" PRId64 " must not be negative", function, parameter,
                    value);
}

static portmm_status check_leading(const char *function, const char *parameter, int64_t leading, pmm_shape shape) {
    int64_t least = shape.inner > 1 ? shape.inner : 1;
    if (leading >= least)
        return PORTMM_STATUS_SUCCESS;
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s = %" PRId64 " must be at least %" PRId64, function,
                    parameter, leading, least);
}

portmm_status pmm_gemm_check_form(const char *function, const pmm_gemm *gemm) {
    const struct {
        const char *parameter;
        int value, first, last;
        const char *meaning;
    } enums[] = {{"layout", (int)gemm->layout, PORTMM_ROW_MAJOR, PORTMM_COL_MAJOR, "portmm_layout"},
                 {"transa", (int)gemm->transa, PORTMM_NO_TRANS, PORTMM_CONJ_TRANS, "portmm_transpose"},
                 {"transb", (int)gemm->transb, PORTMM_NO_TRANS, PORTMM_CONJ_TRANS, "portmm_transpose"}};
    const struct {
        const char *parameter;
        int64_t value;
    } sizes[] = {{"m", gemm->m}, {"n", gemm->n}, {"k", gemm->k}};
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (int i = 0; i < 3 && status == PORTMM_STATUS_SUCCESS; i++)
        status =
            check_enum(function, enums[i].parameter, enums[i].value, enums[i].first, enums[i].last, enums[i].meaning);
    for (int i = 0; i < 3 && status == PORTMM_STATUS_SUCCESS; i++)
        status = check_size(function, sizes[i].parameter, sizes[i].value);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(gemm, shapes);
    status = check_leading(function, "lda", gemm->lda, shapes[PMM_A]);
    if (status == PORTMM_STATUS_SUCCESS)
        status = check_leading(function, "ldb", gemm->ldb, shapes[PMM_B]);
    if (status == PORTMM_STATUS_SUCCESS)
        status = check_leading(function, "ldc", gemm->ldc, shapes[PMM_C]);
    return status;
}

/* Elements from the start of a matrix to its end. Arguments are not negative; outer and inner are at least 1. */
static bool count_elements(pmm_shape shape, int64_t leading, int64_t *count) {
    if (shape.outer > 1 && leading > (INT64_MAX - shape.inner) / (shape.outer - 1))
        return false;
    *count = (shape.outer - 1) * leading + shape.inner;
    return true;
}

bool pmm_shape_bytes(pmm_shape shape, int64_t leading, portmm_dtype dtype, size_t *bytes) {
    int64_t count;
    if (shape.outer == 0 || shape.inner == 0) {
        *bytes = 0;
        return true;
    }
    if (!count_elements(shape, leading, &count) || (uint64_t)count > PTRDIFF_MAX / pmm_dtype_size(dtype))
        return false;
    *bytes = (size_t)count * pmm_dtype_size(dtype);
    return true;
}

portmm_status pmm_gemm_check_range(const char *function, const char *matrix, pmm_shape shape, int64_t leading,
                                   int64_t offset, portmm_dtype dtype, size_t size) {
    if (offset < 0)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s_offset = %" PRId64 " must not be negative", function,
                        matrix, offset);
    int64_t count, room = (int64_t)(size / pmm_dtype_size(dtype));
    if (!count_elements(shape, leading, &count) || offset > room || count > room - offset)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "%s: matrix %s (%" PRId64 " runs of %" PRId64 " elements, ld%s = %" PRId64
                        ", %s_offset = %" PRId64 ") reaches outside its buffer of %" PRId64 " elements",
                        function, matrix, shape.outer, shape.inner, matrix, leading, matrix, offset, room);
    return PORTMM_STATUS_SUCCESS;
}

static portmm_status refuse_size(const char *function, const pmm_engine *engine, const char *parameter, int64_t value,
                                 int64_t largest) {
    return pmm_fail(PORTMM_STATUS_UNSUPPORTED,
                    "%s: %s = %" PRId64 " is more than engine %s can index (%" PRId64 "); split the product", function,
                    parameter, value, engine->name, largest);
}

portmm_status pmm_gemm_check_engine(const char *function, const pmm_engine *engine, const pmm_gemm *gemm) {
    if ((engine->dtypes & PORTMM_DTYPE_BIT(gemm->dtype)) == 0)
        return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "%s: engine %s has no products of type %d", function, engine->name,
                        (int)gemm->dtype);
    const struct {
        const char *parameter;
        int64_t value;
    } sizes[] = {{"m", gemm->m},     {"n", gemm->n},     {"k", gemm->k},
                 {"lda", gemm->lda}, {"ldb", gemm->ldb}, {"ldc", gemm->ldc}};
    for (int i = 0; i < 6; i++)
        if (sizes[i].value > engine->max_size)
            return refuse_size(function, engine, sizes[i].parameter, sizes[i].value, engine->max_size);
    const struct {
        const char *parameter;
        int64_t leading, offset;
    } matrices[PMM_MATRICES] = {{"last element of a", gemm->lda, gemm->a_offset},
                                {"last element of b", gemm->ldb, gemm->b_offset},
                                {"last element of c", gemm->ldc, gemm->c_offset}};
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(gemm, shapes);
    for (int i = 0; i < PMM_MATRICES; i++) {
        int64_t count, last = INT64_MAX; /* if it cannot be told */
        if (count_elements(shapes[i], matrices[i].leading, &count) && matrices[i].offset <= INT64_MAX - count)
            last = matrices[i].offset + count - 1;
        if (last > engine->max_index)
            return refuse_size(function, engine, matrices[i].parameter, last, engine->max_index);
    }
    return PORTMM_STATUS_SUCCESS;
}
