#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What libportmm promises of first calls, judged by portmm-bench's JSON: each figure, its bound, and whether it is kept.

usage: first-call.py RESULT.json
The run has to hold the policies of one backend beside the CPU backend and the peers, as scripts/first-call.sh makes it.
Exits 1 where a bound is missed, 2 where a row is missing.
"""
import json
import os
import sys


def find(rows, **wanted):
    for row in rows:
        if all(row.get(key) == value for key, value in wanted.items()):
            return row
    sys.exit(f"first-call: no row with {wanted}")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    rows, peers = document["results"], document["peers"]
    backend = next(row["backend"] for row in rows if row["backend"] != "cpu")
    library = {"opencl": "clblast", "cuda": "cublas"}[backend]

    def ours(start, temperature, figure, of=backend):
        return find(rows, backend=of, start=start, temperature=temperature)[figure]["median"]

    def raw(temperature, figure):
        return find(peers, name=library, temperature=temperature)[figure]["median"]

    on_processor = find(rows, backend=backend, start="fast", temperature="warm")["engine"] == "starter"
    first, whole = "first_gemm_ms", "process_to_result_ms"
    cpu = ours("fast", "cold", whole, "cpu")
    bounds = [
        ("fast, cold: first product", ours("fast", "cold", first), f"raw {library} cold", raw("cold", first), 0.20),
        ("fast, cached: first product", ours("fast", "cached", first), "60 ms", 60.0, 1.0),
        ("fast, cached: first product", ours("fast", "cached", first), f"raw {library} driver", raw("driver", first), 0.4),
        ("fast, warm: a product", ours("fast", "warm", "gemm_ms"), f"raw {library} warm", raw("warm", "gemm_ms"),
         0.25 if on_processor else 1.05),
        ("hybrid, cold: to the result", ours("hybrid", "cold", whole), "cpu cold", cpu,
         1.5 if (os.cpu_count() or 1) < 16 else 1.3),
    ]
    missed = 0
    print(f"{'figure':30} {'ms':>9}   {'against':22} {'ms':>9}   {'ratio':>6}   bound")
    for name, value, against, reference, bound in bounds:
        kept = value <= bound * reference
        missed += not kept
        print(f"{name:30} {value:9.2f}   {against:22} {reference:9.2f}   {value / reference:6.3f}   {bound:.2f}"
              f"{'' if kept else '   MISSED'}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
