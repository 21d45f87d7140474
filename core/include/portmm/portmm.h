/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libportmm: matrix products that are fast from the first call, on any device.
 *
 * This header is the manual. From simple to expert:
 *
 *     1  status and errors       every call returns a portmm_status
 *     2  types                   layout, transpose, element type
 *     3  context                 a device, opened; its backend is chosen at run time
 *     4  host-pointer products   portmm_sgemm_host: the library moves the data; portmm_gemm_host: every type, batches
 *     5  queues, buffers, events keep data on the device, overlap work
 *     6  products on buffers     portmm_sgemm, portmm_sgemm_strided_batched; portmm_gemm
 *     7  prewarm                 pay the preparation ahead of time
 *     8  inventory               what this machine has, and why something is missing
 *     9  timeline                where the time of the first call went
 *    10  cache                   the on-disk store of compiled programs
 *
 * Output: the library never prints. CLBlast, which one engine uses, prints a line to standard error when OpenCL reports
 * an error to it.
 *
 * Threads: every function may be called from any thread. At the same time,
 *     a context  is used by any number of threads, but destroyed by one when all others are done with it
 *     a queue    is used by one thread: its commands have an order. Two threads have a queue each
 *     a buffer   is used by the commands of several threads, which events keep apart where one of them writes; but it
 * is mapped, unmapped and destroyed by one when no other thread uses it an event   is awaited and put into wait lists
 * by several threads, but destroyed by one when they are done with it an inventory is used by one thread the last error
 * is each thread's own An object may pass from thread to thread, with a mutex or the like between, and be destroyed by
 * any.
 *
 * Processes: in the child of a fork, a context of the CPU backend and all that is made from it work as in the parent.
 * Other drivers do not survive a fork. What was made before it can only be destroyed there, which leaves the driver
 * alone; every other call gives UNAVAILABLE, and so does a new context on a backend that the parent has opened, also
 * for an inventory. One that the parent has not opened works; after exec everything does. A program forks while none of
 * its threads is in a call of the library and no context of start policy hybrid is still opening its device
 * (portmm_context_get_info waits for that); otherwise the child only destroys and calls exec.
 *
 * Ownership: what a `..._create` or an output argument returns is the caller's, and is given back with the matching
 * `..._destroy`. Destroy functions accept NULL. A context outlives everything made from it: destroy queues, buffers and
 * events first.
 *
 * Outputs come last, are written on success only; handle outputs are set to NULL on failure.
 *
 * Structures whose first member is `struct_size` may grow: set it to sizeof the structure (PORTMM_..._INIT does), and
 * zero the rest. A later library understands an earlier, shorter structure.
 */
#ifndef PORTMM_PORTMM_H
#define PORTMM_PORTMM_H

#include <stddef.h>
#include <stdint.h>

#if defined(PORTMM_BUILDING_LIBRARY) && defined(__GNUC__)
#define PORTMM_API __attribute__((visibility("default")))
#else
#define PORTMM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1  status and errors ---------------------------------------------------------------------------------------- */

/* One list gives names, numbers and texts. Numbers are never reused. */
#define PORTMM_STATUS_LIST(X)                                                                                          \
    X(SUCCESS, 0, "success")                                                                                           \
    X(INVALID_ARGUMENT, 1, "invalid argument")                                                                         \
    X(OUT_OF_MEMORY, 2, "out of memory")                                                                               \
    X(UNAVAILABLE, 3, "backend or device unavailable")                                                                 \
    X(UNSUPPORTED, 4, "not supported by this backend or device")                                                       \
    X(DEVICE_ERROR, 5, "the device or its driver reported an error")                                                   \
    X(DEVICE_LOST, 6, "the device was lost; the context cannot be used any more")                                      \
    X(INTERNAL, 7, "internal error")

typedef enum portmm_status {
#define PORTMM_STATUS_ENUM(name, number, text) PORTMM_STATUS_##name = (number),
    PORTMM_STATUS_LIST(PORTMM_STATUS_ENUM)
#undef PORTMM_STATUS_ENUM
} portmm_status;

/* The status as a word such as "INVALID_ARGUMENT", and as a short English text. Never NULL. */
PORTMM_API const char *portmm_status_name(portmm_status status);
PORTMM_API const char *portmm_status_text(portmm_status status);

/*
 * What went wrong in the latest libportmm call of this thread: one line that names the argument and its value, or the
 * driver's error, and what to do. The empty string after a call that succeeded. The text is valid until the next
 * libportmm call of the same thread.
 */
PORTMM_API const char *portmm_last_error(void);

typedef enum portmm_log_level {
    PORTMM_LOG_ERROR = 0,
    PORTMM_LOG_WARNING = 1,
    PORTMM_LOG_INFO = 2,
    PORTMM_LOG_DEBUG = 3
} portmm_log_level;

/*
 * Receives the library's log lines (without a newline). The library itself never prints. It may be called from any
 * thread, also from a background thread of a context, and must not call back into libportmm.
 */
typedef void (*portmm_log_callback)(portmm_log_level level, const char *message, void *user_data);

/* "0.1.0": the version of the library that is loaded, and of this header. */
PORTMM_API const char *portmm_version(void);
#define PORTMM_VERSION_STRING "0.1.0"

/* ---- 2  types ---------------------------------------------------------------------------------------------------- */

