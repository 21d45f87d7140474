#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<'TEXT'
Usage: fuzz.sh [--seconds N] [--keep] [TARGET]...
Builds the fuzz targets with clang, AddressSanitizer and UBSan, and runs them side by side, each for
N seconds (default: 30), from the inputs in tests/fuzz/corpus and those of earlier runs.
The last line counts: N passed, N failed. What a target fails on is kept in build/fuzz/findings, and
`build/fuzz/bin/fuzz_TARGET FILE` repeats it.

  --keep     afterwards add inputs that reach new code to tests/fuzz/corpus
  TARGET     entry, bundle; default: both
TEXT
}

seconds=30 keep=false targets=()
while [ $# -gt 0 ]; do
    case $1 in
        --help) usage && exit ;;
        --seconds) seconds=${2:?"--seconds needs a number"} && shift ;;
        --keep) keep=true ;;
        entry | bundle) targets+=("$1") ;;
        *) usage >&2 && exit 2 ;;
    esac
    shift
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "--seconds $seconds: give a number of seconds, at least 1"
[ ${#targets[@]} -gt 0 ] || targets=(entry bundle)

command -v clang >/dev/null || fail "clang is not installed: scripts/setup.sh --dev installs it"
build fuzz
folder=$root/build/fuzz
mkdir -p "$folder/findings"

# run TARGET: its own words go to a log, which is shown if it fails. 4 KiB may not ask for more than the 128 MiB that
# they could unpack to.
run() {
    local found=$folder/found/$1
    mkdir -p "$found"
    "$folder/bin/fuzz_$1" -max_total_time="$seconds" -timeout=10 -max_len=4096 -malloc_limit_mb=256 -print_final_stats=1 \
        -artifact_prefix="$folder/findings/$1-" "$found" "$root/tests/fuzz/corpus/$1" >"$folder/$1.log" 2>&1
}

declare -A jobs
for target in "${targets[@]}"; do
    run "$target" &
    jobs[$target]=$!
done
passed=0 failed=0
for target in "${targets[@]}"; do
    if wait "${jobs[$target]}"; then
        passed=$((passed + 1))
        echo "$target: no finding in $seconds s, $(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$target.log") inputs"
    else
        failed=$((failed + 1))
        tail -n 60 "$folder/$target.log"
        echo "$target: FAILED; the input is in $folder/findings"
    fi
    if $keep; then
        "$folder/bin/fuzz_$target" -merge=1 "$root/tests/fuzz/corpus/$target" "$folder/found/$target" 2>>"$folder/$target.log"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
