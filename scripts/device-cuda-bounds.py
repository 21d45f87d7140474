#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of device-cuda.sh against what they have to be.

usage: device-cuda-bounds.py FOLDER, which holds the files of the stages bench, warm and sanitizer. A table goes to
stdout; exits with 1 unless all bounds are measured and met.
"""
import json
import pathlib
import re
import statistics
import sys

SIZES = (256, 1000, 1024, 4096)
SAMPLES = 10
MOST_CALL_MS = 5.0


class Missing(Exception):
    """A figure that no file holds."""


class Folder:
    def __init__(self, path):
        self.path = pathlib.Path(path)

    def rows(self, name, kind):
        file = self.path / f"{name}.json"
        if not file.exists():
            raise Missing(f"no {file.name}")
        return json.loads(file.read_text())[kind]

    def row(self, file, kind, **wanted):
        for row in self.rows(file, kind):
            if all(row.get(key) == value for key, value in wanted.items()):
                if row["samples"] < SAMPLES:
                    raise Missing(f"only {row['samples']} samples in {file}.json")
                return row
        raise Missing(f"no {' '.join(map(str, wanted.values()))} in {file}.json")

    def ours(self, file, temperature, **wanted):
        return self.row(file, "results", temperature=temperature, **wanted)

    def peer(self, file, peer, temperature, **wanted):
        return self.row(file, "peers", name=peer, temperature=temperature, **wanted)

    def log(self):
        file = self.path / "log.txt"
        return file.read_text(errors="replace") if file.exists() else ""


def median(row, what):
    return row[what]["median"]


def without_gemm(row):
    """Median time of a process but for its product: what cuInit, context, allocation and transfers take."""
    pairs = zip(row["process_to_result_ms"]["raw"], row["first_gemm_ms"]["raw"])
    return statistics.median(whole - gemm for whole, gemm in pairs)


def first_products(folder):
    for name, temperature, what in (
        ("fast", "cached", "our cache full, the driver's empty"),
        ("fast", "cold", "nothing cached, machine code built in"),
        ("ptx", "cached", "PTX only, our cache full, the driver's empty"),
    ):
        yield (f"fast: first_gemm, {what}", 1.0,
               lambda n=name, t=temperature: median(folder.ours(n, t), "first_gemm_ms"), "ms")


def processes(folder):
    def ratio(temperature, peer, peer_temperature, of=lambda row: median(row, "process_to_result_ms")):
        ours = median(folder.ours("fast", temperature), "process_to_result_ms")
        return ours / of(folder.peer("fast", peer, peer_temperature))

    for temperature, other in (("cold", "cold"), ("relaunch", "driver")):
        yield (f"fast: process_to_result, {temperature} / without a product", 1.10,
               lambda t=temperature, o=other: ratio(t, "cublas", o, without_gemm), "x")
        for peer, bound in (("cublas", 0.8), ("cupy", 0.5), ("pytorch", 0.15), ("jax", 0.15)):
            yield (f"fast: process_to_result, {temperature} / {peer}", bound,
                   lambda t=temperature, o=other, p=peer: ratio(t, p, o), "x")


def steady(folder):
    def ratio(name, size):
        ours, theirs = folder.ours(name, "warm", m=size), folder.peer(name, "cublas", "warm", m=size)
        return median(ours, "gemm_ms") / median(theirs, "gemm_ms")

    for dtype in ("f32", "f64"):
        for size in SIZES:
            yield (f"warm, {dtype} {size} / cublas", 1.02, lambda d=dtype, s=size: ratio(f"warm-{d}", s), "x")


def disturbances(folder):
    def worst(how):
        found = re.findall(rf"^{how} \d+\nduring .*worst +([0-9.]+) ms", folder.log(), re.MULTILINE)
        if not found:
            raise Missing("no measurement in log.txt")
        return statistics.median(map(float, found))

    for how in ("helper", "thread"):
        yield f"worst call while cuBLAS loads, {how} (median of processes)", MOST_CALL_MS, lambda h=how: worst(h), "ms"


def hybrid(folder):
    def ratio(temperature):
        ours, cpu = folder.ours("hybrid", temperature), folder.ours("cpu", temperature)
        return median(ours, "process_to_result_ms") / median(cpu, "process_to_result_ms")

    for temperature in ("cold", "relaunch"):
        yield f"hybrid: process_to_result, {temperature} / cpu", 1.3, lambda t=temperature: ratio(t), "x"


def sanitizer(folder):
    def findings(tool):
        ended = re.search(rf"^==== {tool}: .*?^device-cuda: {tool}: (\w+)", folder.log(), re.MULTILINE | re.DOTALL)
        if ended is None:
            raise Missing("no run in log.txt")
        if ended.group(1) == "STOPPED":
            raise Missing("the run did not end")
        return 0.0 if ended.group(1) == "fine" else 1.0

    for tool in ("memcheck", "racecheck", "initcheck"):
        yield f"compute-sanitizer {tool}: failed", 0.0, lambda t=tool: findings(t), ""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Folder(sys.argv[1])
    unmet = 0
    print(f"{'bound':64} {'at most':>9} {'measured':>10}")
    for group in (first_products, processes, steady, disturbances, hybrid, sanitizer):
        for text, bound, measure, unit in group(folder):
            try:
                value = measure()
                shown, verdict = f"{value:.3f} {unit}", "met" if value <= bound else "NOT MET"
            except (Missing, KeyError, ZeroDivisionError, statistics.StatisticsError) as reason:
                shown, verdict = "-", f"not measured: {reason}"
            unmet += verdict != "met"
            print(f"{text:64} {bound:9.2f} {shown:>10}  {verdict}")
    print(f"{unmet} not met or not measured")
    sys.exit(unmet > 0)


main()
