#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether the engine that is chosen by measurement is the better one, shape by shape: ours against each engine pinned,
# side by side in one process, by medians. Fails where ours takes more than 1.05 times the best, 1.15 at 128 and below.
# Caches are private and removed. Takes about two minutes on PoCL with two cores.
# Usage: shapes.sh [SPEC [MxNxK]...]    SPEC: opencl (default), opencl:1, cuda
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

spec=${1:-opencl}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 64x64x64 128x128x128 256x256x256 512x512x512 1000x1000x1000 1024x1024x1024 2048x2048x2048 \
    4096x16x4096 16x4096x4096 1x1000x1000
"$root/scripts/setup.sh" >&2
build "test"
caches=$(mktemp -d)
trap 'rm -rf "$caches"' EXIT
mkdir "$caches/pocl"
PORTMM_CACHE_DIR=$caches/portmm XDG_CACHE_HOME=$caches POCL_CACHE_DIR=$caches/pocl CUDA_CACHE_PATH=$caches/cuda \
    PORTMM_MODULE_PATH=$root/build/test/lib/portmm "$root/build/test/bin/measure_shapes" "$spec" "$@"
