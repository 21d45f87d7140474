/* SPDX-License-Identifier: Apache-2.0 */
/* A product with a wrong argument: the status, a text that names the BLAS parameter and its value, and nothing changed.
 * README.md lists the cases. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/guarded.h"
#include "support/product.h"
#include "support/suite.h"

/* ---- a right call, whose arguments are then spoilt one by one ---- */

enum { M = 5, N = 6, K = 7 };

typedef struct stand {
    portmm_context *context;
    portmm_queue *queue;
    test_reference reference;
    test_product product;
    test_operands operands;
} stand;

static void open_stand(stand *this, int target, int form) {
    this->context = test_get_context(target);
    TEST_OK(portmm_queue_create(this->context, &this->queue));
    test_reference_init(&this->reference, test_get_target(target)->dtype, TEST_INTEGERS, M, N, K);
    this->product = (test_product){
        .reference = &this->reference, .form = test_get_form(form), .alpha = 1, .beta = 1, .places = &test_tight};
    test_operands_init(&this->operands, &this->product);
    TEST_OK(test_operands_upload(&this->operands, this->context, this->queue));
}

/* The unspoilt call works, on both ways; so each failure has the one reason that is meant. */
static void close_stand(stand *this) {
    char why[TEST_WHY_SIZE];
    for (this->product.on_buffers = false;; this->product.on_buffers = true) {
        ck_assert_msg(test_product_run(this->context, &this->product, why), "%s", why);
        if (this->product.on_buffers)
            break;
    }
    test_operands_fini(&this->operands);
    test_reference_fini(&this->reference);
    portmm_queue_destroy(this->queue);
}

static void expect_text(portmm_status status, portmm_status expected, const char *part, const char *part_too,
                        const char *what) {
    const char *text = portmm_last_error();
    ck_assert_msg(status == expected, "%s: %s instead of %s (\"%s\")", what, portmm_status_name(status),
                  portmm_status_name(expected), text);
    ck_assert_msg(strstr(text, part) != NULL, "%s: the text lacks \"%s\": \"%s\"", what, part, text);
    ck_assert_msg(strstr(text, part_too) != NULL, "%s: the text lacks \"%s\": \"%s\"", what, part_too, text);
}

static void expect_no_change(stand *this, const char *what) {
    TEST_OK(test_operands_download(&this->operands, this->queue));
    ck_assert_msg(test_stored_is_unchanged(&this->operands.a) && test_stored_is_unchanged(&this->operands.b) &&
                      test_stored_is_unchanged(&this->operands.c),
                  "%s: a matrix has changed", what);
}

static portmm_status call_buffers(stand *this, const test_call *call, size_t wait_count, portmm_event *const *waits) {
    portmm_event *event = (portmm_event *)this; /* anything but NULL */
    portmm_buffer *const *buffers = this->operands.buffers;
    portmm_status status =
        test_call_buffers(this->queue, call, buffers[0], buffers[1], buffers[2], wait_count, waits, &event);
    if (status != PORTMM_STATUS_SUCCESS)
        ck_assert_ptr_null(event);
    else
        portmm_event_destroy(event);
    return status;
}

static portmm_status call_host(stand *this, const test_call *call) {
    return test_call_host(this->context, call, this->operands.a.bytes, this->operands.b.bytes, this->operands.c.bytes);
}

/* Both forms refuse the call as INVALID_ARGUMENT, name themselves and `part`, and change nothing. */
static void expect_both_refuse(stand *this, const test_call *call, const char *part) {
    bool wide = call->dtype == PORTMM_F64;
    portmm_status status = call_buffers(this, call, 0, NULL);
    expect_text(status, PORTMM_STATUS_INVALID_ARGUMENT, part, wide ? "portmm_dgemm:" : "portmm_sgemm:", part);
    status = call_host(this, call);
    expect_text(status, PORTMM_STATUS_INVALID_ARGUMENT, part, wide ? "portmm_dgemm_host:" : "portmm_sgemm_host:", part);
    expect_no_change(this, part);
}

/* ---- enumerations and sizes ---- */

