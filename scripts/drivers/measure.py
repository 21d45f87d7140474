#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests and timings of the OpenCL stack that this runs on; matrix.sh starts it by that stack's script.

Usage: measure.py BUILD RESULT.json    BUILD has the folders test/ and release/, both built
Every test of the lists below is run; a time-out counts as a failure. Times are medians of portmm-bench.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

CONFORMANCE = ["conformance opencl", "queues opencl", "batches opencl"]
SEAM = ["seam_cache", "seam_scope opencl", "clblast_before_us"]
LIMIT_S = int(os.environ.get("PORTMM_MATRIX_LIMIT_S", "900"))
SAMPLES = os.environ.get("PORTMM_MATRIX_SAMPLES", "3")
ENGINES = ["starter", "clblast"]


def run_test(build, test, scratch):
    environment = dict(
        os.environ, PORTMM_MODULE_PATH=f"{build}/test/lib/portmm", PORTMM_WARMUP="off", PORTMM_TEST_REQUIRE="opencl",
        PORTMM_CACHE_DIR=f"{scratch}/cache", XDG_CACHE_HOME=f"{scratch}/xdg", POCL_CACHE_DIR=f"{scratch}/pocl",
        MESA_SHADER_CACHE_DIR=f"{scratch}/mesa")
    name, *arguments = test.split()
    begin = time.monotonic()
    try:
        done = subprocess.run([f"{build}/test/bin/test_{name}", *arguments], env=environment, capture_output=True,
                              text=True, errors="replace", timeout=LIMIT_S, check=False)
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, output = 124, f"not done after {LIMIT_S} s"
    result = {"test": test, "exit_code": code, "seconds": round(time.monotonic() - begin, 1)}
    if code != 0:
        result["output"] = output[-600:]
    return result


def bench(build, arguments, environment=None):
    with tempfile.NamedTemporaryFile() as file:
        command = [f"{build}/release/bin/portmm-bench", "--backend", "opencl", "--runs", "0", "--samples", SAMPLES,
                   "--quiet", "--json", file.name, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                              env=dict(os.environ, PORTMM_MODULE_PATH="", **(environment or {})))
        if done.returncode != 0:
            return {"failed": done.stderr[-600:]}
        rows = json.load(file)["results"]
    found = {}
    for row in rows:
        key = "gemm_ms" if row["temperature"] == "warm" else "first_gemm_ms"
        found[row["temperature"]] = {"ms": row[key]["median"], "engine": row["engine"], "cache": row["cache"]}
    return found


def measure_capture(build, engine, scratch):
    """Cached first product with what the driver tells right after a build, and with what it tells after the launches.

    The test driver stands between; its log has a line for each question: what, milliseconds, bytes."""
    with open(f"{os.environ['OCL_ICD_VENDORS']}/1.icd", encoding="utf-8") as file:
        driver = file.read().strip()
    found = {}
    for when in ("early", "late"):
        log = f"{scratch}/{engine}-{when}.log"
        found[when] = bench(build, ["--engine", engine, "--temperature", "cached"], {
            "OCL_ICD_VENDORS": f"{build}/test/tests/driver/vendors",
            "PORTMM_TEST_DRIVER": f"real={driver} binary={when} log={log}"})
        lines = []
        if os.path.exists(log):
            with open(log, encoding="utf-8") as file:
                lines = [line.split() for line in file if line.startswith(when)]
        found[when]["question_ms"] = max((float(line[1]) for line in lines), default=None)
        found[when]["bytes"] = max((int(line[2]) for line in lines), default=None)
    return found


def main():
    build, result = sys.argv[1:]
    info = subprocess.run([f"{build}/release/bin/portmm-info", "--json", "--backend", "opencl"], capture_output=True,
                          text=True, check=False, env=dict(os.environ, PORTMM_MODULE_PATH=""))
    told = json.loads(info.stdout)
    with tempfile.TemporaryDirectory() as scratch:
        for folder in ("cache", "xdg", "pocl", "mesa"):
            os.mkdir(f"{scratch}/{folder}")
        record = {
            "schema": 1, "stack": os.environ["PORTMM_STACK"], "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "cores": os.cpu_count(),
            "loader": next((b["properties"] for b in told["backends"] if b["name"] == "opencl"), {}),
            "devices": [{key: device[key] for key in ("name", "platform_name", "platform_version", "driver_version",
                                                      "has_f64")}
                        for device in told["devices"] if device["backend"] == "opencl"],
            "clblast": subprocess.run(["pkg-config", "--modversion", "clblast"], capture_output=True, text=True,
                                      check=False).stdout.strip(),
            "engines": {engine: bench(build, ["--engine", engine, "--temperature", "cold,cached,relaunch,warm"])
                        for engine in ENGINES},
            "fast": bench(build, ["--start", "fast", "--temperature", "warm"]),
            "capture": {engine: measure_capture(build, engine, scratch) for engine in ENGINES},
            "conformance": [run_test(build, test, scratch) for test in CONFORMANCE],
            "seam": [run_test(build, test, scratch) for test in SEAM],
        }
    with open(result, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
        file.write("\n")


main()
