# SPDX-License-Identifier: Apache-2.0
"""Stands in for CuPy."""
import fake

__version__ = "0.fake"
matmul = fake.matmul


def asarray(matrix):
    return matrix


def asnumpy(matrix):
    fake.synchronize()
    return matrix


def empty(count):
    if fake.FAULT == "device":
        raise RuntimeError("no such device\nand a long trace")


class cuda:
    class runtime:
        class CUDARuntimeError(Exception):
            pass

        @staticmethod
        def getDeviceProperties(index):
            return {"name": b"fake cuda:%d" % index}

        @staticmethod
        def deviceSynchronize():
            fake.synchronize()

    class Device:
        def __init__(self, index):
            self.index = index

        def use(self):
            if fake.FAULT == "no_device":
                raise cuda.runtime.CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal\nand a long trace")
