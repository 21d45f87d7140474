#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages and looks into them: every installed file is in exactly one, and a program that is built with
# the development package runs on the library and one backend, and says of another that it is not there.
# usage: check_packages.sh BUILD_DIRECTORY C_COMPILER
set -eu
build=$1
compiler=$2
source=$(CDPATH='' cd -- "$(dirname -- "$0")/consumer" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PORTMM_MODULE_PATH PORTMM_WARMUP LD_LIBRARY_PATH DESTDIR
export PORTMM_CACHE_DIR="$work/cache"

fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}

if ! command -v dpkg-deb >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
    echo "skipped: no dpkg-deb or dpkg-shlibdeps here"
    exit 77
fi
cpack --config "$build/CPackConfig.cmake" -B "$work/packages" >"$work/log" 2>&1 || fail "cpack: $(cat "$work/log")"

cmake --install "$build" --prefix "$work/installed/usr" >"$work/log" || fail "cmake --install: $(cat "$work/log")"
(cd "$work/installed" && find . -type f -o -type l) | LC_ALL=C sort >"$work/expected"
for package in "$work"/packages/*.deb; do
    dpkg-deb --contents "$package" | awk '$1 !~ /^d/ {print $6}' >"$work/contents"
    grep -q '/copyright$' "$work/contents" || fail "$package holds no licence"
    grep -v '/copyright$' "$work/contents" >"$work/files"
    [ -s "$work/files" ] || fail "$package holds nothing"
    cat "$work/files" >>"$work/all"
    printf '%s: %s files; needs %s\n' "$(dpkg-deb --field "$package" Package)" "$(wc -l <"$work/files")" \
        "$(dpkg-deb --field "$package" Depends)"
done
LC_ALL=C sort "$work/all" | diff "$work/expected" - || fail "installed (<) and packaged (>) files differ"

# unpack ROOT PACKAGE...
unpack() {
    root=$1
    shift
    for name; do dpkg-deb --extract "$work/packages/${name}"_*.deb "$root"; done
}
unpack "$work/root" libportmm0 libportmm-dev libportmm-backend-cpu
PKG_CONFIG_PATH=$(dirname "$(find "$work/root" -name portmm.pc)")
export PKG_CONFIG_PATH
libraries=$(pkg-config --variable=libdir portmm)
# shellcheck disable=SC2046 # lists
"$compiler" "$source/consumer.c" $(pkg-config --cflags --libs portmm) "-Wl,-rpath,$libraries" -o "$work/consumer"
"$work/consumer" cpu "$work/root/"
code=0
"$work/consumer" opencl "$work/root/" >"$work/said" || code=$?
cat "$work/said"
[ "$code" -eq 77 ] || fail "without its package the opencl backend is there"
grep -q 'no module portmm-opencl.so' "$work/said" || fail "no reason was given"
