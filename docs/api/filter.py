#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Doxygen's view of a public header: prints it with its plain comments as documentation.

A comment above declarations documents them all, up to the next empty line; one beside a declaration, that one; a comment
`---- N  title ----` begins a group; the first after the licence is the file's. So the headers stay readable as they are,
and every line stays where it is: warnings name the right one.

    filter.py HEADER
"""
import pathlib
import re
import sys

SECTION = re.compile(r"^/\* ---- (?:\d+  )?(.*?) -+ \*/$")
ABOVE = re.compile(r"^\s*/\*")
BESIDE = re.compile(r"^(\s*[^\s/#].*?[;,{}\w)])(\s+)/\* ")
FUNCTION = re.compile(r"^PORTMM_API .*?\b(portmm_\w+)\(")
NAME = re.compile(r"\b(?:portmm|pmm)_[a-z0-9_]+\b")


def find_names(directory):
    """Functions, structures and enumerations of all headers: what a text may link to."""
    text = "\n".join(path.read_text() for path in directory.glob("*.h"))
    return set(re.findall(r"\b((?:portmm|pmm)_[a-z0-9_]+)\(", text) +
               re.findall(r"\b(?:struct|enum) ((?:portmm|pmm)_[a-z0-9_]+) \{", text))


def convert_comment(lines, opening, names):
    """Nothing in a comment is a command or a tag; known names are links; indented blocks keep their lines."""
    text = re.sub(r"([\\@&$#<>%])", r"\\\1", "\n".join(lines))
    text = NAME.sub(lambda name: "#" + name[0] if name[0] in names else name[0], text)
    text = re.sub(r"^( \*)(?= {4,}\S)", r"\1 \\n", text, flags=re.M)
    return text.replace("/*", opening, 1).split("\n")


def convert(lines, topic, names):
    result, at = [], 0
    has_file = in_section = False
    first = None  # the function that the comment above stands before
    while at < len(lines):
        line, function = lines[at], FUNCTION.match(lines[at])
        end = next((i for i in range(at, len(lines)) if "*/" in lines[i]), at)
        if SECTION.match(line):
            title = SECTION.match(line)[1]
            result.append("%s/** \\defgroup %s %s */ /**@{*/" % (
                "/**@}*/ " if in_section else "", re.sub(r"\W+", "_", topic + "_" + title), title))
            in_section = True
        elif ABOVE.match(line) and "SPDX" not in line:
            result += convert_comment(lines[at:end + 1], "/**" if has_file else "/** \\file", names)
            has_file, first, at = True, None, end
        elif BESIDE.match(line) and not line.endswith("\\"):
            code = BESIDE.match(line)[1]
            comment = convert_comment([line[len(code):]] + lines[at + 1:end + 1], "/**<", names)
            result += [code + comment[0]] + comment[1:]
            at = end
        elif function and first:
            result.append("/** \\copydoc %s */ %s" % (first, line))
        else:
            is_told = function and at > 0 and lines[at - 1].endswith("*/")
            first = function[1] if is_told else first if line.strip() else None
            result.append(line)
        at += 1
    return result + (["/**@}*/"] if in_section else [])


def main():
    header = pathlib.Path(sys.argv[1])
    print("\n".join(convert(header.read_text().splitlines(), header.stem, find_names(header.parent))))


if __name__ == "__main__":
    main()
