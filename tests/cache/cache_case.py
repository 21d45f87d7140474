# SPDX-License-Identifier: Apache-2.0
"""What tests of portmm-cache share. The first argument of the test is the program."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv[1]
BACKEND = "opencl"
WARM = ("--backend", BACKEND, "--shape", "small")


class Case(unittest.TestCase):
    """Each test has a directory of its own; `self.cache` in it is the cache, empty."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.cache = self.root / "cache"

    def tearDown(self):
        self.folder.cleanup()

    def run_tool(self, *arguments, code=0, prefix=(), **variables):
        environment = {**os.environ, "PORTMM_CACHE_DIR": str(self.cache), **variables}
        done = subprocess.run([*prefix, TOOL, *arguments], env=environment, text=True, capture_output=True, timeout=240)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def ask(self, *arguments, **more):
        answer = json.loads(self.run_tool(*arguments, "--json", **more).stdout)
        self.assertEqual((answer["schema"], answer["command"]), (1, arguments[0]))
        return answer

    def fill(self):
        """Real entries, made once for all tests."""
        if not hasattr(Case, "filled"):
            Case.kept = tempfile.TemporaryDirectory()
            Case.filled = pathlib.Path(Case.kept.name) / "cache"
            answer = self.ask("prewarm", *WARM, PORTMM_CACHE_DIR=str(Case.filled))
            self.assertGreaterEqual(answer["compiled"], 1)
            self.assertEqual(answer["failed"], 0)
        shutil.copytree(Case.filled, self.cache)
        return len(list((self.cache / "entries").iterdir()))

    def entries(self):
        return sorted(path.name for path in (self.cache / "entries").iterdir())

    def expect_served(self, **more):
        """A process that starts with these tiers compiles nothing."""
        answer = self.ask("prewarm", *WARM, **more)
        self.assertEqual((answer["compiled"], answer["failed"]), (0, 0))
        self.assertGreaterEqual(answer["loaded"], 1)
        return answer


def main():
    """Exit code 77 where there is no OpenCL device, unless one is required."""
    done = subprocess.run([TOOL, "prewarm", *WARM], capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        print("skipped: no OpenCL device:", done.stdout, done.stderr)
        sys.exit(1 if "opencl" in os.environ.get("PORTMM_TEST_REQUIRE", "") else 77)
    unittest.main(module="__main__", argv=sys.argv[:1], verbosity=1)
