#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The founding experiment under all three start policies, beside the CPU backend and the raw libraries, in one run; then
# what docs/start.md promises of first calls, bound by bound. Takes five to ten minutes with two cores.
# Usage: first-call.sh [SPEC [SAMPLES [RESULT.json]]]     SPEC: opencl (default), cuda
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

spec=${1:-opencl} samples=${2:-5}
"$root/scripts/setup.sh" >&2
build release
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT
result=${3:-$kept/result.json}
"$root/build/release/bin/portmm-bench" --backend "cpu,$spec" --start fast,tuned,hybrid --peers --size 1000 --dtype f32 \
    --samples "$samples" --json "$result"
echo
python3 "$root/scripts/first-call.py" "$result"
