/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For authors of backends: what a module gives the core, and what the core gives a module.
 *
 * A backend is a shared object `portmm-<name>.so` that exports one function, pmm_backend_entry. It is loaded at run
 * time and never unloaded. It reaches the core only through the pmm_host table, so it links to nothing of ours.
 *
 * A module defines the structures declared here (struct pmm_device and the others) as it likes; the core only carries
 * pointers to them. All slots but the optional ones are filled; one that makes no sense for a backend reports
 * UNSUPPORTED.
 *
 * Rules for every slot that returns a portmm_status, unless its line says otherwise: it writes its output on success
 * only; it reports the error text itself through host->fail (the first to see an error words it, others pass it on);
 * it may be called from any thread; calls on the same queue never overlap; nor does a call that maps, unmaps or
 * destroys a buffer, or destroys an event, with another one on it. All others may.
 */
#ifndef PORTMM_BACKEND_H
#define PORTMM_BACKEND_H

#include <stdbool.h>
#include <string.h>

#include <portmm/portmm.h>

/* Counts up when a structure here changes in any way. */
#define PMM_BACKEND_ABI 4u
#define PMM_BACKEND_ENTRY_NAME "pmm_backend_entry"

#if defined(__GNUC__)
#define PMM_EXPORT __attribute__((visibility("default")))
#define PMM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PMM_EXPORT
#define PMM_PRINTF(text, first)
#endif

typedef struct pmm_backend_state pmm_backend_state; /* a driver, loaded, its devices listed */
typedef struct pmm_device pmm_device;               /* a device, opened */
typedef struct pmm_queue pmm_queue;
typedef struct pmm_buffer pmm_buffer;
typedef struct pmm_event pmm_event;
typedef struct pmm_engine_state pmm_engine_state; /* an engine, ready on a device */

/* ---- what the core gives ----------------------------------------------------------------------------------------- */

/* One labelled part of a cache key. All parts together say everything that the cached bytes depend on. */
typedef struct pmm_key_field {
    const char *label;
    const void *data;
    size_t size;
} pmm_key_field;

typedef struct pmm_cache_key {
    const char *kind; /* "program" */
    const pmm_key_field *fields;
    size_t count;
} pmm_cache_key;

typedef struct pmm_machine {
    const char *cpu_name; /* "" if unknown */
    int32_t cores;        /* this process may use */
    uint64_t memory_size; /* bytes, 0 if unknown */
} pmm_machine;

typedef struct pmm_host pmm_host;
struct pmm_host {
    size_t struct_size;

    /* Formats one line for the caller's log callback; cheap if the level is not wanted. */
    void (*log)(const pmm_host *host, portmm_log_level level, const char *format, ...) PMM_PRINTF(3, 4);
    /* Records this thread's last error and returns `status`. */
    portmm_status (*fail)(portmm_status status, const char *format, ...) PMM_PRINTF(2, 3);

    /* Spans of the timeline nest and must be ended by the thread that began them, innermost first. `detail` is static
     * text. */
    void (*span_begin)(const pmm_host *host, portmm_phase phase, const char *detail);
    void (*span_end)(const pmm_host *host);

    /* The on-disk cache. Never fails loudly: a trouble is a miss, counted and logged. get: *data is from malloc and the
     * caller's. reject: the driver refused these bytes; the entry is removed. bypass: a program was compiled where the
     * cache could not see it. */
    bool (*cache_get)(const pmm_host *host, const pmm_cache_key *key, void **data, size_t *size);
    bool (*cache_put)(const pmm_host *host, const pmm_cache_key *key, const void *data, size_t size);
    void (*cache_reject)(const pmm_host *host, const pmm_cache_key *key, const char *why);
    void (*cache_bypass)(const pmm_host *host);

    /* Environment variables whose name begins with `prefix`, sorted, as "NAME=value\n"..., without those named in the
     * NULL-terminated list `except`. From malloc; NULL when memory is out. */
    char *(*environment)(const char *prefix, const char *const *except);

