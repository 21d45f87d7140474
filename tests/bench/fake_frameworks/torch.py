# SPDX-License-Identifier: Apache-2.0
"""Stands in for PyTorch."""
import fake

__version__ = "0.fake"
float32, float64 = "float32", "float64"


def frombuffer(values, dtype):
    return Torchish(fake.frombuffer(values, dtype))


class Torchish:
    """A matrix with PyTorch's methods."""

    def __init__(self, matrix):
        self.matrix, self.rows = matrix, matrix.rows

    def reshape(self, shape):
        return Torchish(self.matrix.reshape(shape))

    @property
    def T(self):
        return Torchish(self.matrix.T)

    def to(self, place):
        return self

    def cpu(self):
        fake.synchronize()
        return self.matrix


def device(name):
    return name


def empty(count, device):
    if fake.FAULT == "device":
        raise RuntimeError("no such device\nand a long trace")


def matmul(a, b):
    return Torchish(fake.matmul(a, b))


class cuda:
    @staticmethod
    def is_available():
        return fake.FAULT != "no_device"

    @staticmethod
    def get_device_name(place):
        return f"fake {place}"

    @staticmethod
    def synchronize(place):
        fake.synchronize()
