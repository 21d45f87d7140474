#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How much the warm-up disturbs a program that multiplies all the time, from cold until it is settled who serves: by helper
# process and by thread. The helper is stopped and continued in turns, so that the ratios are of calls side by side; see
# tests/warmup/measure_disturbance.c. Caches are private and removed. Five minutes at most.
# Usage: disturbance.sh [SPEC]      SPEC: opencl (default), opencl:1
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

build test
export PORTMM_MODULE_PATH=$root/build/test/lib/portmm PORTMM_CACHE=rw
caches=
trap 'rm -rf "$caches"' EXIT
for how in helper thread; do
    caches=$(mktemp -d)
    mkdir "$caches/pocl"
    echo "by $how:"
    PORTMM_CACHE_DIR=$caches/portmm XDG_CACHE_HOME=$caches POCL_CACHE_DIR=$caches/pocl CUDA_CACHE_PATH=$caches/cuda \
        "$root/build/test/bin/measure_disturbance" "${1-opencl}" "$how" 150
    rm -rf "$caches"
done