/* Values are those of CBLAS, so that an enum of cblas.h may be cast. */
typedef enum portmm_layout { PORTMM_ROW_MAJOR = 101, PORTMM_COL_MAJOR = 102 } portmm_layout;
typedef enum portmm_transpose { PORTMM_NO_TRANS = 111, PORTMM_TRANS = 112, PORTMM_CONJ_TRANS = 113 } portmm_transpose;

typedef enum portmm_dtype {
    PORTMM_F32 = 1, /* IEEE binary32, 4 bytes */
    PORTMM_F64 = 2, /* IEEE binary64, 8 bytes */
    PORTMM_C32 = 3, /* complex: two f32, real part first, 8 bytes; as C's float _Complex */
    PORTMM_C64 = 4, /* complex: two f64, 16 bytes */
    PORTMM_F16 = 5, /* IEEE binary16, 2 bytes; products and sums are made in f32, alpha and beta are f32 */
    PORTMM_BF16 = 6 /* bfloat16, the upper half of an f32, 2 bytes; otherwise as F16 */
} portmm_dtype;

/* A type as a bit, for sets of types. */
#define PORTMM_DTYPE_BIT(dtype) (1u << (dtype))

/* What is done to an element of a product before it is stored. Real types only, but for NONE. */
typedef enum portmm_activation {
    PORTMM_ACTIVATION_NONE = 0,
    PORTMM_ACTIVATION_RELU = 1, /* x < 0 ? 0 : x */
    PORTMM_ACTIVATION_GELU = 2  /* x / 2 * (1 + erf(x / sqrt(2))) */
} portmm_activation;

/* A vector that is added to a product before the activation. */
typedef enum portmm_bias {
    PORTMM_BIAS_NONE = 0,
    PORTMM_BIAS_PER_ROW = 1,   /* m elements: bias[i] to all of row i */
    PORTMM_BIAS_PER_COLUMN = 2 /* n elements: bias[j] to all of column j */
} portmm_bias;

typedef struct portmm_context portmm_context;
typedef struct portmm_queue portmm_queue;
typedef struct portmm_buffer portmm_buffer;
typedef struct portmm_event portmm_event;
typedef struct portmm_inventory portmm_inventory;

/* ---- 3  context -------------------------------------------------------------------------------------------------- */

/* How the on-disk cache of compiled programs is used. Default: read and write. */
typedef enum portmm_cache_mode {
    PORTMM_CACHE_DEFAULT = 0, /* PORTMM_CACHE=off|ro|rw, else read-write */
    PORTMM_CACHE_OFF = 1,
    PORTMM_CACHE_READ_ONLY = 2,
    PORTMM_CACHE_READ_WRITE = 3,
    /* For the helper that comes with the library: binaries that wait for a proof are used, too, and join the cache once
     * portmm_prewarm has run a product with them. A bad one may end the process. */
    PORTMM_CACHE_PROVE = 4
} portmm_cache_mode;

/*
 * Who fills the cache after a miss. Some drivers finish a program only when its kernels run, and take seconds under a
 * lock to hand the binary out; so by default a small helper process, detached and at the lowest priority, does that
 * work again and stores the result for the next process.
 */
typedef enum portmm_warmup {
    PORTMM_WARMUP_DEFAULT = 0, /* PORTMM_WARMUP=helper|thread|off, else helper */
    PORTMM_WARMUP_HELPER = 1,  /* a process; where one may not be started, a thread */
    PORTMM_WARMUP_THREAD = 2,  /* a thread of this process; portmm_context_destroy waits for it */
    PORTMM_WARMUP_OFF = 3      /* nobody: only portmm_prewarm stores */
} portmm_warmup;

/* Which engine serves a product, and so how long the first one takes. Engines differ in the last bits of a result. */
typedef enum portmm_start {
    PORTMM_START_DEFAULT = 0, /* PORTMM_START=tuned|fast|hybrid, else fast */
    PORTMM_START_TUNED = 1,   /* the tuned engine only; the first product waits for it. Same rounding on every call. */
    /* The starter, ready soon, serves until it is known which engine is faster for products of this class (type,
     * transposes, sizes to a factor of two) and that one is loaded. The helper process of the warm-up finds that out,
     * once for each device and driver, and the cache keeps it; no call of the application is spent on it. */
    PORTMM_START_FAST = 2,
    /* As fast; besides, portmm_context_create returns at once, and host-pointer products run on the CPU backend until
     * the device is open and can serve them. All other calls wait for the device. If it cannot be opened the context is
     * one of the CPU backend, and its reason says why. */
    PORTMM_START_HYBRID = 3
} portmm_start;

/*
 * Options of a context. A member that is zero or NULL takes its default: the environment variable in brackets if it is
 * set, else what is stated. Options win over the environment. Strings are copied.
 */
