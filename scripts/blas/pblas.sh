#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu -o pipefail

usage() {
    cat <<'END'
Usage: pblas.sh [--route next|cpu|device|auto] [--backend SPEC] [--build DIR] [--no-install]
Runs ScaLAPACK's tester of the PBLAS, level 3 (package scalapack-mpi-test, Open MPI), on four MPI
ranks with libportmm_blas.so in front of the BLAS of each, in all four types.
END
}
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

tests=$(compgen -G '/usr/lib/*/scalapack/openmpi-tests/PBLAS' || true)
need scalapack-mpi-test "$tests/dpb3tst"
need openmpi-bin /usr/bin/mpirun.openmpi
tests=$(compgen -G '/usr/lib/*/scalapack/openmpi-tests/PBLAS')
cd "$work"
cp "$tests"/*3TST.dat .

for type in s d c z; do
    # mpirun forwards the ranks' standard error; only they are preloaded.
    ranks 4 "$tests/${type}pb3tst" >output
    if grep -q 'FAILED  \*' output || ! grep -q 'End of Tests' output; then
        cat output
        fail "${type}pb3tst failed"
    fi
    awk -v name="${type}pb3tst" '$1 == "|" {count++; total += $3; passed += $4}
        END {printf "%s: %d of %d tests of %d functions passed\n", name, passed, total, count
             exit !(count == (name ~ /^[cz]/ ? 11 : 8) && passed == total)}' output || fail "${type}pb3tst failed"
done
summary
check_route
