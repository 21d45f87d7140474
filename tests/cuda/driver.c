/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/kernels.h"
#include "cuda_api.h"
#include "starter/code.h"

enum { MOST_DEVICES = 4, MOST_PUSHED = 16 };

/* ---- settings ---- */

static const char *const functions[] = {
#define NAME(symbol, type) #symbol,
    PMM_CUDA_FUNCTIONS(NAME)
#undef NAME
        "cublasCreate_v2",
    "cublasDestroy_v2",
    "cublasSetStream_v2",
    "cublasSgemm_v2_64",
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

typedef struct settings {
    char fail[64];
    long code, first, last, lost, version, capability, devices;
} settings;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static settings set = {.first = 1, .last = 1000000, .version = 13000, .capability = 90, .devices = 1};
static long calls[FUNCTIONS], objects;
static int lost_code;

static int read_settings(const char *text) {
    const struct {
        const char *name;
        long *value;
    } numbers[] = {{"code", &set.code},      {"first", &set.first},     {"last", &set.last},
                   {"lost", &set.lost},      {"version", &set.version}, {"capability", &set.capability},
                   {"devices", &set.devices}};
    char name[32], value[64];
    int used = 0;
    for (; text != NULL && sscanf(text, " %31[^= ]=%63s%n", name, value, &used) == 2; text += used) {
        int known = strcmp(name, "fail") == 0;
        if (known)
            snprintf(set.fail, sizeof set.fail, "%s", value);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (strcmp(name, numbers[i].name) == 0) {
                *numbers[i].value = strtol(value, NULL, 10);
                known = 1;
            }
        if (!known)
            return 0;
    }
    return 1;
}

int test_cuda_set(const char *text) {
    pthread_mutex_lock(&mutex);
    set = (settings){.first = 1, .last = 1000000, .version = 13000, .capability = 90, .devices = 1};
    memset(calls, 0, sizeof calls);
    lost_code = 0;
    int known = read_settings(getenv("PORTMM_TEST_CUDA")) && read_settings(text);
    pthread_mutex_unlock(&mutex);
    return known;
}

__attribute__((constructor)) static void read_environment(void) {
    (void)test_cuda_set("");
}

static int find_function(const char *function) {
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i], function) == 0)
            return i;
    return -1;
}

long test_cuda_calls(const char *function) {
    int found = find_function(function);
    return found < 0 ? -1 : calls[found];
}

const char *test_cuda_function(int number) {
    return number >= 0 && number < FUNCTIONS ? functions[number] : NULL;
}

long test_cuda_objects(void) {
    return objects;
}

static void count_objects(long change) {
    pthread_mutex_lock(&mutex);
    objects += change;
    pthread_mutex_unlock(&mutex);
}

/* ---- contexts ---- */

struct CUctx_st {
    CUdevice device;
    atomic_long references;
    CUstream streams; /* go with the last reference, as those of a lost device do that nobody can destroy */
};
struct CUstream_st {
    CUcontext context;
    CUstream next;
};
static struct CUctx_st contexts[MOST_DEVICES];
static _Thread_local CUcontext pushed[MOST_PUSHED];
static _Thread_local int pushed_count;

static CUcontext get_current(void) {
    return pushed_count > 0 ? pushed[pushed_count - 1] : NULL;
}

