#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu -o pipefail

usage() {
    cat <<'END'
Usage: hpcc.sh [--ranks 2] [--size 1000] [--route next|cpu|device|auto] [--backend SPEC]
               [--build DIR] [--no-install]
Runs the HPC Challenge benchmark (package hpcc) on MPI ranks with libportmm_blas.so in front of the
BLAS of each, and looks at the checks that it makes itself: HPL's residual, DGEMM's, and its others.
END
}
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

count=2 size=1000
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

need hpcc /usr/bin/hpcc
need openmpi-bin /usr/bin/mpirun.openmpi
cd "$work"
sed -e "s/^1000 *Ns/$size Ns/" -e "s/^2 *Ps/1 Ps/" -e "s/^2 *Qs/$count Qs/" \
    /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
for line in "$size *Ns" "$count *Qs"; do
    grep -q "^$line" hpccinf.txt || fail "the input file is not as expected"
done
ranks "$count" hpcc >output
[ -s hpccoutf.txt ] || fail "hpcc has written no results"
grep -E '^(Success|HPL_Tflops|StarDGEMM_Gflops|SingleDGEMM_Gflops|DGEMM_N)=' hpccoutf.txt || fail "no summary"
grep -q '^Success=1' hpccoutf.txt || fail "hpcc says that a check failed: $(grep -i fail hpccoutf.txt | head -n 3)"
! grep -q 'FAILED$' hpccoutf.txt || fail "$(grep 'FAILED$' hpccoutf.txt | head -n 3)"
summary
check_route
