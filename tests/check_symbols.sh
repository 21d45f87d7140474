#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: check_symbols.sh LIBRARY MAP NM HEADER...
#
# What the library exports, what the headers declare and what the map lists are the same names.
set -u
library=$1 map=$2 nm=$3
shift 3
here=$(dirname "$0")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
LC_ALL=C
export LC_ALL

# Every use of the word counts here, so that a declaration which list_symbols.sh cannot read does not go unseen.
declared=$("$here/list_symbols.sh" "$@" | tee "$scratch/header" | wc -l)
marked=$(cat "$@" | grep -c '^PORTMM_API ')
if [ "$declared" -eq 0 ] || [ "$declared" -ne "$marked" ]; then
    echo "$*: $marked declarations, but $declared were read"
    exit 1
fi
# The version itself is a symbol of kind A.
"$nm" -D --defined-only "$library" | awk '$2 != "A" && $3 != "" {sub(/@.*/, "", $3); print $3}' | sort >"$scratch/library"
sed -n '/global:/,/local:/p' "$map" | tr -s '; ' '\n' | grep -vE '^(global:|local:|)$' | sort >"$scratch/map"

failed=0
compare() {
    diff "$scratch/$1" "$scratch/$2" >"$scratch/difference" || {
        failed=1
        echo "$1 (<) and $2 (>) differ:"
        cat "$scratch/difference"
    }
}
compare header library
compare header map

# Proof: one name less, and one more, is seen.
for damage in '1d' 's/portmm_version/portmm_planted/'; do
    sed "$damage" "$scratch/header" >"$scratch/damaged"
    if diff "$scratch/damaged" "$scratch/library" >/dev/null; then
        failed=1
        echo "a difference ($damage) was not seen"
    fi
done
[ "$failed" -ne 0 ] || echo "$declared functions: header, library and map agree"
exit "$failed"