START_TEST(bad_enumerations_are_named) {
    static const int bad_layouts[] = {0, 1, -1, 100, 103, 111}, bad_transposes[] = {0, 'N', -1, 110, 114, 101};
    stand this;
    open_stand(&this, _i, 0);
    for (int i = 0; i < 6; i++) {
        char part[64];
        test_call call = this.operands.call;
        call.form.layout = (portmm_layout)bad_layouts[i];
        snprintf(part, sizeof part, "layout = %d ", bad_layouts[i]);
        expect_both_refuse(&this, &call, part);
        call = this.operands.call;
        call.form.transa = (portmm_transpose)bad_transposes[i];
        snprintf(part, sizeof part, "transa = %d ", bad_transposes[i]);
        expect_both_refuse(&this, &call, part);
        call = this.operands.call;
        call.form.transb = (portmm_transpose)bad_transposes[i];
        snprintf(part, sizeof part, "transb = %d ", bad_transposes[i]);
        expect_both_refuse(&this, &call, part);
    }
    close_stand(&this);
}
END_TEST

/* A member of the call by its BLAS name. */
typedef struct parameter {
    const char *name;
    size_t place;
} parameter;

static void set_parameter(test_call *call, const parameter *changed, int64_t value) {
    memcpy((unsigned char *)call + changed->place, &value, sizeof value);
}

static int64_t get_parameter(const test_call *call, const parameter *asked) {
    int64_t value;
    memcpy(&value, (const unsigned char *)call + asked->place, sizeof value);
    return value;
}

static const parameter sizes[] = {
    {"m", offsetof(test_call, m)}, {"n", offsetof(test_call, n)}, {"k", offsetof(test_call, k)}};
static const parameter leadings[] = {
    {"lda", offsetof(test_call, lda)}, {"ldb", offsetof(test_call, ldb)}, {"ldc", offsetof(test_call, ldc)}};
static const parameter offsets[] = {{"a_offset", offsetof(test_call, a_offset)},
                                    {"b_offset", offsetof(test_call, b_offset)},
                                    {"c_offset", offsetof(test_call, c_offset)}};

START_TEST(negative_sizes_are_named) {
    static const int64_t bad[] = {-1, -5, INT32_MIN, INT64_MIN};
    stand this;
    open_stand(&this, _i, 0);
    for (int i = 0; i < 12; i++) {
        char part[64];
        test_call call = this.operands.call;
        set_parameter(&call, &sizes[i / 4], bad[i % 4]);
        snprintf(part, sizeof part, " %s = %" PRId64 " ", sizes[i / 4].name, bad[i % 4]);
        expect_both_refuse(&this, &call, part);
    }
    close_stand(&this);
}
END_TEST

/* Of every operand order, the least leading dimension works (close_stand) and one less does not. */
START_TEST(small_leading_dimensions_are_named) {
    for (int form = 0; form < TEST_FORMS; form++) {
        stand this;
        open_stand(&this, _i, form);
        for (int i = 0; i < 3; i++) {
            int64_t least = get_parameter(&this.operands.call, &leadings[i]);
            const int64_t bad[] = {least - 1, 1, 0, -1, -least, INT64_MIN};
            for (int j = 0; j < 6; j++) {
                char part[64];
                test_call call = this.operands.call;
                set_parameter(&call, &leadings[i], bad[j]);
                snprintf(part, sizeof part, " %s = %" PRId64 " must be at least %" PRId64, leadings[i].name, bad[j],
                         least);
                expect_both_refuse(&this, &call, part);
            }
        }
        close_stand(&this);
    }
}
END_TEST

/* Even where nothing is read: 0 is never a leading dimension. */
START_TEST(leading_dimensions_of_empty_matrices_are_checked) {
    stand this;
    open_stand(&this, _i, 0);
    for (int size = 0; size < 3; size++)
        for (int leading = 0; leading < 3; leading++) {
            char part[64];
            test_call call = this.operands.call;
            set_parameter(&call, &sizes[size], 0);
            set_parameter(&call, &leadings[leading], 0);
            snprintf(part, sizeof part, " %s = 0 ", leadings[leading].name);
            expect_both_refuse(&this, &call, part);
        }
    close_stand(&this);
}
END_TEST

/* ---- places in buffers ---- */

