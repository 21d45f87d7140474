/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that differ from the one that is here: the test driver poses as each. A product is right, or it is refused
 * with the status that says so and a text that tells what to do or what the device lacks; memory is untouched then.
 */
#include <stdio.h>
#include <string.h>

#include "driver/control.h"
#include "support/product.h"
#include "support/suite.h"

enum { EITHER, RIGHT, REFUSED }; /* what has to come of a product */

typedef struct pose {
    const char *settings, *engine; /* NULL: policy `fast` */
    portmm_dtype dtype;
    int outcome;
} pose;

/* Every engine on every device; where the outcome is known, it is told. Local memory: 0.5 KiB holds no tile. */
static const pose poses[] = {
    {"fp64=0", "starter", PORTMM_F32, RIGHT},
    {"fp64=0", "clblast", PORTMM_F32, RIGHT},
    {"fp64=0", "starter", PORTMM_F64, REFUSED},
    {"fp64=0", "clblast", PORTMM_F64, REFUSED},
    {"fp64=0", NULL, PORTMM_F64, REFUSED},
    {"type=gpu local=512", "starter", PORTMM_F64, RIGHT},
    {"type=gpu local=512", "clblast", PORTMM_F32, EITHER},
    {"type=gpu local=512", NULL, PORTMM_F32, RIGHT},
    {"type=gpu group=16", "starter", PORTMM_F32, RIGHT},
    {"type=gpu group=16", "clblast", PORTMM_F32, EITHER},
    {"type=gpu group=16", NULL, PORTMM_F32, RIGHT},
    {"type=gpu group=1", "starter", PORTMM_F64, RIGHT},
    {"type=gpu unified=0", "starter", PORTMM_F32, RIGHT},
    {"type=gpu unified=0", "clblast", PORTMM_F32, RIGHT},
    {"type=cpu unified=0", NULL, PORTMM_F64, RIGHT},
    {"alloc=256", "starter", PORTMM_F32, REFUSED},
    {"alloc=256", "clblast", PORTMM_F32, REFUSED},
    {"alloc=256", NULL, PORTMM_F64, REFUSED},
};
enum { POSES = sizeof poses / sizeof *poses };

static test_reference references[2]; /* f32, f64 */

static void check_refusal(const pose *this, portmm_status status) {
    const char *text = portmm_last_error();
    ck_assert_msg(this->outcome != RIGHT, "%s, engine %s: refused: %s", this->settings, this->engine, text);
    ck_assert_msg(status == PORTMM_STATUS_UNSUPPORTED || status == PORTMM_STATUS_OUT_OF_MEMORY ||
                      status == PORTMM_STATUS_UNAVAILABLE,
                  "%s, engine %s: %s: %s", this->settings, this->engine, portmm_status_name(status), text);
    ck_assert_msg(strlen(text) > 20, "%s, engine %s: \"%s\"", this->settings, this->engine, text);
    ck_assert_msg(strncmp(this->settings, "alloc=256", 9) != 0 || strstr(text, "has 256 bytes") != NULL,
                  "the largest buffer is not named: %s", text);
    printf("%s, engine %s: %s\n", this->settings, this->engine != NULL ? this->engine : "by itself", text);
}

START_TEST(right_or_refused) {
    const pose *this = &poses[_i];
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    portmm_context *context = NULL;
    options.backend = "opencl";
    options.engine = this->engine;
    const test_product product = {.reference = &references[this->dtype == PORTMM_F64],
                                  .form = test_get_form(0),
                                  .alpha = 1,
                                  .places = &test_tight};
    test_operands operands;
    char why[TEST_WHY_SIZE];
    test_control_remember_objects();
    test_control_set("%s", this->settings);
    portmm_status status = portmm_context_create(&options, &context);
    test_operands_init(&operands, &product);
    if (status == PORTMM_STATUS_SUCCESS)
        status = test_call_host(context, &operands.call, test_stored_start(&operands.a), test_stored_start(&operands.b),
                                test_stored_start(&operands.c));
    if (status != PORTMM_STATUS_SUCCESS) {
        check_refusal(this, status);
    } else {
        ck_assert_msg(test_operands_judge(&operands, &product, why), "%s: %s", this->settings, why);
        ck_assert_msg(this->outcome != REFUSED, "%s, engine %s: not refused", this->settings, this->engine);
    }
    test_operands_fini(&operands);
    portmm_context_destroy(context);
    test_control_set(" ");
    test_control_expect_no_more_objects(this->settings);
}
END_TEST

int main(void) {
    if (!test_control_init())
        return test_skip("opencl");
    test_reference_init(&references[0], PORTMM_F32, TEST_INTEGERS, 37, 33, 29);
    test_reference_init(&references[1], PORTMM_F64, TEST_INTEGERS, 37, 33, 29);
    Suite *suite = suite_create("devices");
    TCase *cases = tcase_create("devices");
    tcase_add_loop_test(cases, right_or_refused, 0, POSES);
    suite_add_tcase(suite, cases);
    int code = test_main(suite);
    test_reference_fini(&references[0]);
    test_reference_fini(&references[1]);
    return code;
}
