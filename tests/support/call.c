/* SPDX-License-Identifier: Apache-2.0 */
#include "call.h"

#include <stdio.h>

test_form test_get_form(int number) {
    return (test_form){.layout = (portmm_layout)(PORTMM_ROW_MAJOR + number % 2),
                       .transa = (portmm_transpose)(PORTMM_NO_TRANS + number / 2 % 3),
                       .transb = (portmm_transpose)(PORTMM_NO_TRANS + number / 6 % 3)};
}

void test_describe_form(test_form form, char text[16]) {
    static const char letters[] = "NTC";
    snprintf(text, 16, "%s %c %c", form.layout == PORTMM_ROW_MAJOR ? "row" : "col",
             letters[form.transa - PORTMM_NO_TRANS], letters[form.transb - PORTMM_NO_TRANS]);
}

portmm_status test_call_host(portmm_context *context, const test_call *call, const void *a, const void *b, void *c) {
    const test_form *form = &call->form;
    if (call->dtype == PORTMM_F64)
        return portmm_dgemm_host(context, form->layout, form->transa, form->transb, call->m, call->n, call->k,
                                 call->alpha, a, call->lda, b, call->ldb, call->beta, c, call->ldc);
    return portmm_sgemm_host(context, form->layout, form->transa, form->transb, call->m, call->n, call->k,
                             (float)call->alpha, a, call->lda, b, call->ldb, (float)call->beta, c, call->ldc);
}

portmm_status test_call_buffers(portmm_queue *queue, const test_call *call, const portmm_buffer *a,
                                const portmm_buffer *b, portmm_buffer *c, size_t wait_count,
                                portmm_event *const *wait_list, portmm_event **event) {
    const test_form *form = &call->form;
    if (call->dtype == PORTMM_F64)
        return portmm_dgemm(queue, form->layout, form->transa, form->transb, call->m, call->n, call->k, call->alpha, a,
                            call->a_offset, call->lda, b, call->b_offset, call->ldb, call->beta, c, call->c_offset,
                            call->ldc, wait_count, wait_list, event);
    return portmm_sgemm(queue, form->layout, form->transa, form->transb, call->m, call->n, call->k, (float)call->alpha,
                        a, call->a_offset, call->lda, b, call->b_offset, call->ldb, (float)call->beta, c,
                        call->c_offset, call->ldc, wait_count, wait_list, event);
}