START_TEST(bad_offsets_are_named) {
    static const int64_t bad[] = {-1, INT64_MIN};
    stand this;
    open_stand(&this, _i, 0);
    for (int i = 0; i < 6; i++) {
        char part[64];
        test_call call = this.operands.call;
        set_parameter(&call, &offsets[i / 2], bad[i % 2]);
        snprintf(part, sizeof part, " %s = %" PRId64 " ", offsets[i / 2].name, bad[i % 2]);
        expect_text(call_buffers(&this, &call, 0, NULL), PORTMM_STATUS_INVALID_ARGUMENT, part, "must", part);
        expect_no_change(&this, part);
    }
    close_stand(&this);
}
END_TEST

/* The buffers are exactly as large as the matrices, so one element more is outside. */
START_TEST(a_matrix_outside_its_buffer_is_named) {
    static const char *const names[] = {"matrix a", "matrix b", "matrix c"};
    for (int form = 0; form < TEST_FORMS; form++) {
        stand this;
        open_stand(&this, _i, form);
        for (int i = 0; i < 6; i++) {
            const parameter *changed = i < 3 ? &leadings[i] : &offsets[i - 3];
            const int64_t bad[] = {get_parameter(&this.operands.call, changed) + 1,
                                   INT32_MAX,
                                   (int64_t)1 << 31,
                                   ((int64_t)1 << 32) + 1,
                                   (int64_t)1 << 62,
                                   INT64_MAX};
            for (int j = 0; j < 6; j++) {
                char part[64];
                test_call call = this.operands.call;
                set_parameter(&call, changed, bad[j]);
                snprintf(part, sizeof part, "%s = %" PRId64, changed->name, bad[j]);
                expect_text(call_buffers(&this, &call, 0, NULL), PORTMM_STATUS_INVALID_ARGUMENT, part, names[i % 3],
                            part);
                expect_no_change(&this, part);
            }
        }
        close_stand(&this);
    }
}
END_TEST

/* Sizes whose products overflow 32 or 64 bits, with leading dimensions that fit them. */
START_TEST(huge_sizes_do_not_wrap_around) {
    static const int64_t huge[] = {INT32_MAX,        (int64_t)1 << 31, ((int64_t)1 << 32) + 5, ((int64_t)1 << 33) / 7,
                                   (int64_t)1 << 61, (int64_t)1 << 62, INT64_MAX / 7 + 1,      INT64_MAX - 1,
                                   INT64_MAX};
    for (int form = 0; form < TEST_FORMS; form++) {
        stand this;
        open_stand(&this, _i, form);
        for (int i = 0; i < (int)(sizeof huge / sizeof *huge); i++)
            for (int which = 1; which < 8; which++) { /* bits: m, n, k */
                test_call call = this.operands.call;
                for (int size = 0; size < 3; size++)
                    if (which & 1 << size)
                        set_parameter(&call, &sizes[size], huge[i]);
                call.lda = call.ldb = call.ldc = huge[i];
                portmm_status status = call_buffers(&this, &call, 0, NULL);
                char part[64];
                snprintf(part, sizeof part, "%" PRId64, huge[i]);
                expect_text(status, PORTMM_STATUS_INVALID_ARGUMENT, part, "outside its buffer", part);
            }
        expect_no_change(&this, "huge sizes");
        close_stand(&this);
    }
}
END_TEST

/* Host memory cannot be checked, so these name memory that must not be touched: the sizes alone tell that no machine
 * holds the matrices, or that the engine cannot index them. */
START_TEST(huge_sizes_are_refused_before_host_memory_is_read) {
    static const int64_t huge[] = {(int64_t)1 << 62, INT64_MAX / 4, INT64_MAX};
    stand this;
    open_stand(&this, _i, 0);
    void *nowhere = test_forbidden_address();
    for (int i = 0; i < 3; i++)
        for (int which = 1; which < 8; which++) {
            test_call call = this.operands.call;
            for (int size = 0; size < 3; size++)
                if (which & 1 << size)
                    set_parameter(&call, &sizes[size], huge[i]);
            call.lda = call.ldb = call.ldc = huge[i];
            portmm_status status = test_call_host(this.context, &call, nowhere, nowhere, nowhere);
            ck_assert_msg(status == PORTMM_STATUS_INVALID_ARGUMENT || status == PORTMM_STATUS_UNSUPPORTED,
                          "sizes %d of %" PRId64 " give %s: %s", which, huge[i], portmm_status_name(status),
                          portmm_last_error());
            char part[64];
            snprintf(part, sizeof part, "= %" PRId64, huge[i]);
            expect_text(status, status, part, "portmm_", part);
        }
    close_stand(&this);
}
END_TEST