    /* Shared libraries: `name` is searched by the system, or, when `beside_module`, a file in the module's directory,
     * whose symbols then go before the application's for itself and what it links. NULL on failure: the reason is in
     * *reason, which is valid until the next call on this thread. */
    void *(*library_open)(const pmm_host *host, const char *name, bool beside_module, const char **reason);
    void *(*library_symbol)(void *library, const char *name);

    /* One lock for the whole process and each module, for vendor libraries that are not safe at their first use. Not
     * recursive. */
    void (*lock)(const pmm_host *host);
    void (*unlock)(const pmm_host *host);

    void (*machine)(const pmm_host *host, pmm_machine *machine);

    /* Which cache the functions above use, as text: what is known to be in one cache may not be in another. */
    const char *(*cache_identity)(const pmm_host *host);

    /* As cache_put, for binaries that a driver gave and nobody has loaded yet: the core has them tried in a process of
     * its own before any cache_get finds them. */
    bool (*cache_propose)(const pmm_host *host, const pmm_cache_key *key, const void *data, size_t size);

    /* Programs that the driver's compiler refuses. fail: it did, in these words, and more than once; not for lack of
     * memory or time. failed: whether that happened a short while ago, here or in another process; its words go to
     * `reason`, of `size` bytes. */
    void (*cache_fail)(const pmm_host *host, const pmm_cache_key *key, const char *reason);
    bool (*cache_failed)(const pmm_host *host, const pmm_cache_key *key, char *reason, size_t size);
};

/* ---- what a module gives ----------------------------------------------------------------------------------------- */

/* What is done to each element of a product before it is stored: see portmm_problem. */
typedef struct pmm_epilogue {
    portmm_activation activation;
    portmm_bias bias_kind;
    pmm_buffer *bias; /* NULL where bias_kind is PORTMM_BIAS_NONE */
    int64_t bias_offset, bias_stride;
} pmm_epilogue;

/*
 * C := alpha * op(A) * op(B) + beta * C on buffers, once or for each product of a batch. The core has checked every
 * argument; m, n, k and batch_count are at least 1 and alpha is not zero. Sums are made in f32 where the type is f16 or
 * bf16.
 *
 * Product i of a batch finds A at a_offset + i * a_stride, or, where a_offsets is not NULL, at a_offset + a_offsets[i];
 * B and C likewise. The lists live until the call returns. All numbers are elements. A stride of A or B may be zero;
 * the C of two products never overlap.
 */
typedef struct pmm_gemm {
    portmm_dtype dtype;
    portmm_layout layout;
    portmm_transpose transa, transb;
    int64_t m, n, k;
    double alpha, beta; /* exact also for f32; the real parts of a complex type's */
    pmm_buffer *a, *b, *c;
    int64_t a_offset, b_offset, c_offset;
    int64_t lda, ldb, ldc;
    double alpha_im, beta_im; /* 0 for real types */
    int64_t batch_count;      /* 1: a plain product, whose strides and lists mean nothing */
    int64_t a_stride, b_stride, c_stride;
    const int64_t *a_offsets, *b_offsets, *c_offsets;
    pmm_epilogue epilogue;
} pmm_gemm;

/* `height` rows of `width` bytes: at `offset` in the buffer with `pitch` bytes from row to row, and at a host pointer
 * with `host_pitch`. */
typedef struct pmm_copy {
    size_t offset, pitch;
    size_t host_pitch;
    size_t width, height;
} pmm_copy;

/* Whether the C that is given is read. */
static inline bool pmm_gemm_reads_c(const pmm_gemm *gemm) {
    return gemm->beta != 0 || gemm->beta_im != 0;
}

