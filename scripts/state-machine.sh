#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The engines' state machine, the warm-up and the hybrid start, with every fault of the fault backend: under valgrind, and
# under ThreadSanitizer. Leaks are LeakSanitizer's (test.sh --preset asan), which knows what a fork leaves behind. Takes about ten minutes with two cores; most of it is the build for ThreadSanitizer.
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

command -v valgrind >/dev/null || fail "valgrind is not installed: setup.sh --dev does it"
private=$(mktemp -d)
trap 'rm -rf "$private"' EXIT
export PORTMM_CACHE_DIR=$private/cache XDG_CACHE_HOME=$private

build test
for program in test_engines test_stress; do
    say "$program under valgrind"
    valgrind --quiet --error-exitcode=9 --leak-check=no "$root/build/test/bin/$program"
done

build tsan
(cd "$root" && ctest --preset tsan --output-on-failure --no-tests=error -R '^(engines$|engines\.stress|warmup$|warmup\.shrink)')
say "no finding"
