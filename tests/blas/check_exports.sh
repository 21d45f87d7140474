#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: check_exports.sh LIBRARY MAP [NM]
# libportmm_blas exports what its map lists and nothing else, and needs a BLAS library by name.
set -eu
nm=${3:-nm}
exported=$("$nm" -D --defined-only "$1" | awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | LC_ALL=C sort)
listed=$(sed -n '/global:/,/local:/s/^ *\([a-z_]*\);$/\1/p' "$2" | LC_ALL=C sort)
[ -n "$listed" ] || { echo "no names in $2" && exit 1; }
if [ "$exported" != "$listed" ]; then
    printf 'exported:\n%s\nlisted in %s:\n%s\n' "$exported" "$2" "$listed"
    exit 1
fi
readelf -d "$1" | grep -q 'NEEDED.*libblas' || { echo "$1 does not need libblas" && exit 1; }
echo "$(echo "$listed" | wc -l) functions"