/* A bf16 as f32: exact. */
static inline float pmm_f32_from_bf16(uint16_t value) {
    uint32_t bits = (uint32_t)value << 16;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* To the nearest bf16, ties to even. */
static inline uint16_t pmm_bf16_from_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u); /* a NaN stays one */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* An f16 as f32: exact. */
static inline float pmm_f32_from_f16(uint16_t value) {
    uint32_t sign = (uint32_t)(value & 0x8000u) << 16, rest = value & 0x7fffu, bits;
    float result = (float)rest * 0x1p-24f; /* right for numbers below the smallest normal one */
    memcpy(&bits, &result, sizeof bits);
    if (rest >= 0x7c00u)
        bits = 0x7f800000u | rest << 13;
    else if (rest >= 0x400u)
        bits = (rest << 13) + (112u << 23);
    bits |= sign;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* To the nearest f16, ties to even. */
static inline uint16_t pmm_f16_from_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (rest >= 0x47800000u) /* 65536 and more */
        return (uint16_t)(sign | 0x7c00u);
    if (rest < 0x38800000u) { /* less than 2^-14: a sum with 1/2 is rounded to a multiple of 2^-24 */
        float small;
        memcpy(&small, &rest, sizeof small);
        small += 0.5f;
        memcpy(&rest, &small, sizeof rest);
        return (uint16_t)(sign | (rest - 0x3f000000u));
    }
    return (uint16_t)(sign | (rest - (112u << 23) + 0xfffu + (rest >> 13 & 1u)) >> 13);
}

/* What an engine can do itself. */
enum {
    PMM_ENGINE_BATCHES = 1,   /* batch_count above 1; without it, the core asks for one product after the other */
    PMM_ENGINE_EPILOGUES = 2, /* the epilogue; without it, the core does not give it such products */
    PMM_ENGINE_QUIET = 4 /* getting it ready in a thread hardly holds up the calls of others; where that is so of all
                            engines, no helper process is started */
};

typedef struct pmm_engine {
    const char *name;
    uint32_t dtypes;   /* PORTMM_DTYPE_BIT of each type; f64 and c64 only count where the device has_f64 */
    uint32_t features; /* PMM_ENGINE_... */
    int64_t max_size;  /* largest m, n, k and leading dimension */
    int64_t max_index; /* largest element index reached in any matrix, offset included */

    /* Loads the vendor's library and whatever it needs before its first product. Blocks. */
    portmm_status (*open)(pmm_device *device, pmm_engine_state **engine);
    void (*close)(pmm_engine_state *engine);

    /* Enqueues a product after the queue's earlier commands and the events. The first one of a kind may block to
     * compile. *event is made if `event` is not NULL. */
    portmm_status (*gemm)(pmm_engine_state *engine, pmm_queue *queue, const pmm_gemm *gemm, size_t wait_count,
                          pmm_event *const *wait_list, pmm_event **event);

    /* Whether, since the last such question, a program has run in a form that is not in the cache. Cheap. */
    bool (*capture_wanted)(pmm_engine_state *engine);
    /* Waits for those programs, takes their binaries from the driver and stores them. Blocks, maybe for seconds. */
    void (*capture)(pmm_engine_state *engine);
} pmm_engine;

/* Takes one property of a backend or device: the value by printf's rules. */
typedef struct pmm_properties pmm_properties;
struct pmm_properties {
    void (*add)(pmm_properties *properties, const char *name, const char *format, ...) PMM_PRINTF(3, 4);
};

