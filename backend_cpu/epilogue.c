/* SPDX-License-Identifier: Apache-2.0 */
#include "epilogue.h"

#include <math.h>

bool pmm_cpu_has_epilogue(const pmm_gemm *gemm) {
    return gemm->epilogue.bias_kind != PORTMM_BIAS_NONE || gemm->epilogue.activation != PORTMM_ACTIVATION_NONE;
}

pmm_cpu_epilogue pmm_cpu_make_epilogue(const pmm_gemm *gemm, int64_t leading) {
    bool rows = gemm->layout == PORTMM_ROW_MAJOR, per_row = gemm->epilogue.bias_kind == PORTMM_BIAS_PER_ROW;
    return (pmm_cpu_epilogue){.activation = gemm->epilogue.activation,
                              .has_bias = gemm->epilogue.bias_kind != PORTMM_BIAS_NONE,
                              .outer = rows ? gemm->m : gemm->n,
                              .inner = rows ? gemm->n : gemm->m,
                              .leading = leading,
                              .bias_outer = rows == per_row,
                              .bias_inner = rows != per_row};
}

/* erfc, since 1 + erf loses all digits of a large negative x. */
static float activate_f32(portmm_activation activation, float x) {
    if (activation == PORTMM_ACTIVATION_RELU)
        return x < 0 ? 0 : x;
    return activation == PORTMM_ACTIVATION_GELU ? x / 2 * erfcf(x * -0.70710678118654752440f) : x;
}

static double activate_f64(portmm_activation activation, double x) {
    if (activation == PORTMM_ACTIVATION_RELU)
        return x < 0 ? 0 : x;
    return activation == PORTMM_ACTIVATION_GELU ? x / 2 * erfc(x * -0.70710678118654752440) : x;
}

/* `parts`: real numbers in an element; a complex one has no activation. */
#define DEFINE_FINISH(name, real, activate)                                                                            \
    static void name(const pmm_cpu_epilogue *this, int parts, real *c, const real *bias) {                             \
        for (int64_t o = 0; o < this->outer; o++)                                                                      \
            for (int64_t i = 0; i < this->inner; i++)                                                                  \
                for (int part = 0; part < parts; part++) {                                                             \
                    int64_t at = parts * (o * this->leading + i) + part;                                               \
                    real sum = c[at];                                                                                  \
                    if (this->has_bias)                                                                                \
                        sum += bias[parts * (o * this->bias_outer + i * this->bias_inner) + part];                     \
                    c[at] = activate(this->activation, sum);                                                           \
                }                                                                                                      \
    }

DEFINE_FINISH(finish_f32, float, activate_f32)
DEFINE_FINISH(finish_f64, double, activate_f64)

void pmm_cpu_finish(const pmm_cpu_epilogue *epilogue, portmm_dtype dtype, void *c, const void *bias) {
    int parts = dtype == PORTMM_C32 || dtype == PORTMM_C64 ? 2 : 1;
    if (dtype == PORTMM_F64 || dtype == PORTMM_C64)
        finish_f64(epilogue, parts, c, bias);
    else
        finish_f32(epilogue, parts, c, bias);
}