int test_cuda_begin(const char *function, int needs_context) {
    int found = find_function(function), code = 0;
    pthread_mutex_lock(&mutex);
    long call = found >= 0 ? ++calls[found] : 0;
    if (needs_context && get_current() == NULL)
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (needs_context && lost_code != 0)
        code = lost_code;
    if (strcmp(set.fail, function) == 0 && call >= set.first && call <= set.last) {
        code = (int)set.code;
        lost_code = set.lost != 0 ? code : lost_code;
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

/* A call of the driver: leaves the function where it has to fail. */
#define BEGIN(needs_context)                                                                                           \
    do {                                                                                                               \
        int code_of_call = test_cuda_begin(__func__, needs_context);                                                   \
        if (code_of_call != 0)                                                                                         \
            return (CUresult)code_of_call;                                                                             \
    } while (0)
enum { ANYWHERE = 0, IN_CONTEXT = 1 };

CUresult cuInit(unsigned flags) {
    BEGIN(ANYWHERE);
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDriverGetVersion(int *version) {
    BEGIN(ANYWHERE);
    *version = (int)set.version;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult code, const char **name) {
    BEGIN(ANYWHERE);
    *name = code == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_TEST";
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult code, const char **text) {
    BEGIN(ANYWHERE);
    *text = code == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "an error of the driver for tests";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    BEGIN(ANYWHERE);
    *count = (int)set.devices;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int index) {
    BEGIN(ANYWHERE);
    if (index < 0 || index >= set.devices)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = index;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    BEGIN(ANYWHERE);
    snprintf(name, (size_t)size, "test GPU %d", device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    BEGIN(ANYWHERE);
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? (int)set.capability / 10
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? (int)set.capability % 10
             : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? 4
                                                                         : 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *size, CUdevice device) {
    BEGIN(ANYWHERE);
    (void)device;
    *size = (size_t)1 << 34;
    return CUDA_SUCCESS;
}

static void free_streams(CUcontext context) {
    while (context->streams != NULL) {
        CUstream first = context->streams;
        context->streams = first->next;
        free(first);
    }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    BEGIN(ANYWHERE);
    contexts[device].device = device;
    *context = &contexts[device];
    atomic_fetch_add(&contexts[device].references, 1);
    count_objects(1);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    if (atomic_fetch_sub(&contexts[device].references, 1) == 1)
        free_streams(&contexts[device]);
    count_objects(-1);
    BEGIN(ANYWHERE);
    return CUDA_SUCCESS;
}

/* As the real one, makes it current. Newer headers have only its later versions. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    (void)flags;
    if (device < 0 || device >= set.devices || pushed_count == MOST_PUSHED)
        return CUDA_ERROR_INVALID_DEVICE;
    *context = calloc(1, sizeof **context);
    (*context)->device = device;
    pushed[pushed_count++] = *context;
    count_objects(1);
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext context) {
    free(context);
    count_objects(-1);
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    BEGIN(ANYWHERE);
    if (context == NULL || pushed_count == MOST_PUSHED)
        return CUDA_ERROR_INVALID_CONTEXT;
    pushed[pushed_count++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    BEGIN(ANYWHERE);
    if (pushed_count == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = pushed[--pushed_count];
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = get_current();
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    pushed_count = context != NULL;
    pushed[0] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
    return get_current() != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
    memcpy((void *)(uintptr_t)to, from, size);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
    memcpy(to, (const void *)(uintptr_t)from, size);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    BEGIN(IN_CONTEXT);
    *device = get_current()->device;
    return CUDA_SUCCESS;
}

/* ---- streams and events: everything is complete at once ---- */

struct CUevent_st {
    CUcontext context;
    unsigned flags;
    struct timespec recorded; /* zero: never */
};

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    BEGIN(IN_CONTEXT);
    (void)flags;
    CUcontext context = get_current();
    CUstream made = malloc(sizeof *made);
    pthread_mutex_lock(&mutex);
    *made = (struct CUstream_st){context, context->streams};
    context->streams = *stream = made;
    pthread_mutex_unlock(&mutex);
    count_objects(1);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
    pthread_mutex_lock(&mutex);
    CUstream *link = &stream->context->streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    pthread_mutex_unlock(&mutex);
    free(stream);
    count_objects(-1);
    BEGIN(IN_CONTEXT);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
    BEGIN(IN_CONTEXT);
    return stream == NULL || stream->context == get_current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    BEGIN(IN_CONTEXT);
    *context = stream != NULL ? stream->context : get_current();
    return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream) {
    (void)stream;
    BEGIN(IN_CONTEXT);
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    (void)stream, (void)flags;
    BEGIN(IN_CONTEXT);
    return event->context == get_current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    BEGIN(IN_CONTEXT);
    *event = calloc(1, sizeof **event);
    (*event)->context = get_current();
    (*event)->flags = flags;
    count_objects(1);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    (void)stream;
    BEGIN(IN_CONTEXT);
    timespec_get(&event->recorded, TIME_UTC);
    return CUDA_SUCCESS;
}

/* The name that also drivers before CUDA 12.8 have; newer headers make it another's. */
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end);
CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
    BEGIN(IN_CONTEXT);
    if (((begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0 || begin->recorded.tv_sec == 0 ||
        end->recorded.tv_sec == 0)
        return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)((double)(end->recorded.tv_sec - begin->recorded.tv_sec) * 1e3 +
                            (double)(end->recorded.tv_nsec - begin->recorded.tv_nsec) * 1e-6);
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
    (void)event;
    BEGIN(IN_CONTEXT);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
    free(event);
    count_objects(-1);
    BEGIN(IN_CONTEXT);
    return CUDA_SUCCESS;
}

/* ---- memory ---- */

typedef struct block {
    CUcontext context;
    void *memory;
    size_t size;
    struct block *next;
} block;
static block *blocks;

#define AT(address) ((char *)(uintptr_t)(address))

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
    BEGIN(IN_CONTEXT);
    block *made = size > 0 ? malloc(sizeof *made) : NULL;
    if (made == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *made = (block){.context = get_current(), .memory = malloc(size), .size = size};
    pthread_mutex_lock(&mutex);
    made->next = blocks;
    blocks = made;
    objects++;
    pthread_mutex_unlock(&mutex);
    *address = (CUdeviceptr)(uintptr_t)made->memory;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    pthread_mutex_lock(&mutex);
    block **at = &blocks;
    while (*at != NULL && (*at)->memory != (void *)AT(address))
        at = &(*at)->next;
    block *gone = *at;
    if (gone != NULL) {
        *at = gone->next;
        objects--;
    }
    pthread_mutex_unlock(&mutex);
    if (gone != NULL) {
        free(gone->memory);
        free(gone);
    }
    BEGIN(IN_CONTEXT);
    return gone != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The block with this address in it; false: none. */
static bool find_block(CUdeviceptr address, block *found) {
    bool is_found = false;
    pthread_mutex_lock(&mutex);
    for (const block *each = blocks; each != NULL && !is_found; each = each->next)
        if (AT(address) >= (char *)each->memory && AT(address) < (char *)each->memory + each->size) {
            *found = *each;
            is_found = true;
        }
    pthread_mutex_unlock(&mutex);
    return is_found;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
    BEGIN(IN_CONTEXT);
    block found;
    if (!find_block(address, &found))
        return CUDA_ERROR_NOT_FOUND;
    *base = (CUdeviceptr)(uintptr_t)found.memory;
    *size = found.size;
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    BEGIN(IN_CONTEXT);
    block found;
    if (attribute != CU_POINTER_ATTRIBUTE_CONTEXT || !find_block(address, &found))
        return CUDA_ERROR_INVALID_VALUE;
    *(CUcontext *)value = found.context;
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    (void)stream;
    BEGIN(IN_CONTEXT);
    memcpy(AT(to), from, size);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    (void)stream;
    BEGIN(IN_CONTEXT);
    memcpy(to, AT(from), size);
    return CUDA_SUCCESS;
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream) {
    (void)stream;
    BEGIN(IN_CONTEXT);
    if (copy->WidthInBytes > copy->srcPitch || copy->WidthInBytes > copy->dstPitch)
        return CUDA_ERROR_INVALID_VALUE;
    const char *from = copy->srcMemoryType == CU_MEMORYTYPE_HOST ? copy->srcHost : AT(copy->srcDevice);
    char *to = copy->dstMemoryType == CU_MEMORYTYPE_HOST ? copy->dstHost : AT(copy->dstDevice);
    for (size_t row = 0; row < copy->Height; row++)
        memcpy(to + row * copy->dstPitch, from + row * copy->srcPitch, copy->WidthInBytes);
    return CUDA_SUCCESS;
}

/* ---- modules ---- */

/* What the driver's linker makes of PTX, and takes back for the same capability only. */
typedef struct cubin {
    char magic[16];
    long capability;
    int is_f64;
} cubin;
static const char magic[16] = "cubin for tests";

struct CUfunc_st {
    CUmodule module;
    char name[32];
};
struct CUmod_st {
    int is_f64, count;
    struct CUfunc_st functions[16];
};
struct CUlinkState_st {
    cubin made;
};

static const pmm_cuda_code *find_code(const void *bytes, size_t most) {
    for (const pmm_cuda_code *each = pmm_cuda_codes; each < pmm_cuda_codes + pmm_cuda_code_count; each++)
        if (each->size <= most && memcmp(bytes, each->bytes, 64) == 0 && memcmp(bytes, each->bytes, each->size) == 0)
            return each;
    return NULL;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    BEGIN(IN_CONTEXT);
    int is_f64;
    if (memcmp(image, magic, sizeof magic) == 0) {
        cubin given;
        memcpy(&given, image, sizeof given);
        if (given.capability != set.capability)
            return CUDA_ERROR_NO_BINARY_FOR_GPU;
        is_f64 = given.is_f64;
    } else {
        const pmm_cuda_code *code = find_code(image, SIZE_MAX);
        if (code == NULL || code->hash != NULL)
            return CUDA_ERROR_INVALID_IMAGE; /* PTX would be compiled here, at every start */
        if (code->capability / 10 != set.capability / 10 || code->capability > set.capability)
            return CUDA_ERROR_NO_BINARY_FOR_GPU;
        is_f64 = code->dtype == PORTMM_F64;
    }
    *module = calloc(1, sizeof **module);
    (*module)->is_f64 = is_f64;
    count_objects(1);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    BEGIN(IN_CONTEXT);
    CUfunction made = &module->functions[module->count++];
    made->module = module;
    snprintf(made->name, sizeof made->name, "%s", name);
    *function = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
    free(module);
    count_objects(-1);
    BEGIN(IN_CONTEXT);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **parameters,
                        void **extra) {
    (void)stream, (void)extra;
    BEGIN(IN_CONTEXT);
    if (grid_y != 1 || block_y != 1 || block_z != 1 || shared != 0 || grid_z > 65535)
        return CUDA_ERROR_INVALID_VALUE;
    return test_cuda_run_kernel(function->name, function->module->is_f64, parameters[0], grid_x, grid_z, block_x)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *link) {
    (void)count, (void)options, (void)values;
    BEGIN(IN_CONTEXT);
    *link = calloc(1, sizeof **link);
    count_objects(1);
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState link, CUjitInputType type, void *data, size_t size, const char *name,
                          unsigned count, CUjit_option *options, void **values) {
    (void)name, (void)count, (void)options, (void)values;
    BEGIN(IN_CONTEXT);
    const pmm_cuda_code *code = find_code(data, size);
    if (type != CU_JIT_INPUT_PTX || code == NULL || code->hash == NULL || code->size != size)
        return CUDA_ERROR_INVALID_PTX;
    if (code->capability > set.capability)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    link->made = (cubin){.capability = set.capability, .is_f64 = code->dtype == PORTMM_F64};
    memcpy(link->made.magic, magic, sizeof magic);
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState link, void **binary, size_t *size) {
    BEGIN(IN_CONTEXT);
    *binary = &link->made;
    *size = sizeof link->made;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState link) {
    free(link);
    count_objects(-1);
    BEGIN(IN_CONTEXT);
    return CUDA_SUCCESS;
}