START_TEST(sizes_beyond_an_engine_are_refused_before_host_memory_is_read) {
    const int64_t beyond = test_size_beyond(_i);
    char part[64];
    stand this;
    open_stand(&this, _i, 0);
    snprintf(part, sizeof part, " = %" PRId64, beyond);
    void *nowhere = test_forbidden_address();
    for (int size = 0; size < 3; size++) {
        test_call call = {.dtype = this.operands.call.dtype, .form = test_get_form(0), .m = 1, .n = 1, .k = 1};
        call.alpha = 1;
        set_parameter(&call, &sizes[size], beyond);
        call.lda = call.k;
        call.ldb = call.ldc = call.n;
        portmm_status status = test_call_host(this.context, &call, nowhere, nowhere, nowhere);
        expect_text(status, PORTMM_STATUS_UNSUPPORTED, sizes[size].name, part, sizes[size].name);
    }
    close_stand(&this);
}
END_TEST

/* ---- operands ---- */

START_TEST(missing_operands_are_named) {
    static const char *const texts[] = {": a is NULL", ": b is NULL", ": c is NULL"};
    stand this;
    open_stand(&this, _i, 0);
    const test_call *call = &this.operands.call;
    for (int missing = 0; missing < 3; missing++) {
        portmm_buffer *buffers[3];
        void *memory[3] = {this.operands.a.bytes, this.operands.b.bytes, this.operands.c.bytes};
        memcpy(buffers, this.operands.buffers, sizeof buffers);
        buffers[missing] = NULL;
        memory[missing] = NULL;
        portmm_status status = test_call_buffers(this.queue, call, buffers[0], buffers[1], buffers[2], 0, NULL, NULL);
        expect_text(status, PORTMM_STATUS_INVALID_ARGUMENT, texts[missing], "gemm", "buffer");
        status = test_call_host(this.context, call, memory[0], memory[1], memory[2]);
        expect_text(status, PORTMM_STATUS_INVALID_ARGUMENT, texts[missing], "gemm_host", "host");
        expect_no_change(&this, texts[missing]);
    }
    close_stand(&this);
}
END_TEST

START_TEST(missing_handles_are_named) {
    stand this;
    open_stand(&this, _i, 0);
    portmm_buffer *const *buffers = this.operands.buffers;
    portmm_event *event = (portmm_event *)&this;
    portmm_status status =
        test_call_buffers(NULL, &this.operands.call, buffers[0], buffers[1], buffers[2], 0, NULL, &event);
    expect_text(status, PORTMM_STATUS_INVALID_ARGUMENT, "queue is NULL", "gemm", "queue");
    ck_assert_ptr_null(event);
    status =
        test_call_host(NULL, &this.operands.call, this.operands.a.bytes, this.operands.b.bytes, this.operands.c.bytes);
    expect_text(status, PORTMM_STATUS_INVALID_ARGUMENT, "context is NULL", "gemm_host", "context");
    expect_no_change(&this, "missing handles");
    close_stand(&this);
}
END_TEST

START_TEST(bad_wait_lists_are_named) {
    stand this;
    open_stand(&this, _i, 0);
    const test_call *call = &this.operands.call;
    portmm_event *nothing[2] = {NULL, NULL};
    expect_text(call_buffers(&this, call, 1, NULL), PORTMM_STATUS_INVALID_ARGUMENT, "wait_list is NULL",
                "wait_count = 1", "no list");
    expect_text(call_buffers(&this, call, 2, nothing), PORTMM_STATUS_INVALID_ARGUMENT, "wait_list[0]", "NULL",
                "no event");
    expect_text(call_buffers(&this, call, SIZE_MAX, nothing), PORTMM_STATUS_INVALID_ARGUMENT, "wait_count = ", "gemm",
                "too many");
    expect_no_change(&this, "bad wait lists");
    close_stand(&this);
}
END_TEST

