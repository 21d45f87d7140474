/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

/* ---- what a product consists of ---- */

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

/* Member by member: a product calls it several times, and a small one feels a structure that is built and copied. */
static void set_operand(pmm_operand *operand, const char *name, pmm_buffer *buffer, int64_t leading, int64_t offset,
                        int64_t stride, const int64_t *offsets) {
    operand->name = name;
    operand->buffer = buffer;
    operand->leading = leading;
    operand->offset = offset;
    operand->stride = stride;
    operand->offsets = offsets;
}

static void set_bias(pmm_operand *operand, const pmm_gemm *gemm) {
    const pmm_epilogue *epilogue = &gemm->epilogue;
    int64_t length = epilogue->bias_kind == PORTMM_BIAS_PER_ROW ? gemm->m : gemm->n;
    bool is_there = epilogue->bias_kind != PORTMM_BIAS_NONE;
    operand->shape.outer = is_there;
    operand->shape.inner = is_there ? length : 0;
    if (is_there)
        set_operand(operand, "bias", epilogue->bias, length, epilogue->bias_offset, epilogue->bias_stride, NULL);
    else
        set_operand(operand, "bias", NULL, 0, 0, 0, NULL);
}

void pmm_gemm_get_operands(const pmm_gemm *gemm, pmm_operand operands[PMM_OPERANDS]) {
    pmm_shape shapes[PMM_MATRICES];
    pmm_gemm_shapes(gemm, shapes);
    for (int i = PMM_A; i < PMM_MATRICES; i++)
        operands[i].shape = shapes[i];
    set_operand(&operands[PMM_A], "a", gemm->a, gemm->lda, gemm->a_offset, gemm->a_stride, gemm->a_offsets);
    set_operand(&operands[PMM_B], "b", gemm->b, gemm->ldb, gemm->b_offset, gemm->b_stride, gemm->b_offsets);
    set_operand(&operands[PMM_C], "c", gemm->c, gemm->ldc, gemm->c_offset, gemm->c_stride, gemm->c_offsets);
    set_bias(&operands[PMM_BIAS], gemm);
}

static void place(const pmm_operand *from, pmm_buffer **buffer, int64_t *leading, int64_t *offset, int64_t *stride,
                  const int64_t **offsets) {
    *buffer = from->buffer;
    *leading = from->leading;
    *offset = from->offset;
    *stride = from->stride;
    *offsets = from->offsets;
}

void pmm_gemm_set_operands(pmm_gemm *gemm, const pmm_operand operands[PMM_OPERANDS]) {
    place(&operands[PMM_A], &gemm->a, &gemm->lda, &gemm->a_offset, &gemm->a_stride, &gemm->a_offsets);
    place(&operands[PMM_B], &gemm->b, &gemm->ldb, &gemm->b_offset, &gemm->b_stride, &gemm->b_offsets);
    place(&operands[PMM_C], &gemm->c, &gemm->ldc, &gemm->c_offset, &gemm->c_stride, &gemm->c_offsets);
    gemm->epilogue.bias = operands[PMM_BIAS].buffer;
    gemm->epilogue.bias_offset = operands[PMM_BIAS].offset;
    gemm->epilogue.bias_stride = operands[PMM_BIAS].stride;
}

bool pmm_gemm_is_empty(const pmm_gemm *gemm) {
    return gemm->m == 0 || gemm->n == 0 || gemm->batch_count == 0;
}

bool pmm_gemm_only_scales(const pmm_gemm *gemm) {
    return gemm->k == 0 || (gemm->alpha == 0 && gemm->alpha_im == 0);
}

bool pmm_gemm_has_epilogue(const pmm_gemm *gemm) {
    return gemm->epilogue.activation != PORTMM_ACTIVATION_NONE || gemm->epilogue.bias_kind != PORTMM_BIAS_NONE;
}

bool pmm_gemm_uses(const pmm_gemm *gemm, int which) {
    if (which == PMM_BIAS)
        return gemm->epilogue.bias_kind != PORTMM_BIAS_NONE;
    return which == PMM_C || !pmm_gemm_only_scales(gemm);
}

int64_t pmm_operand_at(const pmm_operand *operand, int64_t i) {
    return operand->offsets != NULL ? operand->offsets[i] : i * operand->stride;
}

