#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Layout of the C sources (clang-format 14, whose output other versions do not match), and mistakes in sources
# (cppcheck) and scripts (shellcheck). A tool that is absent is skipped, and said so: setup.sh --dev installs them.
# Usage: check-style.sh [--fix]   --fix lays the C sources out anew
set -eu
shopt -s lastpipe # so that `check` can set the status
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

# list PATTERN...: our files with such names
list() {
    local names=(-false) pattern
    for pattern; do names+=(-o -name "$pattern"); done
    find . \( -path ./build -o -path ./.git \) -prune -o -type f \( "${names[@]}" \) -print0
}

status=0
# check TOOL COMMAND...: files on stdin
check() {
    local tool=$1
    shift
    if ! command -v "$tool" >/dev/null; then
        say "skipped: $tool is not installed"
    elif xargs -0 -r "$@"; then
        say "$tool: fine"
    else
        status=1
    fi
}

formatter=clang-format
if command -v clang-format-14 >/dev/null; then
    formatter=clang-format-14
fi
how=(--dry-run -Werror)
if [ "${1-}" = --fix ]; then
    how=(-i)
fi
if command -v "$formatter" >/dev/null && ! "$formatter" --version | grep -q 'version 14\.'; then
    say "skipped: $formatter is not version 14"
else
    list '*.c' '*.h' '*.cu' '*.hpp' '*.cpp' | check "$formatter" "$formatter" "${how[@]}"
fi
list '*.sh' run | check shellcheck shellcheck -x
# cppcheck loses a pointer that memcpy returns, and takes an output argument for an input: those two are left to the
# sanitizers.
list '*.c' | check cppcheck cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 \
    --enable=warning,portability --suppress=missingIncludeSystem --suppress=memleak --suppress=ctuuninitvar \
    -I core/include -I core
exit "$status"
