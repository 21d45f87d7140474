# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts beside this file share: each runs a program of others, unchanged, with libportmm_blas.so in front of
# its BLAS. To be sourced after `usage` is defined, with the arguments of the script.
#
#   --build DIR      take the library of this build; default: build/release, which is brought up to date first
#   --route ROUTE    PORTMM_BLAS_ROUTE: auto (default), next, cpu, device
#   --backend SPEC   PORTMM_BACKEND: which device, as in opencl:0
#   --no-install     exit with 77 where a package is missing, instead of installing it
# Others are left in `arguments`.
. "$(dirname -- "${BASH_SOURCE[0]}")/../common.sh"

build='' route=auto install=true arguments=()
while [ $# -gt 0 ]; do
    case $1 in
        --build) build=${2:?"name a directory"} && shift ;;
        --route) route=${2:?"name a route"} && shift ;;
        --backend) export PORTMM_BACKEND=${2:?"name a backend"} && shift ;;
        --no-install) install=false ;;
        --help) usage && exit ;;
        *) arguments+=("$1") ;;
    esac
    shift
done
if [ -z "$build" ]; then
    build release
    build=$root/build/release
fi
build=$(CDPATH='' cd -- "$build" && pwd) # the scripts leave this directory
library=$build/lib/libportmm_blas.so
[ -e "$library" ] || fail "no $library: build with PORTMM_BUILD_BLAS=ON"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# need PACKAGE FILE...: installs the package unless the files are there
need() {
    local package=$1 file missing=false as_root=()
    shift
    for file; do [ -e "$file" ] || missing=true; done
    $missing || return 0
    if ! $install; then
        say "skipped: package $package is not installed"
        case ,${PORTMM_TEST_REQUIRE-}, in *,programs,*) exit 1 ;; esac
        exit 77
    fi
    [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
    say "installing $package"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "$package" >"$work/apt.log" 2>&1 </dev/null ||
        fail "cannot install $package: $(tail -n 3 "$work/apt.log")"
}

# preloaded COMMAND...: with our library in front of its BLAS. What it counts is in $work/stats.* afterwards.
export PORTMM_MODULE_PATH=$build/lib/portmm
preloaded() {
    env LD_PRELOAD="${preload_first-}$library" PORTMM_BLAS_ROUTE="$route" PORTMM_BLAS_STATS=1 "$@" 2>"$work/stderr" || {
        cat "$work/stderr" >&2
        fail "$1 ended with an error"
    }
    grep '^portmm-blas:' "$work/stderr" | tee -a "$work/stats" || {
        cat "$work/stderr" >&2
        fail "$1 never called our GEMM"
    }
}

# served COLUMN: how many products went to next, cpu or device, in all runs so far
served() {
    grep -o "$1 [0-9]*" "$work/stats" | awk '{sum += $2} END {print sum + 0}'
}

# check_route: where a route was asked for, it has served, without a failure
check_route() {
    local failures
    failures=$(grep -o 'failures [0-9]*' "$work/stats" | awk '{sum += $2} END {print sum + 0}')
    [ "$failures" -eq 0 ] || fail "$failures products failed on their route"
    case $route in
        auto) ;;
        *) [ "$(served "$route")" -gt 0 ] || fail "no product went to route $route" ;;
    esac
}

# ranks COUNT PROGRAM...: preloaded, on so many MPI ranks of this machine, of one thread each
ranks() {
    local count=$1
    shift
    if [ "$(id -u)" -eq 0 ]; then # as in a container
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
    OPENBLAS_NUM_THREADS=1 preloaded mpirun.openmpi --oversubscribe -np "$count" "$@"
}

# summary: what all ranks and runs have counted together
summary() {
    echo "products: next $(served next), cpu $(served cpu), device $(served device); $(wc -l <"$work/stats") processes"
}
