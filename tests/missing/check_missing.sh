#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Drivers, libraries and modules that are missing or broken: one clear line, the right exit code, and the rest goes on.
# usage: check_missing.sh PORTMM_BENCH MODULE_DIRECTORY
set -u
bench=$1
modules=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
checks=0
quick="--size 64 --samples 1 --runs 1 --loops 1 --temperature cold"
export POCL_CACHE_DIR="$work/pocl" PORTMM_CACHE_DIR="$work/cache"

# expect NAME CODE TEXT COMMAND...: the exit code, and a text in what was printed
expect() {
    name=$1 code=$2 text=$3
    shift 3
    checks=$((checks + 1))
    "$@" >"$work/output" 2>&1
    got=$?
    if [ "$got" -ne "$code" ] || ! grep -q -- "$text" "$work/output"; then
        failures=$((failures + 1))
        printf 'FAILED: %s: exit code %s, expected %s and the text "%s"; it printed:\n' "$name" "$got" "$code" "$text"
        cat "$work/output"
    fi
}

# A directory whose libraries cannot be loaded goes before the system's.
mkdir "$work/broken" "$work/no-icd" "$work/bad-icd" "$work/no-modules" "$work/modules" "$work/no-clblast"
for library in libOpenCL.so.1 libOpenCL.so; do echo "no library" >"$work/broken/$library"; done
mkdir "$work/broken-blas"
for library in libopenblas.so.0 libopenblas.so; do echo "no library" >"$work/broken-blas/$library"; done
echo "/nonexistent/libdriver.so" >"$work/bad-icd/broken.icd"
cp "$modules"/portmm-cpu.so "$work/modules/"
echo "no module" >"$work/modules/portmm-opencl.so"
cp "$modules"/portmm-cpu.so "$modules"/portmm-opencl.so "$work/no-clblast/"
# libportmm also looks for modules beside itself: here it has none.
mkdir "$work/alone"
cp "$modules"/../libportmm.so* "$work/alone/"

# shellcheck disable=SC2086 # $quick is a list of options
{
    expect "no OpenCL loader" 3 "no OpenCL ICD loader" \
        env LD_LIBRARY_PATH="$work/broken" "$bench" --backend opencl $quick
    expect "no OpenCL loader, all" 0 "no OpenCL ICD loader" \
        env LD_LIBRARY_PATH="$work/broken" "$bench" --backend all $quick
    expect "no OpenCL loader, auto" 0 "openblas" \
        env LD_LIBRARY_PATH="$work/broken" "$bench" --backend auto $quick
    expect "no platform" 3 "finds no driver" env OCL_ICD_VENDORS="$work/no-icd" "$bench" --backend opencl $quick
    expect "broken ICD file" 3 "finds no driver" env OCL_ICD_VENDORS="$work/bad-icd" "$bench" --backend opencl $quick
    expect "broken ICD file, all" 0 "finds no driver" \
        env OCL_ICD_VENDORS="$work/bad-icd" "$bench" --backend all $quick
    expect "no OpenBLAS" 3 "OpenBLAS cannot be loaded" \
        env LD_LIBRARY_PATH="$work/broken-blas" "$bench" --backend cpu $quick
    expect "module is no library" 3 "portmm-opencl.so cannot be loaded" \
        env PORTMM_MODULE_PATH="$work/modules" "$bench" --backend opencl $quick
    expect "module is no library, all" 0 "portmm-opencl.so cannot be loaded" \
        env PORTMM_MODULE_PATH="$work/modules" "$bench" --backend all $quick
    expect "module deleted, listed" 0 "no module portmm-cuda.so" \
        env LD_LIBRARY_PATH="$work/alone" PORTMM_MODULE_PATH="$work/no-clblast" "$bench" --list
    expect "no CLBlast, asked for" 3 "engine clblast cannot be loaded" \
        env PORTMM_MODULE_PATH="$work/no-clblast" "$bench" --backend opencl --engine clblast $quick
    expect "no CLBlast" 0 "starter" env PORTMM_MODULE_PATH="$work/no-clblast" "$bench" --backend opencl $quick
    expect "no such device" 3 "there is no such device" "$bench" --backend opencl:99 $quick
    expect "no such backend" 2 "unknown backend" "$bench" --backend vulkan $quick
    expect "HOME unset" 0 "openblas" env -u HOME -u XDG_CACHE_HOME -u PORTMM_CACHE_DIR "$bench" --backend cpu $quick
}
printf '%s checks, %s failed\n' "$checks" "$failures"
[ "$failures" -eq 0 ]
