#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A peer of portmm-bench: the founding experiment on a Python framework, as its own documentation shows it.

usage: peer_python.py pytorch|tensorflow|jax|numpy|cupy REQUEST STAMP, started by portmm-bench. It leaves one JSON object on
stdout, like the peers in C: times in milliseconds from STAMP, the clock before this process was started.

Every figure is taken after the device is done. `runs_unsynchronised_ms` alone is not: it is what a script shows that
reads the clock when its loop ends, while the device still works on what the loop has enqueued. Matrices are full
float32 or float64: the shortcuts that some frameworks take by default (TF32) are turned off.
"""
import array
import importlib
import json
import math
import os
import statistics
import sys
import time

clock = time.perf_counter_ns if time.get_clock_info("perf_counter").implementation.endswith("MONOTONIC)") else None
ENTRY = clock() if clock else 0

# As bench/steady.c: windows of products until their medians agree, then the products that are kept.
WINDOW_PRODUCTS, WINDOW_MS = 10, 100.0
SETTLE_PRODUCTS, SETTLE_MS, SETTLE_BOUND_MS, SETTLE_DIFFERENCE = 20, 500.0, 5000.0, 0.01
KEEP_MOST, KEEP_LEAST, KEEP_MS = 200, 5, 2000.0
RUNS_BOUND_MS, RUNS_LEAST = 5000.0, 2
CHECKED_ELEMENTS = 64


class Absent(Exception):
    """Why this peer cannot be measured here: one line."""


def first_line(error):
    return (str(error).splitlines() or [""])[0]


class Framework:
    """What all have in common: a product of self.a and self.b, both on the device."""

    module = ""

    def __init__(self, request):
        try:
            self.lib = importlib.import_module(self.module)
        except ImportError as error:
            raise Absent(f"Python module {self.module} is not importable by {sys.executable}: {first_line(error)}") from error
        self.request = request
        self.on_gpu = request["backend"].startswith("cuda")
        self.index = request["device_index"]
        self.kind = "float32" if request["dtype"] == "f32" else "float64"
        self.a = self.b = self.c = None

    def shape(self, name):
        rows, columns = ("m", "k") if name == "a" else ("k", "n")
        stored_transposed = self.request["transa" if name == "a" else "transb"]
        sizes = self.request[rows], self.request[columns]
        return sizes[::-1] if stored_transposed else sizes

    def oriented(self):
        a = self.a.T if self.request["transa"] else self.a
        b = self.b.T if self.request["transb"] else self.b
        return a, b

    def version(self):
        return str(getattr(self.lib, "__version__", ""))


class PyTorch(Framework):
    module = "torch"

    def connect(self):
        if self.on_gpu and not self.lib.cuda.is_available():
            raise Absent("PyTorch sees no CUDA device")
        self.place = self.lib.device(f"cuda:{self.index}" if self.on_gpu else "cpu")
        self.lib.empty(1, device=self.place)
        return self.lib.cuda.get_device_name(self.place) if self.on_gpu else "cpu"

    def upload(self, name, values):
        flat = self.lib.frombuffer(values, dtype=getattr(self.lib, self.kind))
        return flat.reshape(self.shape(name)).to(self.place)

    def product(self):
        self.c = self.lib.matmul(*self.oriented())

    def wait(self):
        if self.on_gpu:
            self.lib.cuda.synchronize(self.place)

    def download(self):
        return self.c.cpu()


class NumpyLike(Framework):
    """Frameworks whose arrays are made from NumPy's."""

    def host_array(self, name, values):
        return importlib.import_module("numpy").frombuffer(values, dtype=self.kind).reshape(self.shape(name))


class NumPy(NumpyLike):
    module = "numpy"

    def connect(self):
        return "cpu"

    def upload(self, name, values):
        return self.lib.array(self.host_array(name, values))

    def product(self):
        self.c = self.lib.matmul(*self.oriented())

    def wait(self):
        """NumPy's products are complete when they return."""

    def download(self):
        return self.c


