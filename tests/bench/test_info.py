# SPDX-License-Identifier: Apache-2.0
"""portmm-info as a user starts it. Arguments: the program, a driver that crashes, one that hangs."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

INFO, CRASHES, HANGS = sys.argv[1:4]


def run(*arguments, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run([INFO, *arguments], env=environment, text=True, capture_output=True, timeout=120)


class Vendors:
    """A directory of ICD files, as the loader reads it."""

    def __init__(self, libraries):
        self.folder = tempfile.TemporaryDirectory()
        for name, library in libraries.items():
            (pathlib.Path(self.folder.name) / f"{name}.icd").write_text(library + "\n")

    def __enter__(self):
        return self.folder.name

    def __exit__(self, *_):
        self.folder.cleanup()


def real_driver():
    found = json.loads(run("--json").stdout)["opencl_drivers"]
    return next((driver["library"] for driver in found if driver["state"] == "works"), None)


class Facts(unittest.TestCase):
    def test_json_has_what_the_text_has(self):
        done = run("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        facts = json.loads(done.stdout)
        self.assertEqual(facts["schema"], 1)
        self.assertEqual([backend["name"] for backend in facts["backends"]], ["cuda", "opencl", "cpu"])
        text = run("--long").stdout
        for backend in facts["backends"]:
            if not backend["available"]:
                self.assertNotEqual(backend["unavailable_reason"], "")
                self.assertIn(backend["unavailable_reason"], text)
        for device in facts["devices"]:
            self.assertIn(f"{device['backend']}:{device['index']}  {device['name']}", text)
            for name, value in device["properties"].items():
                self.assertIn(f"  {name:30} {value}", text)
        for library in facts["libraries"]:
            self.assertTrue(pathlib.Path(library["file"]).is_file() or library["error"], library)
        choice = facts["choice"]
        self.assertIn(f"{choice['backend']}:{choice['device_index']}, first engine {choice['engine']}", text)
        self.assertIn(choice["cache_path"], text)

    def test_places_of_the_cache_and_whether_they_are_trusted(self):
        with tempfile.TemporaryDirectory() as root:
            cache = pathlib.Path(root) / "cache"
            cache.mkdir(mode=0o700)
            text = run("--no-probe", "--backend", "cpu", PORTMM_CACHE_DIR=str(cache)).stdout
            self.assertIn(f"{cache}: trusted, 0 entries", text)
            cache.chmod(0o777)
            facts = json.loads(run("--json", "--no-probe", "--backend", "cpu", PORTMM_CACHE_DIR=str(cache)).stdout)
            self.assertEqual([place["trust"] for place in facts["cache"]["places"] if place["tier"] == "user"],
                             ["refused"])
            self.assertEqual(len([problem for problem in facts["problems"] if "chmod go-w" in problem]), 1)

    def test_a_named_device_is_opened(self):
        facts = json.loads(run("--json", "--backend", "cpu:0").stdout)
        self.assertEqual((facts["choice"]["backend"], facts["choice"]["engine"]), ("cpu", "openblas"))

    def test_settings_are_shown_and_nothing_private(self):
        text = run("--no-probe", PORTMM_LOG_NOISE="seen", A_SECRET_TOKEN="hidden").stdout
        self.assertIn("PORTMM_LOG_NOISE=seen", text)
        self.assertNotIn("hidden", text)

    def test_a_report_hides_the_home_directory(self):
        with tempfile.TemporaryDirectory() as home:
            cache = f"{home}/deep/cache"
            text = run("--report", HOME=home, PORTMM_CACHE_DIR=cache).stdout
            self.assertTrue(text.startswith("```\n") and text.endswith("```\n"))
            self.assertNotIn(home, text)
            self.assertIn("~/deep/cache", text)


class Drivers(unittest.TestCase):
    def test_each_is_judged_alone_and_the_rest_goes_on(self):
        good = real_driver()
        libraries = {"a-crash": CRASHES, "b-hang": HANGS, "c-gone": "/nowhere/libgone.so"}
        if good:
            libraries["d-good"] = good
        with Vendors(libraries) as folder:
            done = run("--json", "--timeout", "3", OCL_ICD_VENDORS=folder)
            checked = run("--check", "--timeout", "3", OCL_ICD_VENDORS=folder)
            facts = json.loads(done.stdout)
        states = [driver["state"] for driver in facts["opencl_drivers"]]
        self.assertEqual(states, ["crashed", "hung", "not loadable"] + ["works"] * bool(good))
        self.assertIn("signal 11", facts["opencl_drivers"][0]["text"])
        self.assertIn("/nowhere/libgone.so", facts["opencl_drivers"][2]["text"])
        opencl = facts["backends"][1]
        self.assertEqual(opencl["available"], bool(good), opencl)
        self.assertEqual(len(facts["problems"]), 3, facts["problems"])
        for name, problem in zip(("a-crash.icd crashed", "b-hang.icd hung", "c-gone.icd cannot be loaded"),
                                 facts["problems"]):
            self.assertIn(name, problem)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(checked.returncode, 1)

    def test_none_leaves_the_cpu(self):
        with Vendors({}) as folder:
            text = run(OCL_ICD_VENDORS=folder).stdout
            asked = run("--backend", "opencl", OCL_ICD_VENDORS=folder)
        self.assertIn("no ICD file is found", text)
        self.assertIn("cpu:0, first engine openblas", text)
        self.assertEqual(asked.returncode, 3)
        self.assertIn("no device is opened: ", asked.stdout)

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder, Vendors({"crash": CRASHES}) as vendors:
            run("--json", OCL_ICD_VENDORS=vendors, TMPDIR=folder)
            self.assertEqual(os.listdir(folder), [])


class Usage(unittest.TestCase):
    def test_help_and_version(self):
        self.assertTrue(run("--help").stdout.startswith("Usage: portmm-info"))
        self.assertRegex(run("--version").stdout, r"^portmm-info [0-9.]+\n$")

    def test_bad_usage(self):
        for arguments in (["--nonsense"], ["stray"], ["--backend"], ["--backend", "vulkan"], ["--backend", "opencl:"],
                          ["--backend", "auto:1"], ["--backend", "cpu:x"], ["--json", "--report"], ["--timeout", "0"],
                          ["--timeout", "soon"]):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, "", arguments)
            self.assertRegex(done.stderr, "portmm-info", arguments)

    def test_a_full_disk_is_an_error(self):
        if os.path.exists("/dev/full"):
            with open("/dev/full", "w") as full:
                done = subprocess.run([INFO, "--no-probe"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
