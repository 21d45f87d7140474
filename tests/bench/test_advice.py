#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each condition that --explain knows is posed and has to be named, alone; a machine without any is left in peace.

usage: test_advice.py PORTMM_BENCH FOLDER_OF_THE_POSED_NVML
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, NVML = sys.argv[1], sys.argv[2]
TITLE = "what would help here"
POSED_BY_VARIABLES = {  # the program itself is asked, with these set
    "CUDA_CACHE_DISABLE": ("1", "CUDA_CACHE_DISABLE=1: your programs compile at every start"),
    "POCL_KERNEL_CACHE": ("0", "POCL_KERNEL_CACHE=0"),
    "MESA_SHADER_CACHE_DISABLE": ("true", "MESA_SHADER_CACHE_DISABLE=true"),
    "NEO_CACHE_PERSISTENT": ("0", "NEO_CACHE_PERSISTENT=0"),
    "AMD_COMGR_CACHE": ("0", "AMD_COMGR_CACHE=0"),
    "CUDA_CACHE_MAXSIZE": ("1048576", "CUDA_CACHE_MAXSIZE=1048576, and the driver's own choice"),
    "PORTMM_CACHE": ("off", "PORTMM_CACHE=off"),
}
HARMLESS = {"CUDA_CACHE_DISABLE": "0", "POCL_KERNEL_CACHE": "1", "CUDA_CACHE_MAXSIZE": "4294967296", "PORTMM_CACHE": "rw"}
QUIET = {"page_cache_before": [], "nvidia": [], "icd_files": [], "denormals": {"cost": 1.0}, "variables": {},
         "clock": {"governor": "performance", "limit_khz": 3000000, "most_khz": 3000000, "throttled": 0}}


def run(*arguments, variables=None):
    environment = {**os.environ, **(variables or {})}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120, check=True, env=environment).stdout


def measure(variables):
    return json.loads(run("--backend", "cpu", "--size", "16", "--samples", "1", "--runs", "2", "--temperature", "relaunch",
                          "--json", "-", variables=variables))


def advise(document):
    """The advice as lines, and the whole explanation."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        text = run("--from", file.name, "--explain")
    block = text.split(TITLE)[1].split("Asked:")[0]
    return [" ".join(item.split()) for item in block.split("looked for")[0].split("  - ")[1:]], text


def quieten(document):
    quiet = copy.deepcopy(document)
    quiet["environment"].update(copy.deepcopy(QUIET))
    return quiet


def pose(document, row=None, **environment):
    posed = copy.deepcopy(document)
    posed["environment"].update(environment)
    posed["results"][0].update(row or {})
    return posed


def check_posed_facts(quiet):
    clock = QUIET["clock"]
    slow_start = dict(quiet["results"][0]["phases_ms"], enumerate=quiet["results"][0]["process_to_result_ms"]["median"] / 2)
    icds = [{"file": f"/vendors/{i}.icd", "library": f"lib{i}.so"} for i in range(3)]
    files = [{"backend": "cpu", "file": "/lib/libslow.so", "cached": 0.01}]
    for posed, words in (
        (pose(quiet, nvidia=[{"index": 0, "name": "G", "persistence": False}]), "GPU 0 (G): persistence mode is off"),
        (pose(quiet, icd_files=icds, row={"backend": "opencl", "phases_ms": slow_start}), "3 OpenCL drivers are registered"),
        (pose(quiet, page_cache_before=files), "1 % of /lib/libslow.so was in memory"),
        (pose(quiet, denormals={"cost": 40.0}), "40 times as long"),
        (pose(quiet, clock={**clock, "limit_khz": 1000000}), "limited to 1000 of 3000 MHz"),
        (pose(quiet, clock={**clock, "governor": "powersave"}), "'powersave'"),
        (pose(quiet, clock={**clock, "throttled": 3}), "slowed down for its heat 3 times"),
    ):
        advice, _ = advise(posed)
        assert len(advice) == 1 and words in advice[0], (words, advice)
    for harmless in (
        pose(quiet, nvidia=[{"index": 0, "name": "G", "persistence": True}]),
        pose(quiet, icd_files=icds[:1], row={"backend": "opencl", "phases_ms": slow_start}),
        pose(quiet, icd_files=icds),  # the CPU backend asks none of them
        pose(quiet, page_cache_before=[{**files[0], "backend": "cuda"}]),  # which was not measured
        pose(quiet, page_cache_before=[{**files[0], "cached": None}]),
    ):
        advice, text = advise(harmless)
        assert advice == [] and "looked for and not found" in text, advice


def check_posed_variables():
    """All at once in the environment of a run, then each of those alone in its record."""
    document = measure({name: value for name, (value, _) in POSED_BY_VARIABLES.items()})
    for name, (value, words) in POSED_BY_VARIABLES.items():
        assert document["environment"]["variables"][name] == value
        advice, _ = advise(pose(quieten(document), variables={name: value}))
        assert len(advice) == 1 and advice[0].startswith(words), (words, advice)
    quiet = quieten(document)
    assert advise(pose(quiet, variables=HARMLESS))[0] == []
    return quiet


def check_answer(quiet):
    _, text = advise(quiet)
    last = text.rstrip("\n").split("\n")[-10:]
    assert any(line.startswith("Asked: why 443 ms") for line in last), last
    assert any("run #0 " in line and "n=1" in line for line in last), last
    assert all(len(line) <= 100 for line in text.split("\n")), text


def check_recorded(document):
    environment = document["environment"]
    assert environment["denormals"]["cost"] > 0
    assert all(file["cached"] is None or 0 <= file["cached"] <= 1 for file in environment["page_cache_before"])
    assert "openblas_kernel" in environment["backends"]["cpu"], environment["backends"]
    assert {"governor", "limit_khz", "most_khz", "throttled"} <= set(environment["clock"])


def check_persistence_is_read():
    found = os.pathsep.join([NVML, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    told = json.loads(run("--inventory-child", "cuda", "0", variables={"LD_LIBRARY_PATH": found}))["nvidia"]
    assert told == [{"index": 0, "name": "posed GPU 0", "persistence": True},
                    {"index": 1, "name": "posed GPU 1", "persistence": False}], told


def check_drivers_are_listed(folder):
    for name in ("one", "two"):
        (folder / f"{name}.icd").write_text(f"lib{name}.so\n", encoding="utf-8")
    document = measure({"OCL_ICD_VENDORS": str(folder)})
    assert [file["library"] for file in document["environment"]["icd_files"]] == ["libone.so", "libtwo.so"]
    return document


def main():
    quiet = check_posed_variables()
    check_posed_facts(quiet)
    check_answer(quiet)
    check_persistence_is_read()
    with tempfile.TemporaryDirectory() as name:
        check_recorded(check_drivers_are_listed(pathlib.Path(name)))


if __name__ == "__main__":
    main()