typedef struct pmm_backend {
    uint32_t abi; /* PMM_BACKEND_ABI */
    size_t struct_size;
    const char *name; /* as in portmm-<name>.so */

    /* Loads the driver and lists its devices. `host` outlives the state. UNAVAILABLE: the text says what is missing. */
    portmm_status (*open)(const pmm_host *host, pmm_backend_state **state);
    void (*close)(pmm_backend_state *state);
    size_t (*device_count)(const pmm_backend_state *state);
    /* Fills all of *info; strings live as long as the state. */
    void (*device_info)(const pmm_backend_state *state, size_t index, portmm_device_info *info);

    portmm_status (*device_open)(pmm_backend_state *state, size_t index, pmm_device **device);
    void (*device_close)(pmm_device *device);

    portmm_status (*queue_create)(pmm_device *device, pmm_queue **queue);
    portmm_status (*queue_finish)(pmm_queue *queue);
    /* Later commands of the queue start after these events. *event is complete when all earlier ones are. */
    portmm_status (*queue_barrier)(pmm_queue *queue, size_t wait_count, pmm_event *const *wait_list, pmm_event **event);
    void (*queue_destroy)(pmm_queue *queue);

    portmm_status (*buffer_create)(pmm_device *device, size_t size, pmm_buffer **buffer);
    /* A buffer that is host memory of the caller, without a copy; UNSUPPORTED where the device cannot, without text. */
    portmm_status (*buffer_wrap)(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer);
    void (*buffer_destroy)(pmm_buffer *buffer);
    /* Both block until the copy is complete. */
    portmm_status (*buffer_write)(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy, const void *source);
    portmm_status (*buffer_read)(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy, void *destination);

    portmm_status (*event_wait)(pmm_event *event);
    void (*event_destroy)(pmm_event *event);

    const pmm_engine *const *engines; /* best first, ended by NULL */

    /* Tells what a person who looks for trouble may want to know of a device, or of all (index -1), beyond device_info.
     * May load the vendor's library. NULL: nothing. */
    void (*describe)(const pmm_backend_state *state, int32_t index, pmm_properties *properties);

    /* ---- optional: NULL where a backend cannot; the core then reports UNSUPPORTED ---- */

    /* As buffer_write and buffer_read, but start after the events and do not wait: the host memory is the command's
     * until *event, which is always asked for, is complete. */
    portmm_status (*buffer_write_start)(pmm_queue *queue, pmm_buffer *buffer, const pmm_copy *copy, const void *source,
                                        size_t wait_count, pmm_event *const *wait_list, pmm_event **event);
    portmm_status (*buffer_read_start)(pmm_queue *queue, const pmm_buffer *buffer, const pmm_copy *copy,
                                       void *destination, size_t wait_count, pmm_event *const *wait_list,
                                       pmm_event **event);
    /* The first `size` bytes of a buffer as host memory, until unmapped; no command uses the buffer meanwhile. Both
     * block. */
    portmm_status (*buffer_map)(pmm_queue *queue, pmm_buffer *buffer, size_t size, void **memory);
    portmm_status (*buffer_unmap)(pmm_queue *queue, pmm_buffer *buffer, void *memory);

    /* When the command of a complete event began and ended, in nanoseconds of a clock of the device. UNSUPPORTED: this
     * event was not timed. */
    portmm_status (*event_times)(pmm_event *event, uint64_t *begin_ns, uint64_t *end_ns);

    /* Objects of the application's own: cl_context, cl_command_queue, cl_mem; CUcontext, CUstream, CUdeviceptr. The
     * module takes a reference where the driver counts them. INVALID_ARGUMENT: not one of this device or context.
     * *size: bytes, 0 if the driver does not tell. */
    portmm_status (*device_borrow)(pmm_backend_state *state, size_t index, void *native, pmm_device **device);
    portmm_status (*queue_borrow)(pmm_device *device, void *native, pmm_queue **queue);
    portmm_status (*buffer_borrow)(pmm_device *device, void *native, size_t *size, pmm_buffer **buffer);
    /* The driver's own object behind an event, valid as long as the event. */
    portmm_status (*event_native)(pmm_event *event, void **native);

    /* Every command is complete when the call that enqueues it returns: there is nothing to wait for. */
    bool is_immediate;

    /* As queue_create; event_times works on the queue's events. */
    portmm_status (*queue_create_timed)(pmm_device *device, pmm_queue **queue);
    /* As buffer_wrap, where host and device share memory that each may use only at its time: the host while the buffer
     * is mapped. NULL: buffer_wrap serves. UNSUPPORTED comes with a text here. */
    portmm_status (*buffer_share)(pmm_device *device, void *memory, size_t size, pmm_buffer **buffer);

    /* What was made before a fork works in the child, too. Otherwise the core refuses all calls there, makes none of
     * the module's, and does not open the module anew where the parent had it open. */
    bool survives_fork;
} pmm_backend;

/* What a module exports. Never NULL. Calls nothing that can fail or take time. */
typedef const pmm_backend *(*pmm_backend_entry_fn)(void);
/* The module's own, by this name: PMM_BACKEND_ENTRY_NAME. */
PMM_EXPORT const pmm_backend *pmm_backend_entry(void);

#endif