pmm_gemm pmm_gemm_single(const pmm_gemm *gemm, int64_t i) {
    pmm_operand operands[PMM_OPERANDS];
    pmm_gemm single = *gemm;
    pmm_gemm_get_operands(gemm, operands);
    for (int which = PMM_A; which < PMM_OPERANDS; which++) {
        operands[which].offset += pmm_operand_at(&operands[which], i);
        operands[which].stride = 0;
        operands[which].offsets = NULL;
    }
    pmm_gemm_set_operands(&single, operands);
    single.batch_count = 1;
    return single;
}

pmm_gemm pmm_gemm_form(const pmm_gemm *gemm) {
    pmm_operand operands[PMM_OPERANDS];
    pmm_gemm form = *gemm;
    pmm_gemm_get_operands(gemm, operands);
    for (int which = PMM_A; which < PMM_OPERANDS; which++) {
        operands[which].buffer = NULL;
        if (operands[which].offsets != NULL)
            operands[which].stride = operands[which].shape.outer * operands[which].leading;
        operands[which].offsets = NULL;
    }
    pmm_gemm_set_operands(&form, operands);
    return form;
}

/* ---- the form ---- */

static portmm_status check_enum(const char *function, const char *parameter, int value, int first, int last,
                                const char *meaning) {
    if (value >= first && value <= last)
        return PORTMM_STATUS_SUCCESS;
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s = %d is not a %s (%d to %d)", function, parameter, value,
                    meaning, first, last);
}

static portmm_status check_size(const char *function, const char *parameter, const char *suffix, int64_t value) {
    if (value >= 0)
        return PORTMM_STATUS_SUCCESS;
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: %s%s = %" PRId64 " must not be negative", function, parameter,
                    suffix, value);
}

static portmm_status check_enums(const char *function, const pmm_gemm *gemm) {
    const struct {
        const char *parameter;
        int value, first, last;
        const char *meaning;
    } enums[] = {{"dtype", (int)gemm->dtype, PORTMM_F32, PMM_DTYPES - 1, "portmm_dtype"},
                 {"layout", (int)gemm->layout, PORTMM_ROW_MAJOR, PORTMM_COL_MAJOR, "portmm_layout"},
                 {"transa", (int)gemm->transa, PORTMM_NO_TRANS, PORTMM_CONJ_TRANS, "portmm_transpose"},
                 {"transb", (int)gemm->transb, PORTMM_NO_TRANS, PORTMM_CONJ_TRANS, "portmm_transpose"},
                 {"activation", (int)gemm->epilogue.activation, PORTMM_ACTIVATION_NONE, PORTMM_ACTIVATION_GELU,
                  "portmm_activation"},
                 {"bias_kind", (int)gemm->epilogue.bias_kind, PORTMM_BIAS_NONE, PORTMM_BIAS_PER_COLUMN, "portmm_bias"}};
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (size_t i = 0; i < sizeof enums / sizeof *enums && status == PORTMM_STATUS_SUCCESS; i++)
        status =
            check_enum(function, enums[i].parameter, enums[i].value, enums[i].first, enums[i].last, enums[i].meaning);
    if (status == PORTMM_STATUS_SUCCESS && gemm->epilogue.activation != PORTMM_ACTIVATION_NONE &&
        pmm_dtype_is_complex(gemm->dtype))
        status = pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: activation = %d needs a real type, not %s", function,
                          (int)gemm->epilogue.activation, pmm_dtype_name(gemm->dtype));
    return status;
}

static portmm_status check_leading(const char *function, const pmm_operand *operand) {
    int64_t least = operand->shape.inner > 1 ? operand->shape.inner : 1;
    if (operand->leading >= least)
        return PORTMM_STATUS_SUCCESS;
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT, "%s: ld%s = %" PRId64 " must be at least %" PRId64, function,
                    operand->name, operand->leading, least);
}

static portmm_status check_places(const char *function, const pmm_operand *operand, int64_t batch_count) {
    portmm_status status = check_size(function, operand->name, "_stride", operand->stride);
    for (int64_t i = 0; operand->offsets != NULL && i < batch_count && status == PORTMM_STATUS_SUCCESS; i++)
        if (operand->offsets[i] < 0)
            status = pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                              "%s: %s_offsets[%" PRId64 "] = %" PRId64 " must not be negative", function, operand->name,
                              i, operand->offsets[i]);
    return status;
}

/* Elements from the start of a matrix to its end. Arguments are not negative; outer and inner are at least 1. */
static bool count_elements(pmm_shape shape, int64_t leading, int64_t *count) {
    if (shape.outer > 1 && leading > (INT64_MAX - shape.inner) / (shape.outer - 1))
        return false;
    *count = (shape.outer - 1) * leading + shape.inner;
    return true;
}

