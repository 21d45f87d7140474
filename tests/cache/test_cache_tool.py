# SPDX-License-Identifier: Apache-2.0
"""portmm-cache as a user starts it. Arguments: the program, the directory of libportmm, that of the modules."""
import os
import shutil
import sys

from cache_case import Case, WARM, main

LIBRARY, MODULES = sys.argv[2:4]


class Usage(Case):
    def test_help_names_every_command_and_option(self):
        text = self.run_tool("--help").stdout
        for word in ("path stats list explain verify prune clear prewarm seal import --dir --path-ro --json --dry-run "
                     "--remove --recompile --max-size --backend --dtype --shape --trans").split():
            self.assertIn(word, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_wrong_usage_says_what_to_do(self):
        for arguments, says in (((), "give a command"), (("purge",), "'purge' is no command"),
                                (("seal",), "give one file"), (("list", "x"), "'x': no such argument"),
                                (("list", "--dry-run"), "--dry-run does nothing here"),
                                (("prune", "--max-size", "much"), "K, M, G or T"),
                                (("prewarm", "--dtype", "f31"), "'f31': give f32"),
                                (("prewarm", "--shape", "2x2"), "1000x200x300"),
                                (("prewarm", "--trans", "xx"), "give nn"),
                                (("verify", "--dry-run"), "is for --remove"),
                                (("list", "--nonsense"), "--help")):
            with self.subTest(arguments):
                self.assertIn(says, self.run_tool(*arguments, code=2).stderr)


class Empty(Case):
    def test_every_command_on_a_cache_that_is_not_there(self):
        self.assertEqual(self.ask("path")["places"][0]["trust"], "missing")
        self.assertEqual(self.ask("stats")["entries"], 0)
        self.assertEqual(self.ask("list")["entries"], [])
        self.assertEqual(self.ask("verify")["checked"], 0)
        self.assertEqual(self.ask("prune")["entries"], 0)
        self.assertEqual(self.ask("clear")["entries"], 0)
        self.assertFalse(self.cache.exists())

    def test_no_home_is_told(self):
        answer = self.ask("path", code=3, PORTMM_CACHE_DIR="", XDG_CACHE_HOME="", HOME="/")
        self.assertIn("PORTMM_CACHE_DIR", answer["reason"])
        self.run_tool("prewarm", *WARM, code=3, PORTMM_CACHE_DIR="", XDG_CACHE_HOME="", HOME="/")

    def test_directory_open_to_others_is_refused_with_advice(self):
        self.cache.mkdir()
        self.cache.chmod(0o777)
        place = self.ask("path", code=1)["places"][0]
        self.assertEqual(place["trust"], "refused")
        self.assertIn("chmod go-w", place["reason"])


class Filled(Case):
    def test_prewarm_again_compiles_nothing(self):
        self.fill()
        self.expect_served()

    def test_list_and_stats_agree_with_the_directory(self):
        count = self.fill()
        entries = self.ask("list")["entries"]
        self.assertEqual(sorted(entry["name"] for entry in entries), self.entries())
        self.assertIn("opencl program", {entry["kind"] for entry in entries})
        program = next(entry for entry in entries if entry["kind"] == "opencl program")
        for field in ("platform.version", "device.version", "device.driver", "options", "environment.pocl"):
            self.assertIn(field, program["fields"])
        stats = self.ask("stats")
        self.assertEqual(stats["entries"], count)
        self.assertEqual(stats["bytes"], sum(entry["bytes"] for entry in entries))
        self.assertGreaterEqual(stats["stores"], 1)

    def test_dry_runs_remove_nothing(self):
        self.fill()
        before = self.entries()
        for arguments in (("clear", "--dry-run"), ("prune", "--max-size", "1", "--dry-run")):
            self.assertEqual(self.ask(*arguments)["entries"], len(before))
            self.assertEqual(self.entries(), before)

    def test_prune_keeps_to_the_limit_and_clear_leaves_nothing(self):
        self.fill()
        limit = min(path.stat().st_size for path in (self.cache / "entries").iterdir())
        self.assertLessEqual(self.ask("prune", "--max-size", str(limit))["kept_bytes"], limit)
        self.ask("clear")
        self.assertEqual(self.entries(), [])

    def damage(self):
        path = max((self.cache / "entries").iterdir(), key=lambda each: each.stat().st_size)
        bytes_ = bytearray(path.read_bytes())
        bytes_[len(bytes_) // 2] ^= 1
        path.write_bytes(bytes_)
        return path.name

    def test_verify_finds_and_removes_damage(self):
        count = self.fill()
        self.assertEqual(self.ask("verify")["bad"], 0)
        name = self.damage()
        for arguments in (("verify",), ("verify", "--remove", "--dry-run")):
            answer = self.ask(*arguments, code=1)
            self.assertEqual((answer["checked"], answer["bad"], answer["removed"]), (count, 1, 0))
        self.assertEqual([entry["name"] for entry in answer["entries"] if entry["problem"]], [name])
        self.assertEqual(self.ask("verify", "--remove")["removed"], 1)
        self.assertNotIn(name, self.entries())
        self.ask("verify")

    def test_recompiled_products_are_right(self):
        self.fill()
        answer = self.ask("verify", "--recompile", *WARM)
        self.assertEqual([product["right"] for product in answer["products"]], [True, True])
        self.assertTrue(answer["programs"])
        self.assertLessEqual({one["outcome"] for one in answer["programs"]}, {"same", "other bytes"})

    def test_explain_names_the_field_that_differs(self):
        self.fill()
        self.assertEqual(self.ask("explain", *WARM)["missed"], 0)
        product = self.ask("explain", *WARM, POCL_NO_SUCH_THING="1")["products"][0]
        program = [one for one in product["differences"] if one["kind"] == "opencl program"]
        self.assertEqual({one["field"] for one in program}, {"environment.pocl"})
        self.assertIn("POCL_NO_SUCH_THING=1", program[0]["wanted"])

    def test_what_fails_is_told(self):
        answer = self.ask("prewarm", "--backend", "opencl:99", code=1)
        self.assertEqual(answer["failed"], 1)
        self.assertIn("opencl:99", answer["products"][0]["error"])


class Bundles(Case):
    def seal(self):
        count = self.fill()
        bundle = self.root / "bundle" / "portmm.bundle"
        bundle.parent.mkdir()
        bundle.parent.chmod(0o755)
        self.assertEqual(self.ask("seal", str(bundle))["entries"], count)
        shutil.rmtree(self.cache)
        return bundle, count

    def test_bundle_serves_where_the_user_has_nothing(self):
        bundle, count = self.seal()
        self.expect_served(PORTMM_CACHE_PATH_RO=str(bundle), PORTMM_CACHE="ro")
        moved = self.root / "elsewhere.bundle"
        bundle.rename(moved)
        self.expect_served(PORTMM_CACHE_PATH_RO=str(moved))
        place = self.ask("path", "--path-ro", str(moved))["places"][1]
        self.assertEqual((place["tier"], place["trust"], place["entries"]), ("bundle", "trusted", count))

    def test_bundle_on_a_read_only_file_system(self):
        bundle, _ = self.seal()
        mounted = self.root / "mounted"
        mounted.mkdir()
        script = 'mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" || exit 99; ' \
                 '! touch "$2/x" 2>/dev/null || exit 98; shift 2; exec "$@"'
        unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        self.expect_served(prefix=(*unshare, "sh", "-c", script, "sh", str(bundle.parent), str(mounted)),
                           PORTMM_CACHE_PATH_RO=str(mounted / bundle.name))

    def test_bundle_beside_the_library(self):
        bundle, count = self.seal()
        library = self.root / "lib"
        (library / "portmm" / "cache").mkdir(parents=True)
        for folder in (library, library / "portmm", library / "portmm" / "cache"):
            folder.chmod(0o755)
        shutil.copy2(os.path.join(LIBRARY, "libportmm.so.0"), library)
        shutil.copy2(bundle, library / "portmm" / "cache")
        answer = self.expect_served(LD_LIBRARY_PATH=str(library), PORTMM_MODULE_PATH=MODULES, PORTMM_CACHE_PATH_RO="")
        self.assertTrue(answer["products"])
        places = self.ask("path", LD_LIBRARY_PATH=str(library))["places"]
        self.assertIn(count, [place["entries"] for place in places if place["path"].startswith(str(library))])

    def test_damaged_bundle_is_refused_and_the_product_made(self):
        bundle, _ = self.seal()
        whole = bundle.read_bytes()
        for at in (3, 20, 40, 60):
            bundle.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])
            place = self.ask("path", "--path-ro", str(bundle), code=1)["places"][1]
            self.assertEqual(place["trust"], "faulty")
        self.assertEqual(self.ask("prewarm", *WARM, PORTMM_CACHE_PATH_RO=str(bundle))["failed"], 0)

    def test_import_takes_what_is_not_there(self):
        bundle, count = self.seal()
        self.assertEqual(self.ask("import", str(bundle))["entries"], count)
        self.assertEqual(len(self.entries()), count)
        self.assertEqual(self.ask("import", str(bundle))["already_there"], count)
        self.expect_served()

    def test_import_of_nonsense_is_refused(self):
        nonsense = self.root / "nonsense"
        nonsense.write_text("no bundle")
        self.assertIn("nonsense", self.run_tool("import", str(nonsense), code=3).stderr)
        self.run_tool("import", str(self.root / "absent"), code=3)


main()
