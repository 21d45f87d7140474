#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the starter's kernels in Oclgrind: accesses beyond a buffer, data races, values that were never set. Any finding,
# and any wrong result, is an error. 77: Oclgrind is not installed; an error where `programs` are required.
# Usage: check_kernels.sh BUILD_DIRECTORY one|few|all wide|tiled
#        check_kernels.sh BUILD_DIRECTORY planted         whether faults that are put into the kernels are found
set -eu

build=$1
if ! command -v oclgrind >/dev/null; then
    echo "skipped: oclgrind is not installed"
    [[ ,${PORTMM_TEST_REQUIRE-}, == *,programs,* ]] && exit 1
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# simulate AMOUNT wide|tiled [EDIT]: the exit code is the program's, and its words and Oclgrind's are in $folder.
# -O1, because Oclgrind's search for unset values does not know LLVM's `freeze`, which more brings in; `keep`, because it
# takes a new buffer's memory for that of one that lay there before.
simulate() {
    local type=cpu code=0
    [ "$2" = wide ] || type=gpu
    : >"$folder/findings"
    oclgrind --data-races --uninitialized --build-options -O1 --log "$folder/findings" \
        env -u LD_PRELOAD OCL_ICD_VENDORS="$build/tests/driver/vendors" \
        PORTMM_TEST_DRIVER="real=liboclgrind-rt-icd.so type=$type keep=1 ${3-}" PORTMM_CACHE=off PORTMM_WARMUP=off \
        PORTMM_TEST_REQUIRE=opencl PORTMM_MODULE_PATH="$build/lib/portmm" \
        "$build/bin/run_kernels" "$1" >"$folder/output" 2>&1 || code=$?
    return "$code"
}

# expect FINDING wide|tiled EDIT
expect() {
    simulate one "$2" "edit=$3" || : # a fault may show in the result, too
    if ! grep -q "^$1" "$folder/findings"; then
        cat "$folder/output" "$folder/findings"
        echo "not found in the $2 kernels, with $3: $1"
        exit 1
    fi
    echo "$2 kernels: found: $(grep -m 1 "^$1" "$folder/findings")"
}

if [ "$2" = planted ]; then
    expect 'Invalid read' wide 'width)|W)'
    expect 'Invalid read' tiled 'i~<~rows|i~<=~rows'
    expect 'Read-write data race' tiled 'barrier(CLK_LOCAL_MEM_FENCE);|'
    expect 'Uninitialized value' wide 'wide~sum##r~=~0|wide~sum##r'
    exit
fi

code=0
simulate "$2" "$3" || code=$?
tail -n 2 "$folder/output"
if [ "$code" -ne 0 ] || [ -s "$folder/findings" ]; then
    head -n 100 "$folder/findings"
    echo "exit code $code, $(grep -c '^[A-Z]' "$folder/findings") lines of findings"
    exit 1
fi
echo "no finding in the $3 kernels"
