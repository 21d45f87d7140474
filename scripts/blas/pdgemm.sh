#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu -o pipefail

usage() {
    cat <<'END'
Usage: pdgemm.sh [--ranks 3] [--size 1200] [--route next|cpu|device|auto] [--backend SPEC]
                 [--build DIR] [--no-install]
Builds pdgemm.c, a ScaLAPACK program that knows nothing of libportmm, and runs it on MPI ranks with
libportmm_blas.so in front of the BLAS of each. Every element of the product is checked.
END
}
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

count=3 size=1200
set -- ${arguments[@]+"${arguments[@]}"}
while [ $# -gt 1 ]; do
    case $1 in
        --ranks) count=$2 ;;
        --size) size=$2 ;;
        *) usage >&2 && exit 2 ;;
    esac
    shift 2
done
[ $# -eq 0 ] || { usage >&2 && exit 2; }

need libopenmpi-dev "$(compgen -G '/usr/lib/*/openmpi/include/mpi.h' || echo /none)"
need openmpi-bin /usr/bin/mpirun.openmpi
need libscalapack-openmpi-dev "$(compgen -G '/usr/lib/*/libscalapack-openmpi.so' || echo /none)"
mpicc.openmpi -O2 -o "$work/pdgemm" "$root/scripts/blas/pdgemm.c" -lscalapack-openmpi
cd "$work"
ranks "$count" ./pdgemm "$size" | grep -v '^portmm-blas:'
[ "$(grep -c '^portmm-blas:' stats)" -eq "$count" ] || fail "not all ranks called our GEMM"
summary
check_route
