#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A matrix product from Python, with nothing but its standard library.

    portmm_ctypes.py [BACKEND]      such as: auto (the default), cpu, opencl:1

The library is libportmm.so.0 where the dynamic linker finds it, or the file that PORTMM_LIBRARY names.
"""
import ctypes
import os
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_void_p

SUCCESS, INVALID_ARGUMENT, UNAVAILABLE, UNSUPPORTED = 0, 1, 3, 4
ROW_MAJOR, NO_TRANS, TRANS = 101, 111, 112


class ContextOptions(ctypes.Structure):
    """The members of portmm_context_options that are used here. A library takes a shorter structure, by its size."""
    _fields_ = [("struct_size", c_size_t), ("backend", c_char_p), ("engine", c_char_p)]


class ContextInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("backend", c_char_p), ("device_index", c_int32),
                ("device_name", c_char_p), ("platform_name", c_char_p), ("driver_version", c_char_p),
                ("engine", c_char_p), ("reason", c_char_p)]


class Error(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def load():
    """Opens the library and states the types of what is called: ctypes would take every result for an int."""
    library = ctypes.CDLL(os.environ.get("PORTMM_LIBRARY", "libportmm.so.0"))
    library.portmm_last_error.restype = c_char_p
    library.portmm_version.restype = c_char_p
    library.portmm_context_create.argtypes = [POINTER(ContextOptions), POINTER(c_void_p)]
    library.portmm_context_destroy.argtypes = [c_void_p]
    library.portmm_context_destroy.restype = None
    library.portmm_context_get_info.argtypes = [c_void_p, POINTER(ContextInfo)]
    for name, real in (("portmm_sgemm_host", c_float), ("portmm_dgemm_host", c_double)):
        getattr(library, name).argtypes = [c_void_p, c_int, c_int, c_int, c_int64, c_int64, c_int64,
                                           real, POINTER(real), c_int64, POINTER(real), c_int64,
                                           real, POINTER(real), c_int64]
    return library


class Context:
    """A device, opened: with Context("auto") as context: ..."""

    def __init__(self, backend=None):
        self.library = load()
        self.handle = c_void_p()
        options = ContextOptions(struct_size=ctypes.sizeof(ContextOptions), backend=backend and backend.encode())
        self.check(self.library.portmm_context_create(byref(options), byref(self.handle)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.portmm_context_destroy(self.handle)
        self.handle = c_void_p()

    def check(self, status):
        if status != SUCCESS:  # the text is this thread's, until the next call
            raise Error(status, self.library.portmm_last_error().decode())

    def describe(self):
        info = ContextInfo(struct_size=ctypes.sizeof(ContextInfo))
        self.check(self.library.portmm_context_get_info(self.handle, byref(info)))
        return "%s:%d (%s), engine %s" % (info.backend.decode(), info.device_index, info.device_name.decode(),
                                          info.engine.decode())

    def multiply(self, a, b, c, m, n, k, alpha=1, beta=0, transa=NO_TRANS, lda=None):
        """c := alpha * op(a) * b + beta * c for row-major arrays of c_float or of c_double; c is changed in place."""
        gemm = {c_float: self.library.portmm_sgemm_host, c_double: self.library.portmm_dgemm_host}[c._type_]
        lda = lda or (k if transa == NO_TRANS else m)
        self.check(gemm(self.handle, ROW_MAJOR, transa, NO_TRANS, m, n, k, alpha, a, lda, b, n, beta, c, n))


def check_product(context, real, m, n, k):
    """A whole-number product, which is exact on every device, against three loops."""
    a = (real * (m * k))(*(i % 7 - 3 for i in range(m * k)))
    b = (real * (k * n))(*(i % 5 - 2 for i in range(k * n)))
    a_transposed = (real * (k * m))(*(a[i * k + p] for p in range(k) for i in range(m)))
    expected = [2 * sum(a[i * k + p] * b[p * n + j] for p in range(k)) - 1 for i in range(m) for j in range(n)]
    for matrix, transa in ((a, NO_TRANS), (a_transposed, TRANS)):
        c = (real * (m * n))(*[1] * (m * n))
        context.multiply(matrix, b, c, m, n, k, alpha=2, beta=-1, transa=transa)
        if list(c) != expected:
            sys.exit("wrong product: %s instead of %s" % (list(c)[:4], expected[:4]))


def check_error(context):
    """What is wrong is told in words, and nothing has changed."""
    a, b, c = ((c_float * 6)() for _ in range(3))
    try:
        context.multiply(a, b, c, 2, 2, 3, lda=2)
    except Error as error:
        print("an error in words:", error)
        if error.status != INVALID_ARGUMENT or "lda = 2" not in str(error):
            sys.exit("not what was expected")
    else:
        sys.exit("a leading dimension that is too small was taken")


def main():
    try:
        context = Context(sys.argv[1] if len(sys.argv) > 1 else None)
    except Error as error:
        print(error)
        sys.exit(77 if error.status == UNAVAILABLE else 1)  # 77: a test run counts it as skipped
    with context:
        check_product(context, c_float, 5, 4, 3)
        check_product(context, c_float, 17, 33, 9)
        print("libportmm", context.library.portmm_version().decode(), "on", context.describe() + ": right")
        try:
            check_product(context, c_double, 5, 4, 3)
        except Error as error:
            print("f64:", error)
            if error.status != UNSUPPORTED:  # a device may lack the type
                sys.exit(1)
        check_error(context)


if __name__ == "__main__":
    main()