class CuPy(NumpyLike):
    module = "cupy"

    def connect(self):
        try:
            self.lib.cuda.Device(self.index).use()
            self.lib.empty(1)
            name = self.lib.cuda.runtime.getDeviceProperties(self.index)["name"]
        except self.lib.cuda.runtime.CUDARuntimeError as error:
            raise Absent(f"CuPy cannot open the device: {first_line(error)}") from error
        return name.decode() if isinstance(name, bytes) else name

    def upload(self, name, values):
        return self.lib.asarray(self.host_array(name, values))

    def product(self):
        self.c = self.lib.matmul(*self.oriented())

    def wait(self):
        self.lib.cuda.runtime.deviceSynchronize()

    def download(self):
        return self.lib.asnumpy(self.c)


class Jax(NumpyLike):
    module = "jax"

    def connect(self):
        jax = self.lib
        if self.kind == "float64":
            jax.config.update("jax_enable_x64", True)
        try:
            devices = jax.devices("gpu" if self.on_gpu else "cpu")
        except RuntimeError as error:
            raise Absent(f"JAX finds no device: {first_line(error)}") from error
        if self.index >= len(devices):
            raise Absent(f"JAX has no device {self.index}")
        self.place = devices[self.index]
        numpy_api = importlib.import_module("jax.numpy")
        transa, transb = self.request["transa"], self.request["transb"]

        def multiply(a, b):
            return numpy_api.matmul(a.T if transa else a, b.T if transb else b, precision="highest")

        self.compiled, self.pending = jax.jit(multiply), []
        return str(getattr(self.place, "device_kind", self.place))

    def upload(self, name, values):
        return self.lib.device_put(self.host_array(name, values), self.place)

    def product(self):
        self.c = self.compiled(self.a, self.b)
        self.pending.append(self.c)

    def wait(self):
        self.lib.block_until_ready((self.a, self.b, self.pending))
        self.pending.clear()

    def download(self):
        return importlib.import_module("numpy").asarray(self.c)


class TensorFlow(NumpyLike):
    module = "tensorflow"

    def connect(self):
        tf = self.lib
        tf.config.experimental.enable_tensor_float_32_execution(False)
        devices = tf.config.list_physical_devices("GPU" if self.on_gpu else "CPU")
        if self.index >= len(devices):
            raise Absent(f"TensorFlow sees no {'GPU' if self.on_gpu else 'CPU'} {self.index}")
        self.place = f"/{'GPU' if self.on_gpu else 'CPU'}:{self.index}"
        with tf.device(self.place):
            tf.zeros(1)
        return tf.config.experimental.get_device_details(devices[self.index]).get("device_name", "cpu")

    def upload(self, name, values):
        with self.lib.device(self.place):
            return self.lib.constant(self.host_array(name, values))

    def product(self):
        with self.lib.device(self.place):
            self.c = self.lib.matmul(
                self.a, self.b, transpose_a=self.request["transa"], transpose_b=self.request["transb"]
            )

    def wait(self):
        self.lib.test.experimental.sync_devices()

    def download(self):
        return self.c.numpy()


FRAMEWORKS = {"pytorch": PyTorch, "tensorflow": TensorFlow, "jax": Jax, "numpy": NumPy, "cupy": CuPy}


def elapsed_ms(begin, end):
    return (end - begin) * 1e-6