typedef struct portmm_context_options {
    size_t struct_size;
    /* Which device: "auto", a backend ("cpu", "opencl", "cuda", or NAME of your own module portmm-NAME.so), or a
     * backend and a device index as listed by the inventory ("opencl:1"). [PORTMM_BACKEND, else "auto"]. "auto" takes a
     * GPU where there is one, else the CPU backend, and never fails while the CPU backend works. */
    const char *backend;
    /* Name of the engine to use ("openblas", "clblast"); NULL: the backend's best. */
    const char *engine;
    /* Absolute directories with backend modules, ':' between them, searched first. [PORTMM_MODULE_PATH, then the
     * directory of libportmm, then the compiled-in one.] */
    const char *module_path;
    portmm_cache_mode cache_mode;
    /* [PORTMM_CACHE_DIR, else $XDG_CACHE_HOME/portmm, else $HOME/.cache/portmm] */
    const char *cache_dir;
    portmm_warmup warmup;
    portmm_log_callback log; /* NULL: nothing is logged */
    void *log_user_data;
    portmm_log_level log_level; /* lines above this level are not built; 0: errors only */
    portmm_start start;         /* ignored where an engine is named: that one serves */
    /* Directories and sealed bundles that are only read, absolute, ':' between them, after cache_dir; a directory
     * brings the *.bundle files in it. Root or this user owns them. [PORTMM_CACHE_PATH_RO; always last portmm/cache in
     * the directory of libportmm] */
    const char *cache_path_ro;
    /* Bytes of cache_dir; beyond, what was used least recently is removed. [PORTMM_CACHE_MAX_SIZE, such as 500M, 0 for
     * no limit; else 1 GiB] */
    uint64_t cache_max_size;
    /* PORTMM_DTYPE_BIT of each type that the program cannot do without; 0: any. "auto" passes over a device that lacks
     * one, and so falls back to the CPU backend; a device that is named is refused with UNSUPPORTED. */
    uint32_t needs_dtypes;
    /* A cl_context or CUcontext of the application's own, in which the context then works, so that it can use the
     * application's queues and memory (portmm_queue_borrow, portmm_buffer_borrow); NULL: one of the library's own.
     * `backend` names the backend, and the device where the cl_context has several; else it is the first of them. An
     * OpenCL object is referenced and may be released at once; a CUcontext has to outlive the portmm_context. */
    void *native_context;
} portmm_context_options;
#define PORTMM_CONTEXT_OPTIONS_INIT                                                                                    \
    { .struct_size = sizeof(portmm_context_options) }

/*
 * Opens one device. Blocks: loads the backend's module and its driver, and creates the driver's context. It does not
 * load or compile kernels yet; the first product does, or portmm_prewarm.
 * options may be NULL: all defaults.
 * Errors: INVALID_ARGUMENT (malformed spec, unknown engine), UNAVAILABLE (module, driver or device is missing:
 * portmm_last_error says which and what to do), OUT_OF_MEMORY, DEVICE_ERROR.
 */
PORTMM_API portmm_status portmm_context_create(const portmm_context_options *options, portmm_context **context);

/* Waits for work and background threads of the context and frees it. A helper process that was started lives on. */
PORTMM_API void portmm_context_destroy(portmm_context *context);

typedef struct portmm_context_info {
    size_t struct_size;
    /* Strings belong to the context. */
    const char *backend;       /* "opencl" */
    int32_t device_index;      /* as in the spec "opencl:1" */
    const char *device_name;   /* as the driver tells it */
    const char *platform_name; /* OpenCL platform; "" elsewhere */
    const char *driver_version;
    const char *engine; /* the one that served the latest product; before the first, the one that will */
    const char *reason; /* why this device was taken, one sentence */
} portmm_context_info;
#define PORTMM_CONTEXT_INFO_INIT                                                                                       \
    { .struct_size = sizeof(portmm_context_info) }

/* Which device serves, why, and by which engine. With start policy hybrid it waits for the device. Errors:
 * INVALID_ARGUMENT; UNAVAILABLE (hybrid: no device could be opened). */
PORTMM_API portmm_status portmm_context_get_info(portmm_context *context, portmm_context_info *info);

/* ---- 4  host-pointer products ------------------------------------------------------------------------------------ */

/*
 * A product, or a batch of them, by its form: all but the data and the scalars. It goes to the functions that serve
 * every type (portmm_gemm, portmm_gemm_host) and to portmm_prewarm. Begin with PORTMM_PROBLEM_INIT.
 */
typedef struct portmm_problem {
    size_t struct_size;
    portmm_dtype dtype;
    portmm_layout layout;
    portmm_transpose transa, transb;
    int64_t m, n, k;
    int64_t lda, ldb, ldc;                /* 0: no padding */
    int64_t a_offset, b_offset, c_offset; /* some engines have other kernels where these are not zero */

    /* A batch: so many products of one form; 0: none, as BLAS has it. Product i finds A at a_offset + i * a_stride, or,
     * where a_offsets is not NULL, at a_offset + a_offsets[i]; B and C likewise. Strides and offsets are elements and
     * not negative. The stride of A or B may be 0, so that all products share it. Two results must not overlap. */
    int64_t batch_count;
    int64_t a_stride, b_stride, c_stride;
    const int64_t *a_offsets, *b_offsets, *c_offsets; /* batch_count of them; read before the call returns */

    /* An epilogue: C := activation(alpha * op(A) * op(B) + beta * C + bias), in the type of the sums: a 16-bit C is
     * rounded once. UNSUPPORTED where no engine in question has epilogues ("clblast" has not). */
    portmm_activation activation;
    portmm_bias bias_kind;
    int64_t bias_offset; /* elements; the bias has the matrices' type */
    int64_t bias_stride; /* from the bias of one product of a batch to the next; 0: they share it */
} portmm_problem;
#define PORTMM_PROBLEM_INIT                                                                                            \
    {                                                                                                                  \
        .struct_size = sizeof(portmm_problem), .dtype = PORTMM_F32, .layout = PORTMM_ROW_MAJOR,                        \
        .transa = PORTMM_NO_TRANS, .transb = PORTMM_NO_TRANS, .batch_count = 1                                         \
    }

