/* SPDX-License-Identifier: Apache-2.0 */
/* A management library of NVIDIA's that knows two GPUs: the first has persistence mode, the second has not. */
#include <stdio.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetName(void *device, char *name, unsigned length);
int nvmlDeviceGetPersistenceMode(void *device, int *mode);

static int modes[] = {1, 0};

int nvmlInit_v2(void) {
    return 0;
}

int nvmlShutdown(void) {
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = 2;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = &modes[index];
    return 0;
}

int nvmlDeviceGetName(void *device, char *name, unsigned length) {
    (void)snprintf(name, length, "posed GPU %d", (int)((int *)device - modes));
    return 0;
}

int nvmlDeviceGetPersistenceMode(void *device, int *mode) {
    *mode = *(int *)device;
    return 0;
}
