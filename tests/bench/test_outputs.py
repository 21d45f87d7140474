#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads back what portmm-bench writes: JSON against its schema, CSV, trace and HTML against the JSON.

usage: test_outputs.py PORTMM_BENCH SCHEMA [BACKEND]
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

from html_page import check_page

PROGRAM, SCHEMA = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
BACKEND = sys.argv[3] if len(sys.argv) > 3 else "cpu"


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def rows_of(document):
    return document["results"] + document["peers"]


def check_phases(row):
    """The phases of every sample add up to its time, which the parent's clock contains. How much stays unexplained, and
    how late the parent is, is for test_accounts.py."""
    phases, raw = row["phases_raw_ms"], row["process_to_result_ms"]["raw"]
    for i, whole in enumerate(raw):
        assert abs(sum(values[i] for values in phases.values()) - whole) < 1e-6, (row["temperature"], i)
        assert row["parent_ms"]["raw"][i] > whole, "the parent saw a result before it was there"


def check_csv(path, document):
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    expected = []
    for row in rows_of(document):
        for metric in ("process_to_result_ms", "first_gemm_ms", "gemm_ms", "gemm_by_process_ms"):
            if metric in row:
                expected.append((row, metric))
    assert len(lines) == len(expected), f"{len(lines)} lines for {len(expected)} figures"
    for line, (row, metric) in zip(lines, expected):
        assert line["library"] == row.get("name", "libportmm") and line["metric"] == metric
        for column in ("backend", "device", "dtype", "temperature", "m", "n", "k", "index", "samples"):
            assert line[column] == str(row[column]), (column, line)
        assert int(line["values"]) == len(row[metric]["raw"])
        for column in ("median", "min", "max", "iqr"):
            assert abs(float(line[column]) - row[metric][column]) <= 1e-8 * row[metric]["max"], (column, line)


def check_trace(path, document):
    events = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["traceEvents"]
    for pid, row in enumerate(document["results"], 1):
        own = [event for event in events if event["pid"] == pid]
        names = [event["args"]["name"] for event in own if event["name"] == "process_name"]
        assert len(names) == 1 and row["temperature"] in names[0]
        spans = [event for event in own if event["ph"] == "X"]
        assert len(spans) == len(row["timeline"]) > 2
        assert all(span["dur"] >= 0 and span["ts"] >= 0 for span in spans)
        result = [event["ts"] for event in own if event["name"] == "first result"]
        assert abs(result[0] - 1000 * row["process_to_result_ms"]["raw"][0]) < 1
        # The outermost spans of the program's thread are the phases that the row shows.
        covered = sum(span["end_ms"] - span["begin_ms"] for span in row["timeline"] if (span["thread"], span["depth"]) == (0, 0))
        unexplained = row["phases_raw_ms"]["unattributed"][0]
        assert abs(covered + unexplained - row["process_to_result_ms"]["raw"][0]) < 1e-3, (covered, unexplained, result)


def check_files(folder):
    paths = {kind: str(folder / f"out.{kind}") for kind in ("json", "csv", "trace", "html")}
    outputs = [word for kind, path in paths.items() for word in (f"--{kind}", path)]
    shown = run("--backend", BACKEND, "--size", "64:128:x2", "--samples", "2", "--runs", "2", *outputs).stdout
    document = json.loads(pathlib.Path(paths["json"]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert {row["m"] for row in document["results"]} == {64, 128}
    assert not document["interrupted"]
    for row in document["results"]:
        check_phases(row)
        assert row["repeat"] in " ".join(shown.split()), row["repeat"]
    check_csv(paths["csv"], document)
    check_trace(paths["trace"], document)
    check_page(pathlib.Path(paths["html"]).read_text(encoding="utf-8"), document)
    # The same files from the recorded results, and one of them through a pipe.
    assert run("--from", paths["json"], "--csv", "-").stdout.replace("\r", "") == pathlib.Path(paths["csv"]).read_text().replace("\r", "")
    return document


HOSTILE = """</style></main><script src="http://example.org/x.js">alert('1')</script><img src=x onerror=alert(1)> &amp; "quoted" """


def check_hostile_names(folder, document):
    """A driver may call its device, and a user a directory, anything. Missing names leave no punctuation behind."""
    hostile = json.loads(json.dumps(document))
    row = hostile["results"][0]
    row.update(device=HOSTILE, platform="", driver="", engine=HOSTILE)
    row["timeline"][0].update(detail=HOSTILE)
    hostile["environment"].update(cpu=HOSTILE, variables={"PORTMM_CACHE_DIR": HOSTILE})
    hostile["warnings"].append(HOSTILE)
    hostile["absent_peers"].append({"name": "peer", "backend": "cpu", "reason": HOSTILE})
    path = folder / "hostile.json"
    path.write_text(json.dumps(hostile), encoding="utf-8")
    page = check_page(run("--from", str(path), "--html", "-").stdout, hostile)
    assert sum(HOSTILE in text for text in page.texts) >= 5, page.texts
    assert any(HOSTILE in title for title in page.titles)


def check_repeat(document):
    row = document["results"][-1]
    again = json.loads(run(*row["repeat"].split()[1:], "--json", "-", "--quiet").stdout)
    assert len(again["results"]) == 1
    for member in ("backend", "index", "m", "n", "k", "dtype", "start", "temperature", "samples"):
        assert again["results"][0][member] == row[member], member


def check_schema_refuses(document):
    """A schema that lets everything pass would be none."""
    for spoil in (lambda d: d.pop("results"), lambda d: d["results"][0].pop("engine"), lambda d: d.update(schema=2),
                  lambda d: d["results"][0]["process_to_result_ms"].update(iqr=-1),
                  lambda d: d["results"][0].update(gemm_ms=d["results"][0]["first_gemm_ms"])):
        spoiled = json.loads(json.dumps(document))
        spoil(spoiled)
        assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(spoiled)


def main():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with tempfile.TemporaryDirectory() as name:
        document = check_files(pathlib.Path(name))
        check_hostile_names(pathlib.Path(name), document)
    check_repeat(document)
    check_schema_refuses(document)


if __name__ == "__main__":
    main()