/* Whether two matrices of one shape, `distance` elements apart, share an element; it need not be the first that reaches
 * the second: runs may interleave. */
static bool is_overlap(const pmm_operand *operand, int64_t distance) {
    int64_t runs = distance / operand->leading; /* the run of the first matrix where the second begins */
    int64_t into = distance % operand->leading;
    return (runs < operand->shape.outer && into < operand->shape.inner) ||
           (runs + 1 < operand->shape.outer && operand->leading - into < operand->shape.inner);
}

static int compare_offsets(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static portmm_status check_listed_results(const char *function, const pmm_operand *c, int64_t batch_count,
                                          int64_t extent) {
    size_t count = (size_t)batch_count;
    int64_t *sorted = count <= SIZE_MAX / sizeof *sorted ? malloc(count * sizeof *sorted) : NULL;
    if (sorted == NULL)
        return pmm_fail(PORTMM_STATUS_OUT_OF_MEMORY, "%s: no memory to check c_offsets", function);
    memcpy(sorted, c->offsets, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_offsets);
    portmm_status status = PORTMM_STATUS_SUCCESS;
    for (size_t i = 0; i < count && status == PORTMM_STATUS_SUCCESS; i++)
        for (size_t j = i + 1; j < count && sorted[j] - sorted[i] < extent && status == PORTMM_STATUS_SUCCESS; j++)
            if (is_overlap(c, sorted[j] - sorted[i]))
                status = pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                                  "%s: c_offsets has %" PRId64 " and %" PRId64
                                  ": these two results would overlap, with ldc = %" PRId64,
                                  function, sorted[i], sorted[j], c->leading);
    free(sorted);
    return status;
}

/* No two results of a batch share an element. */
static portmm_status check_results(const char *function, const pmm_operand *c, int64_t batch_count) {
    int64_t extent;
    if (batch_count < 2 || !count_elements(c->shape, c->leading, &extent))
        return PORTMM_STATUS_SUCCESS; /* too large for memory: seen by the check of its range */
    if (c->offsets != NULL)
        return check_listed_results(function, c, batch_count, extent);
    for (int64_t i = 1; i < batch_count && (c->stride == 0 || i <= (extent - 1) / c->stride); i++)
        if (is_overlap(c, i * c->stride))
            return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                            "%s: c_stride = %" PRId64 " lets results 0 and %" PRId64 " of the batch overlap", function,
                            c->stride, i);
    return PORTMM_STATUS_SUCCESS;
}

portmm_status pmm_gemm_check_form(const char *function, const pmm_gemm *gemm) {
    const struct {
        const char *parameter;
        int64_t value;
    } sizes[] = {{"m", gemm->m}, {"n", gemm->n}, {"k", gemm->k}, {"batch_count", gemm->batch_count}};
    portmm_status status = check_enums(function, gemm);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && status == PORTMM_STATUS_SUCCESS; i++)
        status = check_size(function, sizes[i].parameter, "", sizes[i].value);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    pmm_operand operands[PMM_OPERANDS];
    pmm_gemm_get_operands(gemm, operands);
    for (int i = PMM_A; i < PMM_MATRICES && status == PORTMM_STATUS_SUCCESS; i++)
        status = check_leading(function, &operands[i]);
    for (int i = PMM_A; i < PMM_OPERANDS && status == PORTMM_STATUS_SUCCESS; i++)
        status = check_places(function, &operands[i], gemm->batch_count);
    if (status == PORTMM_STATUS_SUCCESS && !pmm_gemm_is_empty(gemm))
        status = check_results(function, &operands[PMM_C], gemm->batch_count);
    return status;
}

/* ---- places ---- */

static int64_t find_last_place(const pmm_operand *operand, int64_t batch_count) {
    if (operand->offsets == NULL)
        return operand->stride > 0 && batch_count - 1 > INT64_MAX / operand->stride
                   ? INT64_MAX
                   : (batch_count - 1) * operand->stride;
    int64_t last = 0;
    for (int64_t i = 0; i < batch_count; i++)
        last = operand->offsets[i] > last ? operand->offsets[i] : last;
    return last;
}

bool pmm_operand_extent(const pmm_operand *operand, int64_t batch_count, int64_t *count) {
    int64_t one;
    *count = 0;
    if (operand->shape.outer == 0 || operand->shape.inner == 0 || batch_count == 0)
        return true;
    int64_t last = find_last_place(operand, batch_count);
    if (!count_elements(operand->shape, operand->leading, &one) || last > INT64_MAX - one)
        return false;
    *count = last + one;
    return true;
}