def make_values(kind, count, seed):
    """Values in [-1, 1): a pattern of prime length, repeated, so that no two rows are alike."""
    pattern, state = array.array("f" if kind == "float32" else "d"), seed
    for _ in range(4099):
        state = (state * 1103515245 + 12345) % 2**31
        pattern.append(state * 2.0**-30 - 1.0)
    return bytearray((pattern * (count // len(pattern) + 1))[:count].tobytes())


def timed_product(framework):
    begin = clock()
    framework.product()
    framework.wait()
    return elapsed_ms(begin, clock())


def run_products(framework, count):
    """Milliseconds until the last call returned, and until the device was done."""
    begin = clock()
    for _ in range(count):
        framework.product()
    returned = clock()
    framework.wait()
    return elapsed_ms(begin, returned), elapsed_ms(begin, clock())


def repeat_founding_runs(framework, request, first_ms, result):
    if request["runs"] == 0 or request["loops"] == 0:
        return
    begin = clock()
    returned, rest = run_products(framework, request["loops"] - 1)
    runs, unsynchronised = [first_ms + rest], [first_ms + returned]
    while len(runs) < request["runs"] and (
        not request["runs_bounded"] or len(runs) < RUNS_LEAST or elapsed_ms(begin, clock()) < RUNS_BOUND_MS
    ):
        returned, complete = run_products(framework, request["loops"])
        runs.append(complete)
        unsynchronised.append(returned)
    result.update(runs_ms=runs, runs_unsynchronised_ms=unsynchronised, run0_rest_ms=rest)


def run_window(framework):
    begin, window = clock(), []
    while len(window) < WINDOW_PRODUCTS or elapsed_ms(begin, clock()) < WINDOW_MS:
        window.append(timed_product(framework))
    return window


def go_to_steady(framework, result):
    begin, before, products, settled = clock(), 0.0, 0, False
    while not settled and elapsed_ms(begin, clock()) < SETTLE_BOUND_MS:
        window = run_window(framework)
        median, products = statistics.median(window), products + len(window)
        settled = (
            products >= SETTLE_PRODUCTS
            and elapsed_ms(begin, clock()) >= SETTLE_MS
            and abs(median - before) <= SETTLE_DIFFERENCE * before
        )
        before = median
    begin, kept = clock(), []
    while len(kept) < KEEP_LEAST or (len(kept) < KEEP_MOST and elapsed_ms(begin, clock()) < KEEP_MS):
        kept.append(timed_product(framework))
    result.update(gemm_ms=kept, settled=settled)


def verdict_of(framework, host, product):
    """Elements spread over C against sums in double precision, under the bound of any order of summation."""
    request, errors = framework.request, []
    m, n, k = request["m"], request["n"], request["k"]
    code = "f" if framework.kind == "float32" else "d"
    a, b = (memoryview(host[name]).cast(code) for name in "ab")
    unit = 2.0**-24 if code == "f" else 2.0**-53
    for number in range(min(CHECKED_ELEMENTS, m * n)):
        i, j = number * 7919 % m, number * 104729 % n
        row = a[i::m] if request["transa"] else a[i * k : (i + 1) * k]
        column = b[j * k : (j + 1) * k] if request["transb"] else b[j::n]
        scale = math.sqrt(math.fsum(x * x for x in row) * math.fsum(x * x for x in column)) or 1.0
        errors.append(abs(float(product[i, j]) - math.fsum(x * y for x, y in zip(row, column))) / scale)
    return {
        "correct": all(error <= (k + 2) * unit for error in errors),  # a NaN is wrong
        "rows": min(CHECKED_ELEMENTS, m),
        "relative_error": max(errors) if all(map(math.isfinite, errors)) else None,
    }


def sample(name, request, spawn):
    framework = FRAMEWORKS[name](request)
    first_call = clock()
    device = framework.connect()
    host = {}
    for seed, matrix in enumerate("ab", 1):
        rows, columns = framework.shape(matrix)
        host[matrix] = make_values(framework.kind, rows * columns, seed)
        setattr(framework, matrix, framework.upload(matrix, host[matrix]))
    framework.wait()
    begin = clock()
    framework.product()
    framework.wait()
    end = clock()
    product = framework.download()
    done = clock()
    result = {
        "device": device,
        "version": framework.version(),
        "process_to_result_ms": elapsed_ms(spawn, done),
        "first_gemm_ms": elapsed_ms(begin, end),
        "before_first_call_ms": elapsed_ms(spawn, first_call),
        "start_ms": elapsed_ms(spawn, ENTRY),
    }
    repeat_founding_runs(framework, request, elapsed_ms(first_call, done), result)
    if request["steady"]:
        go_to_steady(framework, result)
    if request["verify"]:
        result["verdict"] = verdict_of(framework, host, product)
    return result


def take_stdout():
    """The stream to the parent; what frameworks print to stdout goes to stderr from now on."""
    sys.stdout.flush()
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return stream


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in FRAMEWORKS:
        sys.exit(__doc__)
    output = take_stdout()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        if clock is None:
            raise Absent("this Python has no clock that compares with that of another process")
        result = sample(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]))
    except Absent as error:
        result = {"error": str(error), "status": 3}
    except Exception as error:  # pylint: disable=broad-except
        # Whatever a framework throws is for the one line that names this peer as absent.
        result = {"error": f"{sys.argv[1]}: {type(error).__name__}: {first_line(error)}"[:480], "status": 0}
    json.dump(result, output, allow_nan=False)
    output.write("\n")
    output.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
