#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What there is to see on a machine that has an OpenCL driver and little else: tests and timings from programs that were
# built elsewhere. `pack` makes the bundle on the machine that builds; `run` uses it on the other one.
# Usage: device-opencl.sh pack FOLDER      after scripts/build of the presets release and test
#        device-opencl.sh run FOLDER OUT   writes OUT/*.json and OUT/*.txt
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

# The libraries that the programs need from the system, without the C library and what every GPU machine has.
list_libraries() {
    ldd "$@" 2>/dev/null | sed -n 's/^\t\([^ ]*\) => \(\/[^ ]*\).*/\2/p' | sort -u |
        grep -E 'clblast|OpenCL|openblas|gfortran|quadmath|xxhash|zstd|jansson|subunit'
}

pack() {
    local bundle=$1
    rm -rf "$bundle"
    mkdir -p "$bundle/bin" "$bundle/lib/portmm" "$bundle/system"
    cp "$root"/build/release/bin/portmm-{bench,peer-clblast,peer-openblas} "$bundle/bin/"
    cp "$root"/build/test/bin/test_{conformance,queues,contexts,objects,seam_cache,warmup} "$bundle/bin/"
    cp -P "$root"/build/release/lib/libportmm.so* "$bundle/lib/"
    cp "$root"/build/release/lib/portmm/* "$bundle/lib/portmm/"
    list_libraries "$bundle"/bin/* "$bundle"/lib/portmm/* | xargs cp -Lt "$bundle/system"
    cp -L "$(gcc -print-file-name=libopenblas.so.0)" "$bundle/system/"
    strip --strip-debug "$bundle"/bin/* "$bundle"/lib/portmm/*
}

run() {
    local bundle=$1 out=$2 test
    bundle=$(realpath "$bundle")
    mkdir -p "$out"
    export LD_LIBRARY_PATH=$bundle/lib:$bundle/system${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export PORTMM_MODULE_PATH=$bundle/lib/portmm PORTMM_TEST_REQUIRE=opencl PORTMM_CACHE_DIR=$out/../portmm-cache
    "$bundle/bin/portmm-bench" --list | tee "$out/list.txt"
    for test in "conformance opencl" "queues opencl" "contexts opencl" seam_cache warmup; do
        # shellcheck disable=SC2086 # a name and its argument
        if "$bundle"/bin/test_$test >"$out/${test%% *}.txt" 2>&1; then
            say "$test: fine"
        else
            say "$test: FAILED: $(tail -n 5 "$out/${test%% *}.txt")"
        fi
    done
    "$bundle/bin/portmm-bench" --backend opencl --peers --samples 10 --runs 0 --json "$out/opencl-fast.json" |
        tee "$out/opencl-fast.txt"
    "$bundle/bin/portmm-bench" --backend opencl --engine clblast --peers --samples 5 --runs 0 \
        --json "$out/opencl-clblast.json" | tee "$out/opencl-clblast.txt"
    "$bundle/bin/portmm-bench" --backend opencl --start hybrid --samples 5 --runs 0 --temperature cold,warm \
        --json "$out/opencl-hybrid.json" | tee "$out/opencl-hybrid.txt"
}

case ${1:-} in
    pack) pack "${2:?name a folder}" ;;
    run) run "${2:?name the bundle}" "${3:?name a folder for the results}" ;;
    *) sed -n 's/^# //p' "$0" >&2 && exit 2 ;;
esac
