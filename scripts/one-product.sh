#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that lives for a single product fills the cache without being held at its exit: how much longer it takes
# with the helper process than without, and how much faster its second start is. Every start has the drivers' caches
# empty; medians of whole process times, taken in turns.
# Usage: one-product.sh [ROUNDS] [SPEC]   default: 7 opencl
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
rounds=${1:-7} spec=${2:-opencl}
build release
program=$root/build/release/bin/first_product
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
off=() first=() second=()

# run WARMUP: milliseconds of one process, in `took`
run() {
    local begin end
    rm -rf "$work/drivers"
    mkdir -p "$work/drivers"/{pocl,cuda,mesa,neo,comgr}
    begin=${EPOCHREALTIME/[.,]/}
    PORTMM_WARMUP=$1 PORTMM_CACHE_DIR=$work/cache POCL_CACHE_DIR=$work/drivers/pocl \
        CUDA_CACHE_PATH=$work/drivers/cuda MESA_SHADER_CACHE_DIR=$work/drivers/mesa \
        NEO_CACHE_DIR=$work/drivers/neo AMD_COMGR_CACHE_DIR=$work/drivers/comgr "$program" "$spec" 1 >"$work/output" ||
        fail "$program failed: $(cat "$work/output")"
    end=${EPOCHREALTIME/[.,]/}
    took=$(((end - begin) / 1000))
}

await_helper() {
    local lock
    for lock in "$work"/cache/locks/*; do
        [ ! -e "$lock" ] || flock -w 180 "$lock" true || fail "the helper is still at work after 180 s"
    done
}

median() {
    printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

for ((round = 1; round <= rounds; round++)); do
    say "round $round of $rounds"
    rm -rf "$work/cache"
    run off && off+=("$took")
    rm -rf "$work/cache"
    run helper && first+=("$took")
    await_helper
    run helper && second+=("$took")
done
without=$(median "${off[@]}") with=$(median "${first[@]}") again=$(median "${second[@]}")
printf 'first start, nothing fills the cache  %6d ms   (%s)\n' "$without" "${off[*]}"
printf 'first start, the helper fills it      %6d ms   (%s)\n' "$with" "${first[*]}"
printf 'second start, drivers'\'' caches empty   %6d ms   (%s)\n' "$again" "${second[*]}"
printf 'the helper delays the first start by %d ms; the second start is %d.%d times faster\n' \
    $((with - without)) $((with / again)) $((with * 10 / again % 10))
