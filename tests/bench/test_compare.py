#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--compare on synthetic samples: a slowdown of 10 % is found, two runs of one build are left alone, 20 times of 20; and
the test's probability is what counting every permutation gives.

usage: test_compare.py PORTMM_BENCH
"""
import itertools
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
TIMES, SAMPLES = 20, 15


def summary(raw):
    quartiles = statistics.quantiles(raw, n=4, method="inclusive")
    return {"median": statistics.median(raw), "min": min(raw), "max": max(raw), "iqr": quartiles[2] - quartiles[0], "raw": raw}


def document(raw, size=1000):
    row = {"backend": "cpu", "index": 0, "m": size, "n": 1, "k": 1, "dtype": "f32", "transa": "n", "transb": "n",
           "start": "fast", "temperature": "relaunch", "process_to_result_ms": summary(raw)}
    return {"schema": 4, "environment": {"date": "then", "revision": "r"}, "results": [row], "peers": []}


def compare(folder, old, new, *options):
    paths = [folder / "old.json", folder / "new.json"]
    for path, content in zip(paths, (old, new)):
        path.write_text(json.dumps(content), encoding="utf-8")
    return subprocess.run([PROGRAM, "--from", paths[1], "--compare", paths[0], *options], capture_output=True, text=True,
                          check=False, timeout=60)


def verdict(folder, old, new):
    done = compare(folder, document(old), document(new), "--fail-on", "slower")
    word = re.search(r"^  (same|slower|faster|unsure) ", done.stdout, re.M).group(1)
    assert done.returncode == (1 if word == "slower" else 0), done
    return word


def draw(random_state, scale):
    """Process times as they are: a noise of 2 %, and now and then a process that was held up."""
    return [scale * (1 + abs(random_state.gauss(0, 0.02))) * (1.5 if random_state.random() < 0.05 else 1)
            for _ in range(SAMPLES)]


def check_verdicts(folder):
    state = random.Random(20)
    for _ in range(TIMES):
        base = draw(state, 100)
        assert verdict(folder, base, draw(state, 110)) == "slower"
        assert verdict(folder, base, draw(state, 100 / 1.1)) == "faster"
        assert verdict(folder, base, draw(state, 100)) in ("same", "unsure")
        assert verdict(folder, base, draw(state, 101)) in ("same", "unsure"), "below the least effect"
    assert verdict(folder, [100, 101], [200, 202]) == "unsure", "two samples tell nothing"
    assert verdict(folder, [100.0] * SAMPLES, [100.0] * SAMPLES) == "same"


def count_permutations(one, other):
    """Mann-Whitney's p by its definition."""
    values = one + other
    ranks = [sum(w < v for w in values) + (1 + sum(w == v for w in values)) / 2 for v in values]
    middle = len(one) * (len(values) + 1) / 2
    distances = [abs(sum(choice) - middle) for choice in itertools.combinations(ranks, len(one))]
    given = abs(sum(ranks[: len(one)]) - middle)
    return sum(d >= given - 1e-9 for d in distances) / len(distances)


def check_probability(folder):
    state = random.Random(7)
    for size in (3, 5, 7):
        old = [state.randint(10, 16) * 1.0 for _ in range(size)]  # with ties
        new = [state.randint(12, 18) * 1.0 for _ in range(size)]
        shown = float(re.search(r", p (\S+)", compare(folder, document(old), document(new)).stdout).group(1))
        expected = count_permutations(new, old)
        assert abs(shown - expected) <= 0.006 * expected + 1e-12 or f"{expected:.2g}" == f"{shown:.2g}", (shown, expected)


def check_usage(folder):
    done = compare(folder, document([1.0] * 5, size=7), document([1.0] * 5))
    assert done.returncode == 2 and "no row of it was measured now" in done.stderr, done
    assert "only in the earlier run" in done.stdout and "only in the later run" in done.stdout
    slower = compare(folder, document([1.0] * 9), document([2.0] * 9))
    assert slower.returncode == 0 and "  slower " in slower.stdout, "without --fail-on it is only said"
    assert compare(folder, document([1.0] * 9), document([1.04] * 9), "--effect", "3", "--fail-on", "slower").returncode == 1


def main():
    with tempfile.TemporaryDirectory() as name:
        for check in (check_verdicts, check_probability, check_usage):
            check(pathlib.Path(name))


if __name__ == "__main__":
    main()
