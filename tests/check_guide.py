#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every block of C in a guide is code of the example that it shows, but for the indentation; and that the
files the guide points to are there. Then that a changed block would be found.

    check_guide.py GUIDE EXAMPLE
"""
import pathlib
import re
import sys


def read_lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def is_part(block, lines):
    return any(lines[i:i + len(block)] == block for i in range(len(lines)))


def main():
    guide, example = (pathlib.Path(name) for name in sys.argv[1:3])
    text, lines = guide.read_text(), read_lines(example.read_text())
    blocks = [read_lines(block) for block in re.findall(r"^```c\n(.*?)^```$", text, re.M | re.S)]
    failures = ["not in %s: %s" % (example.name, block[0]) for block in blocks if not is_part(block, lines)]
    failures += ["%s is not there" % link for link in re.findall(r"\]\(([^)#:]+)[)#]", text)
                 if not (guide.parent / link).exists()]
    if not blocks:
        failures.append("no block of C was found")
    failures += ["a changed block is not found" for block in blocks if is_part(block[:-1] + [block[-1] + ";"], lines)]
    print("\n".join(failures) or "%s: %d blocks of C are code of %s" % (guide.name, len(blocks), example.name))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
