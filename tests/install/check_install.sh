#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the build, moves the installed tree elsewhere, and uses it from there as a user's project would: through
# CMake and through pkg-config. Library, modules and helper have to find each other without any variable.
# usage: check_install.sh BUILD_DIRECTORY C_COMPILER
set -eu
build=$1
compiler=$2
source=$(CDPATH='' cd -- "$(dirname -- "$0")/consumer" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/moved
unset PORTMM_MODULE_PATH PORTMM_WARMUP LD_LIBRARY_PATH DESTDIR
export PORTMM_CACHE_DIR="$work/cache" POCL_CACHE_DIR="$work/pocl"

fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}

cmake --install "$build" --prefix "$work/installed" >"$work/log" || fail "cmake --install: $(cat "$work/log")"
mv "$work/installed" "$prefix"
for file in 'portmm.h' 'cache.h' 'backend.h' 'libportmm.so' 'portmm-cpu.so' 'portmm-warm' 'portmm.pc' 'LICENSE'; do
    [ -n "$(find "$prefix" -name "$file")" ] || fail "$file was not installed"
done
if [ -x "$prefix/bin/portmm-bench" ]; then
    for tool in portmm-bench portmm-cache portmm-info; do
        "$prefix/bin/$tool" --version || fail "the installed $tool does not start"
        for file in "man1/$tool.1" "bash-completion/completions/$tool" "fish/vendor_completions.d/$tool.fish"; do
            [ -n "$(find "$prefix" -path "*/$file")" ] || fail "$file was not installed"
        done
    done
fi

documents=$(dirname "$(find "$prefix" -name README.md)")
for file in docs/from-cblas.md docs/backend.md docs/cache.md examples/first_product.c examples/portmm_ctypes.py; do
    [ -e "$documents/$file" ] || fail "$file was not installed beside README"
done

echo "== find_package"
{
    cmake -S "$source" -B "$work/by-cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler"
    cmake --build "$work/by-cmake"
} >"$work/log" 2>&1 || fail "find_package: $(cat "$work/log")"
"$work/by-cmake/consumer" cpu "$prefix/"

echo "== pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name portmm.pc)")
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs portmm)
libraries=$(pkg-config --variable=libdir portmm)
# shellcheck disable=SC2086 # $flags is a list
"$compiler" -std=c11 -Wall -Wextra -Werror "$source/consumer.c" $flags "-Wl,-rpath,$libraries" -o "$work/consumer"
"$work/consumer" cpu "$prefix/"

echo "== a backend of somebody else"
{
    cmake -S "$documents/examples/backend" -B "$work/tiny" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS='-Wall -Wextra -Werror'
    cmake --build "$work/tiny"
} >"$work/log" 2>&1 || fail "the backend of examples/: $(cat "$work/log")"
PORTMM_MODULE_PATH=$work/tiny "$work/consumer" tiny "$work/tiny/"

echo "== an example, built and run from where it was installed"
# shellcheck disable=SC2086
"$compiler" -std=c11 -Wall -Wextra -Werror "$documents/examples/first_product.c" $flags "-Wl,-rpath,$libraries" \
    -o "$work/first_product"
"$work/first_product" cpu
if command -v python3 >/dev/null; then
    PORTMM_LIBRARY=$libraries/libportmm.so python3 "$documents/examples/portmm_ctypes.py" cpu
fi

echo "== static: refused, with the reason"
if cmake -S "$source/../static_consumer" -B "$work/static" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1; then
    fail "find_package finds a static library"
fi
tr -s ' \n' ' ' <"$work/log" | grep -q 'libportmm exists as a shared library only: its backends are modules' ||
    fail "find_package does not say why there is no static library: $(cat "$work/log")"

if [ -n "$(find "$prefix" -name libportmm_blas.so)" ]; then
    echo "== drop-in BLAS: find_package, pkg-config, preloaded"
    blas=$source/../blas_consumer
    {
        cmake -S "$blas" -B "$work/blas-by-cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler"
        cmake --build "$work/blas-by-cmake"
        flags=$(pkg-config --cflags --libs portmm-blas)
        # shellcheck disable=SC2086
        "$compiler" "$blas/blas_consumer.c" $flags "-Wl,-rpath,$libraries" -o "$work/blas-by-pkg-config"
        "$compiler" "$blas/blas_consumer.c" -lblas -o "$work/blas-alone"
    } >"$work/log" 2>&1 || fail "drop-in BLAS: $(cat "$work/log")"
    for run in "$work/blas-by-cmake/blas_consumer" "$work/blas-by-pkg-config" \
        "env LD_PRELOAD=$libraries/libportmm_blas.so $work/blas-alone"; do
        PORTMM_BLAS_ROUTE=cpu PORTMM_BLAS_STATS=1 $run 2>"$work/stats" || fail "$run: $(cat "$work/stats")"
        grep -q 'dgemm next 0 cpu 1 device 0' "$work/stats" || fail "$run: not served by us: $(cat "$work/stats")"
    done
fi

echo "== helper"
code=0
"$work/consumer" opencl "$prefix/" >"$work/first" || code=$?
cat "$work/first"
if [ "$code" -eq 77 ]; then
    case ,${PORTMM_TEST_REQUIRE-}, in *,opencl,*) fail "opencl is required but not available" ;; esac
    exit
fi
[ "$code" -eq 0 ] || fail "the program on opencl ended with $code"
grep -q 'helpers 1' "$work/first" || fail "the first product on opencl started no helper"
left=200
while readlink /proc/[0-9]*/exe 2>/dev/null | grep -q "^$prefix/"; do
    [ "$left" -gt 0 ] || fail "the helper does not end"
    left=$((left - 1))
    sleep 1
done
# Only our cache helps now.
rm -rf "$POCL_CACHE_DIR"
"$work/consumer" opencl "$prefix/" >"$work/second"
cat "$work/second"
grep -q 'hits [1-9].*, helpers 0' "$work/second" || fail "the helper has not filled the cache"