/*
 * C := alpha * op(A) * op(B) + beta * C, for matrices in host memory; the library moves the data to the device and
 * back.
 *
 * op(A) is m x k, op(B) is k x n, C is m x n; op(X) = X, X^T or X^H by `transa`, `transb` (CONJ_TRANS is TRANS for
 * real types). Leading dimensions are in elements: of a row-major matrix the distance between rows, at least its number
 * of columns; of a column-major one the distance between columns, at least its number of rows; and at least 1.
 * Semantics are those of the reference BLAS: m == 0 or n == 0 does nothing; k == 0 or alpha == 0 gives C := beta * C
 * without reading A or B; with beta == 0 C is not read, so a NaN in it does not survive. Padding between rows (columns)
 * is neither read nor written. C must not overlap A or B.
 *
 * The letter is BLAS's: s is f32, d is f64, c is c32, z is c64; and h is f16, whose elements are the bits of a
 * binary16. All backends have f32 and, where the device can, f64; a backend without products of a type reports
 * UNSUPPORTED, and portmm_device_info.dtypes tells it ahead. An element is off by at most (k + 4) * s times the sum of
 * its terms' magnitudes, three times that for complex types, and the rounding to the type; s is 2^-53 for f64 and c64,
 * else 2^-24. Complex scalars and matrices are passed as CBLAS has it:
 * pointers to pairs of float or double.
 *
 * Blocks until C is complete. Errors: INVALID_ARGUMENT (names the BLAS parameter and its value), UNSUPPORTED (the
 * device lacks the type, or a size is beyond what the engine can index), OUT_OF_MEMORY, DEVICE_ERROR. After
 * INVALID_ARGUMENT, UNSUPPORTED or OUT_OF_MEMORY nothing has changed; after DEVICE_ERROR the content of C is undefined.
 */
PORTMM_API portmm_status portmm_sgemm_host(portmm_context *context, portmm_layout layout, portmm_transpose transa,
                                           portmm_transpose transb, int64_t m, int64_t n, int64_t k, float alpha,
                                           const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                                           float *c, int64_t ldc);
PORTMM_API portmm_status portmm_dgemm_host(portmm_context *context, portmm_layout layout, portmm_transpose transa,
                                           portmm_transpose transb, int64_t m, int64_t n, int64_t k, double alpha,
                                           const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                                           double *c, int64_t ldc);
PORTMM_API portmm_status portmm_cgemm_host(portmm_context *context, portmm_layout layout, portmm_transpose transa,
                                           portmm_transpose transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                           const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                                           void *c, int64_t ldc);
PORTMM_API portmm_status portmm_zgemm_host(portmm_context *context, portmm_layout layout, portmm_transpose transa,
                                           portmm_transpose transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                           const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                                           void *c, int64_t ldc);
PORTMM_API portmm_status portmm_hgemm_host(portmm_context *context, portmm_layout layout, portmm_transpose transa,
                                           portmm_transpose transb, int64_t m, int64_t n, int64_t k, float alpha,
                                           const uint16_t *a, int64_t lda, const uint16_t *b, int64_t ldb, float beta,
                                           uint16_t *c, int64_t ldc);

/*
 * The same for every type, with batches and epilogues: see portmm_problem. `alpha` and `beta` point to a float (f32,
 * f16, bf16), a double, or a pair of them (c32, c64). `bias` is NULL unless the problem has one. Where the device has
 * memory of its own, a batch is packed on the way. Errors as above; they name the member of the problem.
 */
PORTMM_API portmm_status portmm_gemm_host(portmm_context *context, const portmm_problem *problem, const void *alpha,
                                          const void *a, const void *b, const void *beta, void *c, const void *bias);

/* ---- 5  queues, buffers, events ---------------------------------------------------------------------------------- */

/* An in-order queue of the context's device: commands run one after the other, in the order of the calls. */
PORTMM_API portmm_status portmm_queue_create(portmm_context *context, portmm_queue **queue);
/* Blocks until all commands of the queue are complete. Errors: DEVICE_ERROR, DEVICE_LOST. */
PORTMM_API portmm_status portmm_queue_finish(portmm_queue *queue);
/*
 * Later commands of the queue start after the events of `wait_list`. *event, if `event` is not NULL, is complete when
 * all earlier commands of the queue are. Does not block. Arguments and errors as for portmm_sgemm.
 */
PORTMM_API portmm_status portmm_queue_barrier(portmm_queue *queue, size_t wait_count, portmm_event *const *wait_list,
                                              portmm_event **event);
/* Waits for the queue's commands, then frees it. */
PORTMM_API void portmm_queue_destroy(portmm_queue *queue);

/* Device memory of `size` bytes (at least 1), uninitialised. Errors: OUT_OF_MEMORY, INVALID_ARGUMENT. */
PORTMM_API portmm_status portmm_buffer_create(portmm_context *context, size_t size, portmm_buffer **buffer);
/* Commands already enqueued that use the buffer still complete. */
PORTMM_API void portmm_buffer_destroy(portmm_buffer *buffer);

/*
 * Copies `size` bytes between host memory and a buffer, `offset` bytes into it, in order with the queue's other
 * commands. Both block until the copy is complete. Errors: INVALID_ARGUMENT (range outside the buffer), DEVICE_ERROR.
 */
