#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether scripts/check-abi.sh tells changes that break programs from those that do not.
# usage: check_abi.sh SOURCE_DIRECTORY C_COMPILER
set -eu
source=$1
compiler=$2
here=$source/tests/abi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build NAME: the library as the macro of that name changes it
build() {
    mkdir "$work/$1"
    { echo "#define $1" && cat "$here/interface.h"; } >"$work/$1/interface.h"
    cp "$here/library.c" "$work/$1"
    "$compiler" -g -shared -fPIC -o "$work/$1/library.so" "$work/$1/library.c"
}

# compare NAME: exit code of the check, from UNCHANGED to it
compare() {
    code=0
    "$source/scripts/check-abi.sh" --compare "$work/UNCHANGED/library.so" "$work/UNCHANGED" "$work/$1/library.so" \
        "$work/$1" >"$work/log" 2>&1 || code=$?
}

expect() { # code, names
    expected=$1
    shift
    for name; do
        build "$name"
        compare "$name"
        if [ "$code" -eq 77 ]; then
            cat "$work/log"
            exit 77
        fi
        if [ "$code" -ne "$expected" ]; then
            echo "FAILED: $name: exit code $code, expected $expected"
            cat "$work/log"
            exit 1
        fi
    done
}

build UNCHANGED
expect 0 SAME FUNCTION_ADDED INFO_GROWN ENUMERATOR_ADDED HIDDEN_CHANGED
expect 1 INFO_INSERTED FUNCTION_REMOVED ARGUMENT_CHANGED MEMBER_INSERTED SPAN_GROWN ENUMERATOR_CHANGED
echo "five compatible and six incompatible changes were told apart"
