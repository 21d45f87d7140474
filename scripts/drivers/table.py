#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of docs/drivers.md, between its two marks, from the results of measure.py.

Usage: table.py FOLDER-OF-RESULTS PAGE"""
import glob
import json
import sys

BEGIN, END = "<!-- table: scripts/drivers/matrix.sh -->", "<!-- end of table -->"


def ms(found, temperature):
    return found[temperature]["ms"] if temperature in found else None


def show(value):
    return "failed" if value is None else f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"


def ratio(above, below):
    return "-" if above is None or below is None else f"{above / below:.2f}"


def judge(tests):
    bad = [test["test"].split()[0] + (" (time-out)" if test["exit_code"] == 124 else "")
           for test in tests if test["exit_code"] != 0]
    return "pass" if not bad else "FAIL: " + ", ".join(bad)


def rows(record):
    best = min((ms(found, "warm") for found in record["engines"].values() if ms(found, "warm")), default=None)
    device = record["devices"][0] if record["devices"] else {"platform_name": "no device", "driver_version": "-"}
    for engine, found in record["engines"].items():
        capture = record["capture"][engine]
        cold, cached, early = ms(found, "cold"), ms(found, "cached"), ms(capture["early"], "cached")
        yield [record["stack"], f"{device['platform_name']} {device['driver_version']}", record["clblast"],
               record["loader"].get("loader_version", "-"), judge(record["conformance"]), judge(record["seam"]), engine,
               show(cold), show(cached), ratio(cold, cached), show(ms(found, "relaunch")), show(ms(found, "warm")),
               ratio(ms(record["fast"], "warm"), best), str(capture["late"]["bytes"] or "-"), show(early),
               show(ms(capture["late"], "cached")), show(capture["late"]["question_ms"])
               if capture["late"]["question_ms"] is not None else "-"]


def main():
    folder, page = sys.argv[1:]
    head = ["stack", "platform, driver", "CLBlast", "loader", "conformance", "seam", "engine", "cold", "cached",
            "cold / cached", "relaunch", "warm", "fast / better engine", "binary, bytes", "cached, taken early",
            "cached, taken late", "question"]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    for file in sorted(glob.glob(f"{folder}/*.json")):
        with open(file, encoding="utf-8") as opened:
            lines += ["| " + " | ".join(row) + " |" for row in rows(json.load(opened))]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    with open(page, "w", encoding="utf-8") as file:
        file.write(before + "\n".join([BEGIN, *lines]) + "\n" + END + rest.split(END)[1])


main()
