# SPDX-License-Identifier: Apache-2.0
import fake


def matmul(a, b, precision):
    assert precision == "highest"  # else a GPU may take TF32
    return fake.matmul(a, b)
