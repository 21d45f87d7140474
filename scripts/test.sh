#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<'END'
Usage: test.sh [--preset test|asan|tsan] [OPTION OF ctest]...
Installs what is missing, builds, and runs the tests; with the preset asan or tsan under sanitizers.
The last line counts: N passed, N failed. Exits as ctest does.

A test that skips because a backend is missing fails instead, for the backends in
PORTMM_TEST_REQUIRE (default: cpu,opencl; set it to nothing to allow skips).

  test.sh -R conformance     only the tests with that in their name
  test.sh --preset asan -j2  all of them, with AddressSanitizer and UBSan
END
}

preset="test"
case ${1-} in
    --help) usage && exit ;;
    --preset) preset=${2:?"name a preset"} && shift 2 ;;
esac

"$root/scripts/setup.sh"
build "$preset"

results=$root/build/$preset/tests.xml
rm -f "$results"
export PORTMM_TEST_REQUIRE=${PORTMM_TEST_REQUIRE-cpu,opencl}
code=0
(cd "$root" && ctest --preset "$preset" --output-on-failure --no-tests=error --output-junit "$results" "$@") || code=$?
[ -e "$results" ] || fail "ctest ran no test"

# count NAME: an attribute of the report's first element
count() {
    sed -n '/<testsuite /,/>/s/.*[[:space:]]'"$1"'="\([0-9]*\)".*/\1/p' "$results" | head -n 1
}
failed=$(count failures) skipped=$(($(count skipped) + $(count disabled)))
passed=$(($(count tests) - failed - skipped))
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
exit "$code"
