# SPDX-License-Identifier: Apache-2.0
"""Stands in for JAX: compiled functions return at once, block_until_ready waits."""
import fake

__version__ = "0.fake"
x64 = []


class config:
    @staticmethod
    def update(name, value):
        assert (name, value) == ("jax_enable_x64", True)
        x64.append(True)


class Device:
    def __init__(self, number):
        self.device_kind = f"fake cuda:{number}"


def devices(platform):
    if fake.FAULT == "no_device":
        raise RuntimeError(f"Unknown backend: '{platform}'\nand a long trace")
    if fake.FAULT == "device":
        return []
    return [Device(0), Device(1)]


def device_put(matrix, device):
    return matrix


def jit(function):
    return function


def block_until_ready(tree):
    fake.synchronize()
