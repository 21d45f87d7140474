# SPDX-License-Identifier: Apache-2.0
"""
What went wrong in caches of others, each as a test named after the public report; and each part of a key, changed
alone. Arguments: portmm-cache, a directory of ICD files with the test driver alone (driver/driver.h).
"""
import os
import shutil
import subprocess
import sys

from cache_case import Case, TOOL, WARM, main

VENDORS = sys.argv[2]
# of the test driver: its compiler is given other sources, which it refuses
BROKEN = "edit=#|no_such_type~x;#"


class Report(Case):
    def make(self, settings="", **more):
        """A process on the test driver: how many programs it compiled, with products right."""
        answer = self.ask("prewarm", *WARM, OCL_ICD_VENDORS=VENDORS, PORTMM_TEST_DRIVER=settings, **more)
        self.assertEqual(answer["failed"], 0)
        return answer["compiled"]

    def start(self, **more):
        environment = {**os.environ, "PORTMM_CACHE_DIR": str(self.cache), "OCL_ICD_VENDORS": VENDORS, **more}
        return subprocess.Popen([TOOL, "prewarm", *WARM], env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def files(self):
        return list((self.cache / "entries").iterdir())

    def fill_by_driver(self):
        self.assertGreaterEqual(self.make(), 1)
        self.assertEqual(self.make(), 0)

    def expect_healed(self):
        """The next process compiles what was damaged, the one after it nothing."""
        self.assertGreaterEqual(self.make(), 1)
        self.assertEqual(self.make(), 0)
        self.assertEqual(self.ask("verify")["bad"], 0)


class Damage(Report):
    def test_pytorch_132756_truncated_entry_fails_for_ever(self):
        self.fill_by_driver()
        for path in self.files():
            path.write_bytes(path.read_bytes()[:-7])
        self.expect_healed()

    def test_rpcs3_9529_zero_length_files(self):
        self.fill_by_driver()
        for path in self.files():
            path.write_bytes(b"")
        self.expect_healed()

    def test_viennacl_225_binary_captured_too_early(self):
        self.make("binary=early")
        self.make()
        self.assertEqual(self.make(), 0)

    def test_a_driver_without_binaries(self):
        for which in ("empty", "garbage"):
            self.make(f"binary={which}")
            self.assertGreaterEqual(self.make(), 1, "what was no binary was stored as one")
            self.ask("clear")

    def test_pyopencl_731_asking_for_a_binary_costs_a_compile(self):
        self.fill_by_driver()
        log = self.root / "log"
        self.make(f"log={log}")
        words = [line.split()[0] for line in log.read_text().splitlines()]
        self.assertEqual(words.count("build"), words.count("load"), "something was built that was not loaded")
        self.assertEqual(set(words), {"load", "build"}, "the driver was asked for what is in the cache")


class Key(Report):
    def expect_miss(self, settings="", **more):
        self.fill_by_driver()
        before = {path.name for path in self.files()}
        self.assertGreaterEqual(self.make(settings, **more), 1)
        self.assertTrue(before < {path.name for path in self.files()}, "the entries of before were replaced")
        self.assertEqual(self.make(), 0)
        self.assertEqual(self.make(settings, **more), 0)

    def test_compute_runtime_125_driver_version(self):
        self.expect_miss("version=other")

    def test_darktable_2033_driver_version_shorter_by_one(self):
        self.fill_by_driver()
        fields = [entry["fields"] for entry in self.ask("list")["entries"] if entry["kind"] == "opencl program"]
        self.assertGreaterEqual(self.make("version=" + fields[0]["device.driver"].split()[0][:-1]), 1)

    def test_device_name(self):
        self.expect_miss("name=other")

    def test_cupy_9830_vllm_41871_two_architectures_under_one_name(self):
        # OpenCL tells them apart by version and extensions: the device without f64 has others
        self.expect_miss("fp64=0")

    def test_device_version(self):
        self.expect_miss("standard=1.2")

    def test_environment_of_pocl(self):
        self.expect_miss(POCL_NO_SUCH_VARIABLE="1")

    def test_environment_of_clblast(self):
        self.expect_miss(CLBLAST_BUILD_OPTIONS="-DNO_SUCH_MACRO")

    def test_format_number(self):
        self.fill_by_driver()
        for path in self.files():
            content = bytearray(path.read_bytes())
            content[8] += 1
            path.write_bytes(content)
        self.expect_healed()

    def test_versions_of_pocl_and_llvm_are_in_the_key(self):
        self.fill()
        for entry in self.ask("list")["entries"]:
            if entry["kind"] == "opencl program" and "Portable" in entry["fields"]["platform.name"]:
                self.assertRegex(entry["fields"]["platform.version"], r"(?i)pocl [0-9].*llvm [0-9]")

    def test_where_drivers_keep_files_is_not_in_the_key(self):
        self.fill_by_driver()
        elsewhere = self.root / "pocl"
        elsewhere.mkdir()
        self.assertEqual(self.make(POCL_CACHE_DIR=str(elsewhere)), 0)


class Failures(Report):
    """A program that the driver's compiler refuses."""

    def try_to_make(self, settings, expected):
        """The driver's words on it, and how often it was asked to build."""
        log = self.root / "log"
        log.write_text("")
        answer = self.ask("prewarm", *WARM, code=expected, OCL_ICD_VENDORS=VENDORS,
                          PORTMM_TEST_DRIVER=f"{settings} log={log}")
        builds = [line for line in log.read_text().splitlines() if line.startswith("build")]
        return " ".join(product["error"] for product in answer["products"] if product["failed"]), len(builds)

    def test_a_refused_program_is_tried_by_one_process(self):
        error, builds = self.try_to_make(BROKEN, 1)
        self.assertIn("no_such_type", error)
        self.assertGreaterEqual(builds, 2)
        error, builds = self.try_to_make(BROKEN, 1)
        self.assertIn("no_such_type", error, "the reason of the process that tried is not told")
        self.assertEqual(builds, 0, "a program was tried again")
        kinds = {entry["kind"] for entry in self.ask("list")["entries"]}
        self.assertEqual(kinds, {"failed opencl program"})
        self.assertEqual(self.make("version=other"), self.make("version=another"), "another driver was not tried")
        self.ask("clear")
        self.fill_by_driver()

    def test_faults_that_are_not_of_the_program_are_not_remembered(self):
        # no memory; a failure of which the compiler says nothing
        for code in (-6, -5, -11):
            _, builds = self.try_to_make(f"fail=clBuildProgram code={code}", 1)
            self.assertEqual(builds, 0)
            self.assertFalse((self.cache / "entries").exists() and self.files())
        self.fill_by_driver()


class Places(Report):
    def test_nixpkgs_551032_llama_cpp_22263_no_home(self):
        for home in ("", "/", "/nonexistent", "relative"):
            answer = self.ask("prewarm", *WARM, code=3 if home != "/nonexistent" else 0, PORTMM_CACHE_DIR="",
                              XDG_CACHE_HOME="", HOME=home)
            self.assertNotIn("error", answer)

    def test_triton_518_shared_tmp(self):
        answer = self.ask("path", code=3, PORTMM_CACHE_DIR="", XDG_CACHE_HOME="", HOME="")
        self.assertFalse([place for place in answer["places"] if place["writable"]], "there is a default in /tmp")

    def test_mixle_331_planted_kernel(self):
        self.fill_by_driver()
        self.cache.chmod(0o777)
        self.assertGreaterEqual(self.make(), 1, "entries that anybody could have planted were used")
        self.cache.chmod(0o700)
        for path in self.files():
            path.chmod(0o666)
        self.assertGreaterEqual(self.make(), 1, "an entry that anybody could have written was used")

    def test_pocl_1887_home_not_ascii(self):
        home = self.root / "Ünï cödé 漢字"
        home.mkdir()
        where = {"PORTMM_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": str(home)}
        self.assertGreaterEqual(self.make(**where), 1)
        self.assertEqual(self.make(**where), 0)
        self.assertTrue((home / ".cache" / "portmm" / "entries").is_dir())

    def test_pocl_1190_name_over_255_bytes(self):
        long = "v" * 200
        self.assertGreaterEqual(self.make(f"version={long} name={long}"), 1)
        self.assertEqual(self.make(f"version={long} name={long}"), 0)
        self.assertLess(max(len(path.name) for path in self.files()), 64)

    def test_evo2_189_quota(self):
        # a file system of one page, which is taken: every store fails
        self.cache.mkdir(mode=0o700)
        script = 'mount -t tmpfs -o size=4k,mode=700 none "$1" && head -c 4096 /dev/zero >"$1/full" || exit 99; ' \
                 'shift; exec "$@"'
        unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        answer = self.ask("prewarm", *WARM, prefix=(*unshare, "sh", "-c", script, "sh", str(self.cache)))
        self.assertEqual((answer["failed"], answer["products"][0]["stored"]), (0, 0))
        self.fill_by_driver()


class Processes(Report):
    def test_chipstar_1081_pocl_1480_eight_ranks(self):
        self.assertEqual([process.wait(timeout=200) for process in [self.start() for _ in range(8)]], [0] * 8)
        self.assertEqual(self.ask("verify")["bad"], 0)
        self.assertEqual(self.make(), 0)

    def test_pytorch_190543_killed_lock_holder(self):
        process = self.start()
        locks = self.cache / "locks"
        while process.poll() is None and not (locks.is_dir() and any(locks.iterdir())):
            pass
        process.kill()
        process.wait(timeout=60)
        self.make()
        self.assertEqual(self.make(), 0)

    def test_pytorch_151466_cleaned_while_in_use(self):
        processes = [self.start() for _ in range(3)]
        while any(process.poll() is None for process in processes):
            shutil.rmtree(self.cache, ignore_errors=True)
        self.assertEqual([process.returncode for process in processes], [0] * 3)
        shutil.rmtree(self.cache, ignore_errors=True)
        self.fill_by_driver()

    def test_deepep_683_the_file_of_the_winner_is_not_seen(self):
        # every entry vanishes as soon as it is stored: the process goes on with its own
        script = 'while sleep 0.01; do rm -f "$0"/entries/* "$0"/trials/* 2>/dev/null; done'
        remover = subprocess.Popen(["sh", "-c", script, str(self.cache)])
        try:
            self.assertGreaterEqual(self.make(), 1)
        finally:
            remover.kill()
            remover.wait()


main()