PORTMM_API portmm_status portmm_buffer_write(portmm_queue *queue, portmm_buffer *buffer, size_t offset, size_t size,
                                             const void *source);
PORTMM_API portmm_status portmm_buffer_read(portmm_queue *queue, const portmm_buffer *buffer, size_t offset,
                                            size_t size, void *destination);

/*
 * As portmm_buffer_write and portmm_buffer_read, but start after the queue's earlier commands and the events of
 * `wait_list`, and return: *event (`event` is not NULL; the caller destroys it) is complete when the copy is. Until
 * then the host memory is the library's: it is neither changed nor freed, and not read where it is the destination. So
 * a transfer on one queue runs beside a product on another. Where the backend cannot (CPU), the call blocks until then.
 */
PORTMM_API portmm_status portmm_buffer_write_start(portmm_queue *queue, portmm_buffer *buffer, size_t offset,
                                                   size_t size, const void *source, size_t wait_count,
                                                   portmm_event *const *wait_list, portmm_event **event);
PORTMM_API portmm_status portmm_buffer_read_start(portmm_queue *queue, const portmm_buffer *buffer, size_t offset,
                                                  size_t size, void *destination, size_t wait_count,
                                                  portmm_event *const *wait_list, portmm_event **event);

/*
 * A buffer that is `size` bytes of the caller's host memory, without a copy, where the device shares the host's memory.
 * The memory stays the caller's and outlives the buffer. The host reads and writes it only while the buffer is mapped;
 * memory aligned to 4096 bytes serves every driver. Errors: UNSUPPORTED (the device has memory of its own, or the
 * backend none of this: use portmm_buffer_create), INVALID_ARGUMENT, OUT_OF_MEMORY, DEVICE_ERROR.
 */
PORTMM_API portmm_status portmm_buffer_share(portmm_context *context, void *memory, size_t size,
                                             portmm_buffer **buffer);
/*
 * The content of any buffer as host memory, from *memory on, until it is unmapped: of a shared one that is its own
 * memory. Blocks until the queue's earlier commands are complete. Meanwhile no command uses the buffer, and it is not
 * mapped again. Errors: UNSUPPORTED, INVALID_ARGUMENT (also: already mapped, not mapped), DEVICE_ERROR.
 */
PORTMM_API portmm_status portmm_buffer_map(portmm_queue *queue, portmm_buffer *buffer, void **memory);
/* Gives the memory back to the device. Blocks. A buffer is unmapped before it is destroyed. */
PORTMM_API portmm_status portmm_buffer_unmap(portmm_queue *queue, portmm_buffer *buffer);

/* Blocks until the command behind the event is complete. Errors: DEVICE_ERROR if the command failed. */
PORTMM_API portmm_status portmm_event_wait(portmm_event *event);

/* As portmm_queue_create; the queue's events know when their commands ran, which may make each of them slower. Errors:
 * also UNSUPPORTED. */
PORTMM_API portmm_status portmm_queue_create_timed(portmm_context *context, portmm_queue **queue);
/*
 * When the device began the command behind an event of a timed queue, and when it was done with it: nanoseconds of a
 * clock of the device, for differences between events of one device. Blocks until the command is complete. Errors:
 * UNSUPPORTED (the queue is not timed), DEVICE_ERROR.
 */
PORTMM_API portmm_status portmm_event_get_times(portmm_event *event, uint64_t *begin_ns, uint64_t *end_ns);

/*
 * Objects of the application's own, of the context given as options.native_context: its cl_command_queue or CUstream as
 * a queue, its cl_mem or CUdeviceptr as a buffer (a CUdeviceptr is cast to a pointer). They are destroyed as others
 * are, and commands of ours and of the application on one queue run in the order of the calls.
 *
 * OpenCL: the library holds a reference until it is destroyed, so that the application may release its own. The queue
 * is in order; a sub-buffer counts as a buffer; matrix C must not be in memory made with CL_MEM_READ_ONLY, nor a matrix
 * that is read in memory made with CL_MEM_WRITE_ONLY. CUDA: objects have to outlive ours; NULL is the default stream.
 * portmm_queue_destroy waits for the application's commands, too.
 * Errors: INVALID_ARGUMENT (not one of this context and device, out of order, no buffer), UNSUPPORTED, OUT_OF_MEMORY.
 */
PORTMM_API portmm_status portmm_queue_borrow(portmm_context *context, void *native, portmm_queue **queue);
PORTMM_API portmm_status portmm_buffer_borrow(portmm_context *context, void *native, portmm_buffer **buffer);
/* The driver's own object behind an event, cl_event or CUevent, for commands of the application that wait for ours.
 * Valid as long as the event; an application that needs it longer takes a reference. Errors: UNSUPPORTED. */
PORTMM_API portmm_status portmm_event_get_native(portmm_event *event, void **native);

/* Does not wait for the command. */
PORTMM_API void portmm_event_destroy(portmm_event *event);

/* ---- 6  products on buffers -------------------------------------------------------------------------------------- */

/*
 * As portmm_sgemm_host, for matrices in buffers of the queue's context; offsets are in elements from the start of the
 * buffer. Enqueues and returns: the product starts after the queue's earlier commands and after all `wait_count` events
 * of `wait_list` (events of other queues of the same context; may be NULL when the count is 0). *event, if `event` is
 * not NULL, is an event of the product, which the caller destroys.
 * The first product of a context prepares its engine (load or compile kernels) and blocks for that.
 * Errors as above; also INVALID_ARGUMENT where a matrix reaches outside its buffer. On an error nothing was enqueued.
 */
