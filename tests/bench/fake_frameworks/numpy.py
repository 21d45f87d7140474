# SPDX-License-Identifier: Apache-2.0
"""Stands in for NumPy: products that are complete when they return."""
import fake

__version__ = "0.fake"
frombuffer = fake.frombuffer


def array(matrix):
    return fake.Tensor([list(row) for row in matrix.rows])


def asarray(matrix):
    fake.synchronize()
    return matrix


def matmul(a, b):
    product = fake.matmul(a, b)
    fake.synchronize()
    return product
