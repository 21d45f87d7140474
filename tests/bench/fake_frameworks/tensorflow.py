# SPDX-License-Identifier: Apache-2.0
"""Stands in for TensorFlow."""
import contextlib

import fake

__version__ = "0.fake"


def device(place):
    return contextlib.nullcontext()


class Eager(fake.Tensor):
    def numpy(self):
        fake.synchronize()
        return self


def constant(matrix):
    return matrix


def zeros(count):
    if fake.FAULT == "device":
        raise RuntimeError("no such device\nand a long trace")


class linalg:
    @staticmethod
    def matmul(a, b, transpose_a, transpose_b):
        return Eager(fake.matmul(a.T if transpose_a else a, b.T if transpose_b else b).rows)


matmul = linalg.matmul


class config:
    class experimental:
        @staticmethod
        def enable_tensor_float_32_execution(enabled):
            assert not enabled

        @staticmethod
        def get_device_details(device):
            return {"device_name": device}

    @staticmethod
    def list_physical_devices(kind):
        return [] if fake.FAULT == "no_device" else ["fake cuda:0", "fake cuda:1"]


class test:
    class experimental:
        @staticmethod
        def sync_devices():
            fake.synchronize()