PORTMM_API portmm_status portmm_sgemm(portmm_queue *queue, portmm_layout layout, portmm_transpose transa,
                                      portmm_transpose transb, int64_t m, int64_t n, int64_t k, float alpha,
                                      const portmm_buffer *a, int64_t a_offset, int64_t lda, const portmm_buffer *b,
                                      int64_t b_offset, int64_t ldb, float beta, portmm_buffer *c, int64_t c_offset,
                                      int64_t ldc, size_t wait_count, portmm_event *const *wait_list,
                                      portmm_event **event);
PORTMM_API portmm_status portmm_dgemm(portmm_queue *queue, portmm_layout layout, portmm_transpose transa,
                                      portmm_transpose transb, int64_t m, int64_t n, int64_t k, double alpha,
                                      const portmm_buffer *a, int64_t a_offset, int64_t lda, const portmm_buffer *b,
                                      int64_t b_offset, int64_t ldb, double beta, portmm_buffer *c, int64_t c_offset,
                                      int64_t ldc, size_t wait_count, portmm_event *const *wait_list,
                                      portmm_event **event);
PORTMM_API portmm_status portmm_cgemm(portmm_queue *queue, portmm_layout layout, portmm_transpose transa,
                                      portmm_transpose transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                      const portmm_buffer *a, int64_t a_offset, int64_t lda, const portmm_buffer *b,
                                      int64_t b_offset, int64_t ldb, const void *beta, portmm_buffer *c,
                                      int64_t c_offset, int64_t ldc, size_t wait_count, portmm_event *const *wait_list,
                                      portmm_event **event);
PORTMM_API portmm_status portmm_zgemm(portmm_queue *queue, portmm_layout layout, portmm_transpose transa,
                                      portmm_transpose transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                                      const portmm_buffer *a, int64_t a_offset, int64_t lda, const portmm_buffer *b,
                                      int64_t b_offset, int64_t ldb, const void *beta, portmm_buffer *c,
                                      int64_t c_offset, int64_t ldc, size_t wait_count, portmm_event *const *wait_list,
                                      portmm_event **event);
PORTMM_API portmm_status portmm_hgemm(portmm_queue *queue, portmm_layout layout, portmm_transpose transa,
                                      portmm_transpose transb, int64_t m, int64_t n, int64_t k, float alpha,
                                      const portmm_buffer *a, int64_t a_offset, int64_t lda, const portmm_buffer *b,
                                      int64_t b_offset, int64_t ldb, float beta, portmm_buffer *c, int64_t c_offset,
                                      int64_t ldc, size_t wait_count, portmm_event *const *wait_list,
                                      portmm_event **event);

/* batch_count products of one form: product i has its A, B and C i strides further on (elements; see portmm_problem).
 * An engine without batches of its own makes them one after the other. */
PORTMM_API portmm_status portmm_sgemm_strided_batched(
    portmm_queue *queue, portmm_layout layout, portmm_transpose transa, portmm_transpose transb, int64_t m, int64_t n,
    int64_t k, float alpha, const portmm_buffer *a, int64_t a_offset, int64_t lda, int64_t a_stride,
    const portmm_buffer *b, int64_t b_offset, int64_t ldb, int64_t b_stride, float beta, portmm_buffer *c,
    int64_t c_offset, int64_t ldc, int64_t c_stride, int64_t batch_count, size_t wait_count,
    portmm_event *const *wait_list, portmm_event **event);
PORTMM_API portmm_status portmm_dgemm_strided_batched(
    portmm_queue *queue, portmm_layout layout, portmm_transpose transa, portmm_transpose transb, int64_t m, int64_t n,
    int64_t k, double alpha, const portmm_buffer *a, int64_t a_offset, int64_t lda, int64_t a_stride,
    const portmm_buffer *b, int64_t b_offset, int64_t ldb, int64_t b_stride, double beta, portmm_buffer *c,
    int64_t c_offset, int64_t ldc, int64_t c_stride, int64_t batch_count, size_t wait_count,
    portmm_event *const *wait_list, portmm_event **event);
PORTMM_API portmm_status portmm_cgemm_strided_batched(
    portmm_queue *queue, portmm_layout layout, portmm_transpose transa, portmm_transpose transb, int64_t m, int64_t n,
    int64_t k, const void *alpha, const portmm_buffer *a, int64_t a_offset, int64_t lda, int64_t a_stride,
    const portmm_buffer *b, int64_t b_offset, int64_t ldb, int64_t b_stride, const void *beta, portmm_buffer *c,
    int64_t c_offset, int64_t ldc, int64_t c_stride, int64_t batch_count, size_t wait_count,
    portmm_event *const *wait_list, portmm_event **event);
PORTMM_API portmm_status portmm_zgemm_strided_batched(
    portmm_queue *queue, portmm_layout layout, portmm_transpose transa, portmm_transpose transb, int64_t m, int64_t n,
    int64_t k, const void *alpha, const portmm_buffer *a, int64_t a_offset, int64_t lda, int64_t a_stride,
    const portmm_buffer *b, int64_t b_offset, int64_t ldb, int64_t b_stride, const void *beta, portmm_buffer *c,
    int64_t c_offset, int64_t ldc, int64_t c_stride, int64_t batch_count, size_t wait_count,
    portmm_event *const *wait_list, portmm_event **event);
