#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many processes at once on an empty cache, on the OpenCL backend: each program is compiled once, every result is right,
# and nobody waits longer than the work takes; also when the process that compiles is killed or stopped.
# Usage: cold-start.sh [--processes N] [--rounds N] [--build DIR] [--counts]
# Default: 64 processes, 3 rounds, build/test. --counts: times are shown and not judged.
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

processes=64 rounds=3 build=build/test judged=1
while [ $# -gt 0 ]; do
    case $1 in
    --processes) processes=$2 && shift ;;
    --rounds) rounds=$2 && shift ;;
    --build) build=$2 && shift ;;
    --counts) judged=0 ;;
    *) sed -n '3,6p' "$0" && exit 2 ;;
    esac
    shift
done

scratch=$(mktemp -d)
round=$scratch/round
holder=
# shellcheck disable=SC2317 # by trap
end() {
    [ -z "$holder" ] || kill -KILL "$holder" 2>/dev/null || true
    rm -rf "$scratch"
}
trap end EXIT
failed=0

# The test driver hands everything to PoCL, and stops a process where it is told to.
export OCL_ICD_VENDORS=$build/tests/driver/vendors
[ "${OCL_ICD_VENDORS#/}" != "$OCL_ICD_VENDORS" ] || OCL_ICD_VENDORS=$root/$OCL_ICD_VENDORS
export PORTMM_CACHE=rw PORTMM_WARMUP=helper PORTMM_CACHE_DIR=$round/cache
export POCL_CACHE_DIR=$round/pocl XDG_CACHE_HOME=$round/xdg

empty_caches() {
    rm -rf "$round"
    mkdir -p "$round/pocl"
}

# Results of a round: the file that all wait for, and what each one prints.
begin_round() {
    rm -rf "$scratch/out" "$scratch/go"
    mkdir "$scratch/out"
}

run_worker() {
    exec "$build/bin/cold_worker" opencl starter "$scratch/go" >"$scratch/out/$1" 2>>"$scratch/out/err"
}

start_all() { # count; the process numbers go to the array
    pids=()
    local i
    for i in $(seq "$1"); do
        run_worker "$i" &
        pids+=($!)
    done
}

# Sum of one count over all processes; see core/cache/statistics.h.
count() {
    local field
    case $1 in misses) field=6 ;; compiled) field=12 ;; waited) field=13 ;; gave_up) field=14 ;; esac
    awk -v field="$field" '$1 == "portmm" { sum += $field } END { print sum + 0 }' "$round/cache/statistics"
}

# Milliseconds of the slowest.
slowest() {
    cat "$scratch"/out/[0-9]* | sort -n | tail -n 1
}

median() {
    sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

expect() { # what, condition of awk
    if awk "BEGIN { exit !($2) }"; then
        say "  $1: $2"
    else
        say "  FAILED: $1: $2"
        failed=1
    fi
}

expect_time() {
    if [ "$judged" -eq 1 ]; then
        expect "$@"
    else
        say "  $1: $2, not judged"
    fi
}

await_all() {
    local pid wrong=0 code
    for pid in "${pids[@]}"; do
        code=0
        wait "$pid" || code=$?
        [ "$code" -ne 77 ] || { cat "$scratch/out/err" && exit 77; }
        [ "$code" -eq 0 ] || wrong=$((wrong + 1))
    done
    [ "$wrong" -eq 0 ] || cat "$scratch/out/err" >&2
    expect 'processes without a right result' "$wrong == 0"
}

await_that() { # command with its arguments
    local tries
    for tries in $(seq 600); do
        ! "$@" 2>/dev/null || return 0
        sleep 0.1
    done
    fail "not so after $tries tries: $*"
}

# shellcheck disable=SC2317 # by await_that
has_compiled() { # how many
    [ "$(count compiled)" -ge "$1" ]
}

# One process with an empty cache; all of them with a full one; all of them with an empty one. Each round is one after
# the other, so that what else the machine does meets all three.
for number in $(seq "$rounds"); do
    say "round $number: one process with an empty cache"
    empty_caches
    begin_round
    start_all 1
    touch "$scratch/go"
    await_all
    slowest >>"$scratch/cold"
    say "  $(slowest) ms"
    await_that has_compiled 2 # its helper has ended

    say "round $number: $processes processes at once with a full cache"
    begin_round
    rm -f "$round/cache/statistics"
    start_all "$processes"
    sleep 1
    touch "$scratch/go"
    await_all
    expect 'compiled' "$(count compiled) == 0"
    slowest >>"$scratch/warm"
    say "  slowest $(slowest) ms"

    say "round $number: $processes processes at once with an empty cache"
    empty_caches
    begin_round
    start_all "$processes"
    sleep 1
    touch "$scratch/go"
    await_all
    expect 'compiled' "$(count compiled) == 1"
    slowest >>"$scratch/slow"
    say "  slowest $(slowest) ms; $(count waited) waited for another's program"
done
cold=$(median <"$scratch/cold") warm=$(median <"$scratch/warm") slow=$(median <"$scratch/slow")
say "medians: one process, empty cache: $cold ms; the slowest of $processes, full cache: $warm ms"
expect_time "the slowest of $processes, empty cache, ms" "$slow <= 1.5 * $cold + $warm"

# A process stops as it begins to compile; then the others come.
disturb() {
    empty_caches
    begin_round
    touch "$scratch/go"
    PORTMM_TEST_DRIVER="stop=clBuildProgram" run_worker holder &
    holder=$!
    await_that grep -q '^State:.T' "/proc/$holder/status"
    begin_round
    start_all "$processes"
    touch "$scratch/go"
}

say 'the process that compiles is killed'
disturb
sleep 0.5
kill -KILL "$holder"
wait "$holder" 2>/dev/null || holder=
await_all
expect 'compiled by the others' "$(count compiled) == 1"
expect_time 'slowest, ms' "$(slowest) <= 500 + 1.5 * $cold + $warm"

say 'the process that compiles is stopped: 5 s without a sign of life, then another compiles'
disturb
await_all
expect 'compiled by the others' "$(count compiled) == 1"
expect 'slowest, ms' "$(slowest) >= 5000"
expect_time 'slowest, ms' "$(slowest) <= 5000 + 1.5 * $cold + $warm"

[ "$failed" -eq 0 ] && say 'fine'
exit "$failed"
