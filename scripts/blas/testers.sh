#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu -o pipefail

usage() {
    cat <<'END'
Usage: testers.sh [--route next|cpu|device|auto] [--backend SPEC] [--types "s d c z"]
                  [--sizes "0 1 2 3 5 9"] [--build DIR] [--no-install]
Runs the reference BLAS level-3 testers (package libblas-test), Fortran and CBLAS, with
libportmm_blas.so in front of the reference BLAS. They check GEMM's results and its argument errors
and, since SYMM and others are forwarded, that these still work. Sizes up to 65, at most 9.

  testers.sh --route cpu                       our CPU backend
  testers.sh --route device --backend opencl   forced to OpenCL
END
}
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

types="s d c z" sizes="0 1 2 3 5 9 33 65"
set -- ${arguments[@]+"${arguments[@]}"}
while [ $# -gt 1 ]; do
    case $1 in
        --types) types=$2 ;;
        --sizes) sizes=$2 ;;
        *) usage >&2 && exit 2 ;;
    esac
    shift 2
done
[ $# -eq 0 ] || { usage >&2 && exit 2; }

folder=$(dirname "$(find /usr/lib/*/blas -name xblat3s 2>/dev/null || true)")
need libblas-test "$folder/xblat3s"
folder=$(dirname "$(find /usr/lib/*/blas -name xblat3s)")
# The CBLAS testers share a variable with the reference library, so no other may be behind ours.
need libblas3 "$folder/libblas.so.3"
export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
cd "$work"

# run PROGRAM INPUT OUTPUT LINES: OUTPUT is the file it writes, or "-" for its standard output
run() {
    local passed
    sed -e "s/^6 .*NUMBER OF VALUES OF N/$(wc -w <<<"$sizes")  NUMBER OF VALUES OF N/" \
        -e "s/^[0-9][0-9 ]* VALUES OF N *\$/$sizes  VALUES OF N/" "$2" >input
    grep -q "^$sizes " input || fail "$2 is not the input file that was expected"
    preloaded "$1" <input >output
    [ "$3" = - ] || cat "$3" >>output
    passed=$(grep -c 'PASSED THE' output || true)
    if grep -E 'FAIL|\*\*\*\*\*|ERROR' output | grep -v 'ERROR-EXITS' || [ "$passed" -ne "$4" ]; then
        fail "$(basename "$1"): $passed of $4 tests passed, first failure above"
    fi
    echo "$(basename "$1"): all $passed tests passed;$(tail -n 1 stats | cut -d : -f 2-)"
}

for type in $types; do
    # Error exits and computations of six functions, or of nine where there are Hermitian ones; in CBLAS by two layouts.
    functions=6
    case $type in c | z) functions=9 ;; esac
    run "$folder/xblat3$type" "$folder/${type}blat3.in" "${type}blat3.out" $((2 * functions))
    run "$folder/x${type}cblat3" "$folder/${type}in3" - $((3 * functions))
done
check_route