PORTMM_API portmm_status portmm_hgemm_strided_batched(
    portmm_queue *queue, portmm_layout layout, portmm_transpose transa, portmm_transpose transb, int64_t m, int64_t n,
    int64_t k, float alpha, const portmm_buffer *a, int64_t a_offset, int64_t lda, int64_t a_stride,
    const portmm_buffer *b, int64_t b_offset, int64_t ldb, int64_t b_stride, float beta, portmm_buffer *c,
    int64_t c_offset, int64_t ldc, int64_t c_stride, int64_t batch_count, size_t wait_count,
    portmm_event *const *wait_list, portmm_event **event);

/* The same for every type, with batches and epilogues, as portmm_gemm_host. */
PORTMM_API portmm_status portmm_gemm(portmm_queue *queue, const portmm_problem *problem, const void *alpha,
                                     const portmm_buffer *a, const portmm_buffer *b, const void *beta, portmm_buffer *c,
                                     const portmm_buffer *bias, size_t wait_count, portmm_event *const *wait_list,
                                     portmm_event **event);

/* One change of the engine that serves a class of products. */
typedef struct portmm_switch {
    uint64_t at_ns;     /* portmm_clock_ns */
    const char *from;   /* engine, or "cpu" for the CPU backend before a device is open */
    const char *to;     /* engine */
    const char *why;    /* static text */
    portmm_dtype dtype; /* of the product that the change was made for */
    int64_t m, n, k;
} portmm_switch;

/* Copies the first `capacity` switches of the context to `switches`, and their number to *count. It keeps 64. */
PORTMM_API portmm_status portmm_switches_read(portmm_context *context, size_t capacity, portmm_switch *switches,
                                              size_t *count);

/* ---- 7  prewarm -------------------------------------------------------------------------------------------------- */

/*
 * Prepares the engine for the problem: loads or compiles its kernels, runs them once on scratch data of the problem's
 * size, and stores in the on-disk cache what is not there yet. With start policy fast, does so for every engine, checks
 * the result of each on whole numbers, times them, and settles which one serves problems of this class. Blocks, on some
 * drivers for many seconds when nothing is cached. Errors as for a product.
 */
PORTMM_API portmm_status portmm_prewarm(portmm_context *context, const portmm_problem *problem);

/* ---- 8  inventory ------------------------------------------------------------------------------------------------ */

/*
 * What this machine has: every backend the library knows, with its devices or the reason why it is unavailable.
 * Uses the members backend (NULL or "auto": all of the library's own; "opencl": only that one), module_path and log of
 * the options, which may be NULL. Blocks: loads modules and drivers, opens no device. Fails only for bad options or
 * lack of memory.
 */
PORTMM_API portmm_status portmm_inventory_create(const portmm_context_options *options, portmm_inventory **inventory);
PORTMM_API void portmm_inventory_destroy(portmm_inventory *inventory);

typedef struct portmm_backend_info {
    size_t struct_size;
    /* Strings belong to the inventory. */
    const char *name;
    const char *module_file;        /* path of the module; "" if none was found */
    int32_t available;              /* 1: it has at least one device that works */
    const char *unavailable_reason; /* "" if available; else one line that says what to do */
} portmm_backend_info;
#define PORTMM_BACKEND_INFO_INIT                                                                                       \
    { .struct_size = sizeof(portmm_backend_info) }

typedef enum portmm_device_type {
    PORTMM_DEVICE_CPU = 1,
    PORTMM_DEVICE_GPU = 2,
    PORTMM_DEVICE_ACCELERATOR = 3,
    PORTMM_DEVICE_OTHER = 4
} portmm_device_type;

typedef struct portmm_device_info {
    size_t struct_size;
    /* Strings belong to the inventory. */
    const char *backend;
    int32_t index; /* "opencl:1" has index 1 */
    const char *name;
    const char *vendor;
    const char *platform_name;
    const char *platform_version;
    const char *driver_version;
    portmm_device_type type;
    int32_t compute_units;
    uint64_t memory_size;    /* bytes; 0: unknown */
    uint64_t max_allocation; /* bytes, the largest single buffer; 0: unknown */
    int32_t has_f64;
    int32_t has_f16;                /* arithmetic in f16; products of f16 need it not */
    const char *engines;            /* comma-separated, best first: "clblast"; "" if none */
    const char *unavailable_reason; /* "" if the device can be used */
    uint32_t dtypes;                /* PORTMM_DTYPE_BIT of each type that some engine has products of */
} portmm_device_info;
#define PORTMM_DEVICE_INFO_INIT                                                                                        \
    { .struct_size = sizeof(portmm_device_info) }

/* One property of a backend or device, for people to read: ("max_work_group_size", "4096"). Valid during the call. */
typedef void (*portmm_property_callback)(const char *name, const char *value, void *user_data);

/*
 * Tells what else is known of a backend (`index` -1) or of one of its devices, one call of `callback` for each
 * property, on this thread. Names are lower case with underscores; which there are depends on the backend, and may
 * grow. Sizes are in bytes. Blocks: may load the vendor's library. An unavailable backend has no properties.
 */
PORTMM_API portmm_status portmm_inventory_visit_properties(const portmm_inventory *inventory, const char *backend,
                                                           int32_t index, portmm_property_callback callback,
                                                           void *user_data);

