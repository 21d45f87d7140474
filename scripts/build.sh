#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset; does only what is not done yet. Prints the log when something fails.
# usage: scripts/build.sh PRESET
set -eu
cd "$(dirname "$0")/.."
preset=${1:?usage: scripts/build.sh PRESET}
mkdir -p "build/$preset"
log="build/$preset/build.log"
started=$SECONDS
if ! { { [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset"; } && cmake --build --preset "$preset"; } \
    >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    echo "build: failed; the whole log is $log" >&2
    exit 1
fi
echo "build: build/$preset is up to date ($((SECONDS - started)) s)" >&2
