#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What portmm-bench shows on a terminal while it works: progress with the time left; and Ctrl-C in the middle of its
samples, after which what was measured is told and nothing is left behind.

usage: test_terminal.py PORTMM_BENCH
"""
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
OPTIONS = ["--backend", "cpu", "--size", "16", "--runs", "0", "--temperature", "relaunch"]


def show(folder, *arguments, stop_at=None, number=signal.SIGINT):
    """The exit code, and what a terminal got on stderr; stop_at: a signal as soon as that was seen."""
    master, terminal = pty.openpty()
    with open(folder / "out", "wb") as out:
        process = subprocess.Popen([PROGRAM, *OPTIONS, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=terminal,
                                   env={**os.environ, "TMPDIR": str(folder / "tmp")})
    os.close(terminal)
    seen = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the last one who had it open is gone
            part = b""
        if not part:
            break
        seen += part
        if stop_at is not None and stop_at in seen:
            process.send_signal(number)
            stop_at = None
    os.close(master)
    return process.wait(timeout=60), seen.decode()


def check_progress(folder):
    code, seen = show(folder, "--samples", "4")
    assert code == 0, seen
    for words in ("sample 1 of 4, relaunch", "sample 4 of 4, relaunch, about ", " s left for this product"):
        assert words in seen, (words, seen)
    assert "left" not in seen.split("sample 2 of 4")[0], "nobody knows before the first round is over"
    assert seen.endswith("\r\x1b[K") or seen.rstrip("\r\n").endswith("\x1b[K"), "progress is taken away at the end"


def check_quiet_without_terminal(folder):
    done = subprocess.run([PROGRAM, *OPTIONS, "--samples", "1"], capture_output=True, text=True, timeout=60, check=True,
                          env={**os.environ, "TMPDIR": str(folder / "tmp")})
    assert "\r" not in done.stderr and "sample 1 of" not in done.stderr, done.stderr


def check_interrupt(folder):
    for number in (signal.SIGINT, signal.SIGTERM):
        path = folder / "part.json"
        code, seen = show(folder, "--samples", "10000", "--json", str(path), stop_at=b"sample 3 of 10000", number=number)
        assert code == 130, (code, seen)
        assert "interrupted: what was done until then is told" in seen, seen
        document = json.loads(path.read_text(encoding="utf-8"))
        assert document["interrupted"] and len(document["results"]) == 1
        assert 2 <= document["results"][0]["samples"] < 10000, document["results"][0]["samples"]
        assert "relaunch" in (folder / "out").read_text(encoding="utf-8")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tmp").mkdir()
        for check in (check_progress, check_quiet_without_terminal, check_interrupt):
            check(folder)
            assert not list((folder / "tmp").iterdir()), "something is left in TMPDIR"


if __name__ == "__main__":
    main()
