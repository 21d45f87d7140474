/* SPDX-License-Identifier: Apache-2.0 */
#include "wrapped.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void *test_loader_data;

static test_wrapped *buffers;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

test_wrapped *test_wrap(void *real, test_wrapped *context, test_wrapped *device) {
    test_wrapped *made = calloc(1, sizeof *made);
    if (made == NULL) {
        perror("test driver");
        abort();
    }
    made->dispatch = &test_dispatch;
    made->loader_data = test_loader_data;
    made->real = real;
    made->context = context;
    made->device = device;
    atomic_init(&made->references, 1);
    return made;
}

bool test_unwrap(test_wrapped *wrapped) {
    if (atomic_fetch_sub(&wrapped->references, 1) > 1)
        return false;
    free(wrapped->early);
    free(wrapped);
    return true;
}

void *test_real(const void *handle) {
    return handle != NULL ? ((const test_wrapped *)handle)->real : NULL;
}

void test_note_buffer(test_wrapped *buffer) {
    pthread_mutex_lock(&mutex);
    buffer->next = buffers;
    buffers = buffer;
    pthread_mutex_unlock(&mutex);
}

void test_drop_buffer(test_wrapped *buffer) {
    pthread_mutex_lock(&mutex);
    test_wrapped **link = &buffers;
    while (*link != buffer)
        link = &(*link)->next;
    *link = buffer->next;
    pthread_mutex_unlock(&mutex);
}

bool test_is_buffer(const void *handle) {
    pthread_mutex_lock(&mutex);
    const test_wrapped *each = buffers;
    while (each != NULL && each != handle)
        each = each->next;
    pthread_mutex_unlock(&mutex);
    return each != NULL;
}
