#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the starter's kernels in Oclgrind, every type and all edges, and plants faults to see that they are found. The
# tests oclgrind.* are a short form. Takes about ten minutes.
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

command -v oclgrind >/dev/null || fail "oclgrind is not installed: setup.sh --dev does it"
build test
check=$root/tests/oclgrind/check_kernels.sh
"$check" "$root/build/test" planted
"$check" "$root/build/test" all wide
"$check" "$root/build/test" all tiled