START_TEST(handles_of_another_context_are_refused) {
    stand this;
    open_stand(&this, _i, 0);
    const test_call *call = &this.operands.call;
    portmm_context_options options = PORTMM_CONTEXT_OPTIONS_INIT;
    options.backend = test_get_target(_i)->spec;
    portmm_context *context;
    portmm_queue *queue;
    portmm_event *event;
    test_operands theirs;
    TEST_OK(portmm_context_create(&options, &context));
    TEST_OK(portmm_queue_create(context, &queue));
    test_operands_init(&theirs, &this.product);
    TEST_OK(test_operands_upload(&theirs, context, queue));
    TEST_OK(test_operands_multiply(&theirs, queue, 0, NULL, &event));
    static const char *const names[] = {"buffer a", "buffer b", "buffer c"};
    for (int i = 0; i < 3; i++) {
        portmm_buffer *mixed[3];
        memcpy(mixed, this.operands.buffers, sizeof mixed);
        mixed[i] = theirs.buffers[i];
        portmm_status status = test_call_buffers(this.queue, call, mixed[0], mixed[1], mixed[2], 0, NULL, NULL);
        expect_text(status, PORTMM_STATUS_INVALID_ARGUMENT, names[i], "another context", "mixed buffers");
    }
    expect_text(call_buffers(&this, call, 1, &event), PORTMM_STATUS_INVALID_ARGUMENT, "wait_list[0]", "another context",
                "their event");
    unsigned char byte = 0;
    TEST_FAILS(portmm_buffer_write(this.queue, theirs.buffers[0], 0, 1, &byte), PORTMM_STATUS_INVALID_ARGUMENT,
               "another context");
    TEST_FAILS(portmm_buffer_read(this.queue, theirs.buffers[0], 0, 1, &byte), PORTMM_STATUS_INVALID_ARGUMENT,
               "another context");
    expect_no_change(&this, "another context");
    portmm_event_destroy(event);
    test_operands_fini(&theirs);
    portmm_queue_destroy(queue);
    portmm_context_destroy(context);
    close_stand(&this);
}
END_TEST

/* Buffers carry no type: one that is large enough for floats is not for as many doubles. */
START_TEST(double_products_need_room_for_doubles) {
    stand this;
    open_stand(&this, _i, 0);
    test_call call = this.operands.call;
    if (call.dtype == PORTMM_F32) {
        call.dtype = PORTMM_F64;
        expect_text(call_buffers(&this, &call, 0, NULL), PORTMM_STATUS_INVALID_ARGUMENT,
                    "portmm_dgemm:", "outside its buffer of 17 elements", "double");
    }
    expect_no_change(&this, "doubles");
    close_stand(&this);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("arguments");
    TCase *cases = tcase_create("products");
    int targets = test_target_count();
    tcase_add_loop_test(cases, bad_enumerations_are_named, 0, targets);
    tcase_add_loop_test(cases, negative_sizes_are_named, 0, targets);
    tcase_add_loop_test(cases, small_leading_dimensions_are_named, 0, targets);
    tcase_add_loop_test(cases, leading_dimensions_of_empty_matrices_are_checked, 0, targets);
    tcase_add_loop_test(cases, bad_offsets_are_named, 0, targets);
    tcase_add_loop_test(cases, a_matrix_outside_its_buffer_is_named, 0, targets);
    tcase_add_loop_test(cases, huge_sizes_do_not_wrap_around, 0, targets);
    tcase_add_loop_test(cases, huge_sizes_are_refused_before_host_memory_is_read, 0, targets);
    tcase_add_loop_test(cases, sizes_beyond_an_engine_are_refused_before_host_memory_is_read, 0, targets);
    tcase_add_loop_test(cases, missing_operands_are_named, 0, targets);
    tcase_add_loop_test(cases, missing_handles_are_named, 0, targets);
    tcase_add_loop_test(cases, bad_wait_lists_are_named, 0, targets);
    tcase_add_loop_test(cases, handles_of_another_context_are_refused, 0, targets);
    tcase_add_loop_test(cases, double_products_need_room_for_doubles, 0, targets);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return test_main_on_devices(argc, argv, make_suite);
}