bool pmm_element_bytes(int64_t count, portmm_dtype dtype, size_t *bytes) {
    if ((uint64_t)count > PTRDIFF_MAX / pmm_dtype_size(dtype))
        return false;
    *bytes = (size_t)count * pmm_dtype_size(dtype);
    return true;
}

portmm_status pmm_gemm_check_range(const char *function, const pmm_operand *operand, int64_t batch_count,
                                   portmm_dtype dtype, size_t size) {
    portmm_status status = check_size(function, operand->name, "_offset", operand->offset);
    if (status != PORTMM_STATUS_SUCCESS)
        return status;
    int64_t count, room = (int64_t)(size / pmm_dtype_size(dtype));
    if (pmm_operand_extent(operand, batch_count, &count) && operand->offset <= room && count <= room - operand->offset)
        return PORTMM_STATUS_SUCCESS;
    if (batch_count == 1)
        return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                        "%s: matrix %s (%" PRId64 " runs of %" PRId64 " elements, ld%s = %" PRId64
                        ", %s_offset = %" PRId64 ") reaches outside its buffer of %" PRId64 " elements",
                        function, operand->name, operand->shape.outer, operand->shape.inner, operand->name,
                        operand->leading, operand->name, operand->offset, room);
    return pmm_fail(PORTMM_STATUS_INVALID_ARGUMENT,
                    "%s: batch of %" PRId64 " matrices %s (%" PRId64 " runs of %" PRId64 " elements, ld%s = %" PRId64
                    ", %s_offset = %" PRId64 ", %s %" PRId64 ") reaches outside its buffer of %" PRId64 " elements",
                    function, batch_count, operand->name, operand->shape.outer, operand->shape.inner, operand->name,
                    operand->leading, operand->name, operand->offset,
                    operand->offsets != NULL ? "largest of the offsets" : "stride",
                    operand->offsets != NULL ? find_last_place(operand, batch_count) : operand->stride, room);
}

/* ---- engines ---- */

static portmm_status refuse_size(const char *function, const pmm_engine *engine, const char *parameter,
                                 const char *name, int64_t value, int64_t largest) {
    return pmm_fail(PORTMM_STATUS_UNSUPPORTED,
                    "%s: %s%s = %" PRId64 " is more than engine %s can index (%" PRId64 "); split the product",
                    function, parameter, name, value, engine->name, largest);
}

bool pmm_gemm_is_for_engine(const pmm_engine *engine, const pmm_gemm *gemm) {
    return (engine->dtypes & PORTMM_DTYPE_BIT(gemm->dtype)) != 0 &&
           (!pmm_gemm_has_epilogue(gemm) || (engine->features & PMM_ENGINE_EPILOGUES) != 0);
}

portmm_status pmm_gemm_check_engine(const char *function, const pmm_engine *engine, const pmm_gemm *gemm) {
    if ((engine->dtypes & PORTMM_DTYPE_BIT(gemm->dtype)) == 0)
        return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "%s: engine %s has no products of type %s", function, engine->name,
                        pmm_dtype_name(gemm->dtype));
    if (pmm_gemm_has_epilogue(gemm) && (engine->features & PMM_ENGINE_EPILOGUES) == 0)
        return pmm_fail(PORTMM_STATUS_UNSUPPORTED, "%s: engine %s has no bias and no activation", function,
                        engine->name);
    const struct {
        const char *parameter;
        int64_t value;
    } sizes[] = {{"m", gemm->m}, {"n", gemm->n}, {"k", gemm->k}, {"batch_count", gemm->batch_count}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value > engine->max_size)
            return refuse_size(function, engine, sizes[i].parameter, "", sizes[i].value, engine->max_size);
    pmm_operand operands[PMM_OPERANDS];
    pmm_gemm_get_operands(gemm, operands);
    for (int i = PMM_A; i < PMM_MATRICES; i++)
        if (operands[i].leading > engine->max_size)
            return refuse_size(function, engine, "ld", operands[i].name, operands[i].leading, engine->max_size);
    for (int i = PMM_A; i < PMM_OPERANDS; i++) {
        int64_t count, last = INT64_MAX; /* if it cannot be told */
        if (pmm_operand_extent(&operands[i], gemm->batch_count, &count) && operands[i].offset <= INT64_MAX - count)
            last = operands[i].offset + count - 1;
        if (last > engine->max_index)
            return refuse_size(function, engine, "last element of ", operands[i].name, last, engine->max_index);
    }
    return PORTMM_STATUS_SUCCESS;
}
