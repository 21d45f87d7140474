#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<'END'
Usage: setup.sh [--dev] [--dry-run]
Installs what libportmm's build, tests and benchmark need and this machine lacks, on Debian and
Ubuntu. It looks first: where nothing is missing it calls no package manager.

  --dev      also what changing libportmm needs: formatter and checkers
  --dry-run  only show what is missing and how it would be installed
  --help     print this text

It works as root, or through sudo where that asks no password. Where it cannot install it says what
is missing, and exits with 1.
END
}

# package | how to tell that it is there, from whichever source | why
needs='
build-essential|header stdlib.h|C compiler and C library headers
cmake|cmake 3.25|configures the build; its presets need CMake 3.25 or newer
ninja-build|program ninja|runs the build
pkg-config|program pkg-config|finds the libraries below
opencl-headers|header CL/cl_icd.h|the opencl backend is compiled with them
ocl-icd-opencl-dev|module OpenCL|OpenCL loader: opens the drivers for the opencl backend
libclblast-dev|module clblast|CLBlast: the tuned products of the opencl backend
libopenblas-dev|module openblas|OpenBLAS: the products of the cpu backend
pocl-opencl-icd|driver pocl|PoCL: an OpenCL driver for the processor, so that OpenCL works on every machine
libzstd-dev|module libzstd|packs the entries of the on-disk cache
libxxhash-dev|module libxxhash|names and checks the entries of the on-disk cache
libjansson-dev|module jansson|JSON output of portmm-bench
check|module check|unit tests are written with it
'
developer_needs='
clang-format|program clang-format|decides the layout of the sources
clang-tidy|program clang-tidy|finds mistakes in the sources
cppcheck|program cppcheck|finds mistakes in the sources
doxygen|program doxygen|makes the API pages from the headers
shellcheck|program shellcheck|finds mistakes in the scripts
clang|program clang|compiles the fuzz targets
libclang-rt-dev|fuzzer clang|libFuzzer and the sanitizers of clang
python3|program python3|the peers of portmm-bench that are Python frameworks, and their tests
python3-jsonschema|file /usr/lib/python3/dist-packages/jsonschema/__init__.py|checks what portmm-bench writes
abigail-tools|program abidiff|compares the binary interface of two libraries
valgrind|program valgrind|finds memory errors in a running program
oclgrind|program oclgrind|finds memory errors and races in OpenCL kernels
libblas-test|file /usr/lib/*/blas/xblat3s|reference testers of BLAS, run through the drop-in library
python3-numpy|file /usr/lib/python3/dist-packages/numpy/__init__.py|a program that is run through the drop-in library
scalapack-mpi-test|file /usr/lib/*/scalapack/openmpi-tests/PBLAS/dpb3tst|tester of ScaLAPACK, run through it on MPI ranks
libopenmpi-dev|file /usr/lib/*/openmpi/include/mpi.h|compiles the example with MPI ranks
libscalapack-openmpi-dev|file /usr/lib/*/libscalapack-openmpi.so|example with MPI ranks
hpcc|program hpcc|a program that is run through the drop-in library
r-base-core|program R|a program that is run through the drop-in library
'

is_there() {
    case $1 in
        program) command -v "$2" >/dev/null ;;
        header) printf '#include <%s>\n' "$2" | cc -E - >/dev/null 2>&1 ;;
        file) compgen -G "$2" >/dev/null ;; # a pattern
        module) pkg-config --exists "$2" 2>/dev/null ;;
        fuzzer) echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
            "$2" -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null ;;
        driver) ls /etc/OpenCL/vendors/*"$2"*.icd >/dev/null 2>&1 ;;
        cmake)
            local have
            have=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
            [ -n "$have" ] && [ "$(printf '%s\n' "$2" "$have" | sort -V | head -n 1)" = "$2" ]
            ;;
    esac
}

# Sets `missing`, and `table` with a line of reason for each.
find_missing() {
    local package test why kind what
    missing=() table=
    while IFS='|' read -r package test why; do
        [ -n "$package" ] || continue
        read -r kind what <<<"$test"
        if ! is_there "$kind" "$what"; then
            missing+=("$package")
            table+=$(printf '  %-20s %s' "$package" "$why")$'\n'
        fi
    done <<<"$needs"
}

dry_run=false
for option; do
    case $option in
        --dev) needs+=$developer_needs ;;
        --dry-run) dry_run=true ;;
        --help) usage && exit ;;
        *) usage >&2 && exit 2 ;;
    esac
done

find_missing
if [ ${#missing[@]} -eq 0 ]; then
    say "nothing is missing"
    exit
fi
say "missing:"
printf '%s' "$table" >&2

command -v apt-get >/dev/null ||
    fail "this system has no apt-get, so nothing was installed: install the above from your system's packages"
sudo=()
as_root='sudo '
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    sudo=(sudo -n)
fi
update=(apt-get -q update)
install=(apt-get -q install -y --no-install-recommends "${missing[@]}")
by_hand="${as_root}${update[*]} && ${as_root}${install[*]}"
if $dry_run; then
    say "would run: $by_hand"
    exit
fi
if [ -n "$as_root" ] && [ ${#sudo[@]} -eq 0 ]; then
    fail "installing needs root, and sudo asks for a password or is absent; run this, then try again: $by_hand"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# apt COMMAND...: quietly; another package manager that is at work is waited for
apt() {
    local tool=$1
    shift
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "$tool" -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1 </dev/null
}
say "updating the package lists"
apt "${update[@]}" -o APT::Update::Error-Mode=any ||
    say "not all package lists could be updated; trying with those that are there"
say "installing ${#missing[@]} packages; on a new machine this takes minutes"
if ! apt "${install[@]}"; then
    cat "$log" >&2
    fail "apt-get failed, see its messages above; with the network in order, try by hand: $by_hand"
fi

find_missing
if [ ${#missing[@]} -gt 0 ]; then
    printf '%s' "$table" >&2
    fail "still missing after the installation; this system's packages may be too old"
fi
say "all is installed"
