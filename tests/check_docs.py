#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the API pages and looks into them: Doxygen warns of nothing, every public function and structure is there with
its text, none was swallowed by a comment; and a header with faults in its comments is found out.

    check_docs.py SOURCE BUILD WORK HEADER...
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


def make_pages(doxygen, doxyfile, output, headers, more=""):
    """Doxygen's exit code and what it said, for these headers."""
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    settings = doxyfile.read_text() + "\nOUTPUT_DIRECTORY = \"%s\"\nINPUT = %s\n%s" % (
        output, " ".join('"%s"' % header for header in headers), more)
    done = subprocess.run([doxygen, "-"], input=settings, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def find_untold(output):
    """Functions and structures of the pages, and those of them without a text."""
    seen, untold = set(), set()
    for path in (output / "xml").glob("*.xml"):
        root = ElementTree.parse(path).getroot()
        members = list(root.iter("memberdef")) + [c for c in root.iter("compounddef") if c.get("kind") == "struct"]
        for member in members:
            name = member.findtext("name") or member.findtext("compoundname")
            if member.get("kind") not in ("function", "struct"):
                continue
            seen.add(name)
            texts = [member.find(tag) for tag in ("briefdescription", "detaileddescription")]
            if member.get("kind") == "function" and not any("".join(t.itertext()).strip() for t in texts):
                untold.add(name)
    return seen, untold


def main():
    source, build, work = (pathlib.Path(name) for name in sys.argv[1:4])
    headers = [pathlib.Path(name) for name in sys.argv[4:]]
    doxygen, doxyfile = shutil.which("doxygen"), build / "docs" / "Doxyfile"
    if doxygen is None or not doxyfile.exists():
        print("skipped: Doxygen is not installed (or was not when the build was configured)")
        sys.exit(1 if "programs" in os.environ.get("PORTMM_TEST_REQUIRE", "").split(",") else 77)

    code, said = make_pages(doxygen, doxyfile, work / "pages", [source / "docs/api/main.dox"] + headers)
    if code != 0 or said.strip():
        sys.exit("Doxygen ends with %d:\n%s" % (code, said))
    declared = set()
    for header in headers:
        declared.update(re.findall(r"^PORTMM_API [^;(]*?\b(portmm_\w+)\(", header.read_text(), re.M))
        declared.update(re.findall(r"\bstruct ((?:portmm|pmm)_\w+) \{", header.read_text()))
    seen, untold = find_untold(work / "pages")
    if declared - seen or untold:
        sys.exit("not in the pages: %s; without a text: %s" % (sorted(declared - seen), sorted(untold)))

    faulty = work / "faulty.h"
    faulty.write_text(headers[0].read_text() + "\nPORTMM_API int portmm_without_text(void);\n")
    untold = make_pages(doxygen, doxyfile, work / "untold", [faulty]) and find_untold(work / "untold")[1]
    if untold != {"portmm_without_text"}:
        sys.exit("a function without a text is not found: %s" % untold)
    unfiltered = "FILTER_PATTERNS =\n"
    faulty.write_text("/** \\file */\n/** \\nocommand */\nint f(void);\n")
    code, said = make_pages(doxygen, doxyfile, work / "faulty", [faulty], unfiltered)
    if code == 0 or "nocommand" not in said:
        sys.exit("a fault in a comment is no failure: %d %s" % (code, said))
    print("%d functions and structures, no warning" % len(seen))


if __name__ == "__main__":
    main()
