#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What README tells a newcomer to type is there and works: its scripts, its program in C, its environment variables.
# That its installed package can be used is the test `install`.
# usage: check_readme.sh SOURCE BUILD CC
# shellcheck disable=SC2016 # backquotes are text here
set -eu
source=$1
build=$2
cc=$3
readme=$source/README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*"
    exit 1
}

# Scripts and files that it names.
scripts=$(grep -o 'scripts/[a-z-]*\.sh' "$readme" | sort -u)
[ -n "$scripts" ] || fail "no script is named"
for script in $scripts; do
    [ -x "$source/$script" ] || fail "$script is not there to run"
    bash -n "$source/$script" || fail "$script does not parse"
done
"$source/scripts/setup.sh" --dry-run >/dev/null 2>&1 || fail "scripts/setup.sh --dry-run"
grep -o '](\([a-zA-Z_./-]*\))' "$readme" | sed 's/](\(.*\))/\1/' | sort -u >"$work/files"
while read -r file; do
    [ -e "$source/$file" ] || fail "$file is not there"
done <"$work/files"

# Every variable of the table is one that the library reads, and the other way round.
told=$(sed -n 's/^| `\(PORTMM_[A-Z_]*\)` |.*/\1/p' "$readme" | grep -v '^PORTMM_\(BUILD\|WERROR\|BACKEND_\)' | sort -u)
read_by_library=$(grep -o '"PORTMM_[A-Z_]*"' "$source/core/config.c" | tr -d '"' | sort -u)
[ "$told" = "$read_by_library" ] || fail "variables told: $told; read: $read_by_library"

# The program in C compiles and gives the right result.
sed -n '/^```c$/,/^```$/p' "$readme" | sed '/^```/d' >"$work/snippet.c"
{
    echo '#include <stdio.h>'
    sed -n '/^#include/p' "$work/snippet.c"
    echo 'int main(void) { int m = 2, n = 1, k = 2; float a[] = {1, 2, 3, 4}, b[] = {5, 6}, c[] = {0, 0};'
    sed '/^#include/d' "$work/snippet.c"
    echo 'return c[0] == 17 && c[1] == 39 ? 0 : 1; }'
} >"$work/program.c"
"$cc" -std=c11 -I "$source/core/include" "$work/program.c" -L "$build/lib" -lportmm -Wl,-rpath,"$build/lib" \
    -o "$work/program" || fail "the program in C does not compile"
"$work/program" || fail "the program in C gives a wrong result"
echo "README's scripts, files, variables and program are as it says"