/* The backends, also those that are unavailable, and the devices of all of them, also those that cannot be used: how
 * many there are (0 for NULL), and one by its position. Errors: INVALID_ARGUMENT (position). */
PORTMM_API size_t portmm_inventory_backend_count(const portmm_inventory *inventory);
PORTMM_API portmm_status portmm_inventory_get_backend(const portmm_inventory *inventory, size_t position,
                                                      portmm_backend_info *info);
PORTMM_API size_t portmm_inventory_device_count(const portmm_inventory *inventory);
PORTMM_API portmm_status portmm_inventory_get_device(const portmm_inventory *inventory, size_t position,
                                                     portmm_device_info *info);

/* ---- 9  timeline ------------------------------------------------------------------------------------------------- */

/*
 * Every call that can take time is a span of one phase. A span inside another interrupts it, so that the phases of one
 * thread never overlap and their times may be added.
 */
#define PORTMM_PHASE_LIST(X)                                                                                           \
    X(LOAD, 0, "load")                   /* shared libraries: modules, drivers, vendor libraries */                    \
    X(ENUMERATE, 1, "enumerate")         /* platforms and devices */                                                   \
    X(CONTEXT, 2, "context")             /* driver context and queues */                                               \
    X(CACHE_LOOKUP, 3, "cache_lookup")   /* search, read, check and unpack a cache entry; start of the helper */       \
    X(BUILD, 4, "build")                 /* compile a program from source */                                           \
    X(BINARY_LOAD, 5, "binary_load")     /* hand a cached binary to the driver */                                      \
    X(KERNEL_CREATE, 6, "kernel_create") /* kernel objects */                                                          \
    X(ENGINE_INIT, 7, "engine_init")     /* vendor library's own start */                                              \
    X(ALLOCATE, 8, "allocate")           /* device memory */                                                           \
    X(UPLOAD, 9, "upload")               /* host to device */                                                          \
    X(FIRST_LAUNCH, 10, "first_launch")  /* first product: launch until complete, less the phases inside it */         \
    X(STEADY, 11, "steady")              /* later products */                                                          \
    X(DOWNLOAD, 12, "download")          /* device to host */

typedef enum portmm_phase {
#define PORTMM_PHASE_ENUM(name, number, text) PORTMM_PHASE_##name = (number),
    PORTMM_PHASE_LIST(PORTMM_PHASE_ENUM)
#undef PORTMM_PHASE_ENUM
} portmm_phase;
#define PORTMM_PHASE_COUNT 13

/* "first_launch". Never NULL. */
PORTMM_API const char *portmm_phase_name(portmm_phase phase);

/* Nanoseconds of a monotonic clock (CLOCK_MONOTONIC on POSIX systems): the clock of all stamps here. */
PORTMM_API uint64_t portmm_clock_ns(void);

typedef struct portmm_span {
    portmm_phase phase;
    uint32_t depth;    /* 0: outermost */
    uint64_t thread;   /* small number, 0 is the first thread seen */
    uint64_t begin_ns; /* portmm_clock_ns */
    uint64_t end_ns;
    const char *detail; /* static text: what it was, "clBuildProgram"; never NULL */
} portmm_span;

/*
 * Copies the first `capacity` spans of the context, in order of their end, to `spans`, and their number to *count (may
 * be more than `capacity`; call with capacity 0 to learn it). A context keeps its first 1024 spans.
 */
PORTMM_API portmm_status portmm_timeline_read(portmm_context *context, size_t capacity, portmm_span *spans,
                                              size_t *count);

/* Nanoseconds spent in each phase since the context was created, without the spans inside (exclusive times), also in
 * spans that were not kept. Spans of the library's own threads are kept but not added: no call waits for them. */
PORTMM_API portmm_status portmm_timeline_totals(portmm_context *context, uint64_t totals[PORTMM_PHASE_COUNT]);

/* ---- 10  cache --------------------------------------------------------------------------------------------------- */

typedef struct portmm_cache_stats {
    size_t struct_size;
    /* Counted for this context since it was created. */
    uint64_t hits;     /* entries found and used */
    uint64_t misses;   /* entries looked for and not found, or unusable */
    uint64_t stores;   /* entries written, also those that a helper is still to prove */
    uint64_t bypassed; /* products whose program was compiled where the cache cannot see it */
    uint64_t healed;   /* damaged or refused entries removed */
    uint64_t faults;   /* file-system trouble, each logged once as a warning */
    uint64_t bytes;    /* unpacked bytes of all hits and stores */
    uint64_t helpers;  /* helper processes started */
} portmm_cache_stats;
#define PORTMM_CACHE_STATS_INIT                                                                                        \
    { .struct_size = sizeof(portmm_cache_stats) }

/* What the cache has done for the context so far. Errors: INVALID_ARGUMENT. */
PORTMM_API portmm_status portmm_cache_get_stats(portmm_context *context, portmm_cache_stats *stats);

/* The directory in use; "" if the cache is off or in memory only. The text belongs to the context. */
PORTMM_API const char *portmm_cache_get_path(portmm_context *context);

/* Why the cache is off or cannot be written, one line with advice; "" if all is well. Belongs to the context. */
PORTMM_API const char *portmm_cache_get_reason(portmm_context *context);

#ifdef __cplusplus
}
#endif

#endif
