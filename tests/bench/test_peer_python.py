# SPDX-License-Identifier: Apache-2.0
"""The Python peer's side of portmm-bench's protocol, with stand-ins for the frameworks. Argument: the peer's program."""
import json
import os
import subprocess
import sys
import time
import unittest

FAKES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_frameworks")
PROGRAM = sys.argv.pop(1)
NAMES = ("pytorch", "tensorflow", "jax", "numpy", "cupy")
ASYNCHRONOUS = ("pytorch", "tensorflow", "jax", "cupy")
REQUEST = {
    "backend": "cuda:1", "engine": "", "start": "fast", "device_index": 1, "resolve": False, "m": 7, "n": 9, "k": 5,
    "dtype": "f32", "transa": False, "transb": False, "runs": 4, "loops": 10, "runs_bounded": True, "steady": False,
    "verify": True,
}


def start(name="pytorch", fault="", delay_ms=2, **changes):
    arguments = [sys.executable, PROGRAM, name, json.dumps({**REQUEST, **changes}), str(time.perf_counter_ns())]
    environment = {**os.environ, "PYTHONPATH": FAKES, "FAKE_FAULT": fault, "FAKE_DELAY_MS": str(delay_ms),
                   "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=60, check=False)


def ask(*arguments, **changes):
    done = start(*arguments, **changes)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


class PeerTest(unittest.TestCase):
    def test_times_nest(self):
        for name in NAMES:
            begin = time.perf_counter_ns()
            result = ask(name)
            outside_ms = (time.perf_counter_ns() - begin) * 1e-6
            self.assertNotIn("error", result)
            self.assertGreater(result["first_gemm_ms"], 2)  # the device's delay
            self.assertGreater(result["process_to_result_ms"], result["first_gemm_ms"] + result["before_first_call_ms"])
            self.assertLess(result["process_to_result_ms"], outside_ms)
            self.assertEqual(result["device"], "cpu" if name == "numpy" else "fake cuda:1")
            self.assertEqual(result["version"], "0.fake")
            self.assertTrue(result["verdict"]["correct"], name)
            self.assertNotIn("gemm_ms", result)

    def test_runs_are_shown_with_and_without_waiting(self):
        for name in NAMES:
            result = ask(name, delay_ms=20, runs=2)
            self.assertEqual(len(result["runs_ms"]), 2)
            self.assertEqual(len(result["runs_unsynchronised_ms"]), 2)
            for complete, returned in list(zip(result["runs_ms"], result["runs_unsynchronised_ms"]))[1:]:
                self.assertGreaterEqual(complete, 200)  # ten products of 20 ms
                self.assertEqual(returned < complete / 2, name in ASYNCHRONOUS, name)
            self.assertGreaterEqual(result["runs_ms"][0], result["first_gemm_ms"] + 180)

    def test_no_runs(self):
        self.assertNotIn("runs_ms", ask(runs=0))

    def test_steady(self):
        result = ask(steady=True, runs=0)
        self.assertIn(result["settled"], (True, False))  # on a busy machine a sleep may be of any length
        self.assertGreaterEqual(len(result["gemm_ms"]), 5)
        self.assertGreater(min(result["gemm_ms"]), 2)

    def test_results_are_checked_in_every_form(self):
        for name in NAMES:
            for dtype, transa, transb in (("f32", True, True), ("f64", False, True), ("f64", True, False)):
                verdict = ask(name, dtype=dtype, transa=transa, transb=transb, runs=0)["verdict"]
                self.assertTrue(verdict["correct"], (name, dtype, transa, transb))
        self.assertNotIn("verdict", ask(verify=False, runs=0))

    def test_wrong_results_are_found(self):
        for name in NAMES:
            self.assertFalse(ask(name, "wrong", runs=0)["verdict"]["correct"])
        verdict = ask("pytorch", "nan", runs=0)["verdict"]
        self.assertFalse(verdict["correct"])
        self.assertIsNone(verdict["relative_error"])

    def test_noise_does_not_reach_the_result(self):
        done = start("pytorch", "noise", runs=0)
        json.loads(done.stdout)
        self.assertIn("talks on standard output", done.stderr)
        self.assertIn("past Python", done.stderr)

    def test_absent_is_said_in_one_line(self):
        for name, fault, words in (
            ("pytorch", "import", "torch is not importable"),
            ("tensorflow", "import", "tensorflow is not importable"),
            ("jax", "import", "jax is not importable"),
            ("numpy", "import", "numpy is not importable"),
            ("cupy", "import", "cupy is not importable"),
            ("pytorch", "no_device", "sees no CUDA device"),
            ("tensorflow", "no_device", "sees no GPU 1"),
            ("jax", "no_device", "finds no device"),
            ("cupy", "no_device", "cannot open the device"),
            ("jax", "device", "has no device 1"),
            ("pytorch", "device", "no such device"),
            ("pytorch", "product", "out of memory"),
        ):
            error = ask(name, fault)["error"]
            self.assertIn(words, error)
            self.assertNotIn("\n", error)

    def test_death_is_not_hidden(self):
        done = start("pytorch", "die")
        self.assertLess(done.returncode, 0)
        self.assertEqual(done.stdout, "")

    def test_usage(self):
        done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("usage:", done.stderr)


if __name__ == "__main__":
    unittest.main()
