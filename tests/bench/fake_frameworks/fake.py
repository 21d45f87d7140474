# SPDX-License-Identifier: Apache-2.0
"""What the stand-ins for frameworks share: matrices in plain Python, an asynchronous device, and the faults that
FAKE_FAULT asks for.

The device is asynchronous: a product returns at once, and synchronize waits DELAY_S for each that was not waited for.
"""
import os
import struct
import time

DELAY_S = float(os.environ.get("FAKE_DELAY_MS", "2")) / 1000
FAULT = os.environ.get("FAKE_FAULT", "")
pending = []

if FAULT == "import":
    raise ImportError("libfake.so: cannot open shared object file")
if FAULT == "noise":
    print("a framework that talks on standard output")
    os.write(1, b"and past Python\n")


class Tensor:
    def __init__(self, rows):
        self.rows = rows

    def reshape(self, shape):
        flat = self.rows[0]
        return Tensor([flat[i * shape[1] : (i + 1) * shape[1]] for i in range(shape[0])])

    @property
    def T(self):
        return Tensor([list(column) for column in zip(*self.rows)])

    def __getitem__(self, position):
        return self.rows[position[0]][position[1]]


def frombuffer(values, dtype):
    code = {"float32": "f", "float64": "d"}[dtype]
    return Tensor([list(struct.unpack(f"{len(values) // struct.calcsize(code)}{code}", values))])


def matmul(a, b):
    if FAULT == "product":
        raise RuntimeError("out of memory\nand a long trace")
    if FAULT == "die":
        os.abort()
    pending.append(None)
    columns = list(zip(*b.rows))
    product = Tensor([[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a.rows])
    if FAULT in ("wrong", "nan"):
        product.rows[-1] = [value + 0.01 if FAULT == "wrong" else float("nan") for value in product.rows[-1]]
    return product


def synchronize():
    time.sleep(DELAY_S * len(pending))
    pending.clear()
