#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu -o pipefail

usage() {
    cat <<'END'
Usage: break-even.sh [--sizes "16 32 ..."] [--types "s d"] [--next LIBRARY] [--backend SPEC]
                     [--build DIR] [--no-install]
From which size on another route than the next library pays here: a program that knows only BLAS
multiplies square matrices, and libportmm_blas.so, which tries its routes in turn on the same
products, tells what it measured (PORTMM_BLAS_STATS=2). GFLOP/s, copies to the device included.

  break-even.sh --next /usr/lib/x86_64-linux-gnu/blas/libblas.so.3    beside the reference BLAS
END
}
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

sizes="16 32 64 128 256 512 1024 2048" types="s d"
set -- ${arguments[@]+"${arguments[@]}"}
while [ $# -gt 1 ]; do
    case $1 in
        --sizes) sizes=$2 ;;
        --types) types=$2 ;;
        --next) export PORTMM_BLAS_LIBRARY=$2 ;;
        *) usage >&2 && exit 2 ;;
    esac
    shift 2
done
[ $# -eq 0 ] || { usage >&2 && exit 2; }

need libblas-dev "$(compgen -G '/usr/include/*/cblas.h' || echo /none)"
gcc -O2 -o "$work/break_even" "$root/scripts/blas/break_even.c" -lblas
export PORTMM_BLAS_MIN_SIZE=1 PORTMM_BLAS_OPEN_AFTER_MS=0 PORTMM_BLAS_STATS=2 PORTMM_BLAS_ROUTE=auto
cd "$work"
for type in $types; do
    # shellcheck disable=SC2086 # a list
    LD_PRELOAD=$library ./break_even "$type" $sizes 2>said || fail "$(cat said)"
    sed -n 's/.*device: /device: /p' said
    awk -v type="$type" '
        /gemm m / {
            edge = $4
            sub(/\.\..*/, "", edge)
            rate["next"] = rate["cpu"] = rate["device"] = "-"
            for (i = 1; i < NF; i++) if ($(i + 1) == "GFLOP/s,") rate[$(i - 1)] = $i
            taken = $0
            sub(/.*, /, "", taken)
            printf "%sgemm %6d  next %9s  cpu %9s  device %9s  taken: %s\n", type, edge, rate["next"], rate["cpu"], rate["device"], taken
        }' said | sort -k 2 -n
done
