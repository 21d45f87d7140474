#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: check_completions.sh SOURCE_DIRECTORY DIRECTORY_OF_THE_PROGRAMS
# What a person who presses the tab key in bash is offered; the other shells' files are read by those that are installed.
set -u
source=$1
PATH=$2:$PATH
failed=0

. "$source/tools/completions/portmm.bash"

offers() { # expected words... -- command line
    local expected=()
    while [ "$1" != -- ]; do expected+=("$1") && shift; done
    shift
    local line=("$@")
    COMP_CWORD=$(($# - 1))
    _portmm "$1" "${line[-1]}" "${line[-2]}"
    if [ "${COMPREPLY[*]}" != "${expected[*]}" ]; then
        echo "$*: offers '${COMPREPLY[*]}', not '${expected[*]}'"
        failed=1
    fi
}

offers --temperature -- portmm-bench --tem
offers opencl -- portmm-bench --backend op
offers cpu,opencl -- portmm-bench --backend cpu,op
offers -- portmm-bench file
offers --long -- portmm-info --lo
offers prewarm -- portmm-cache prew
offers -- portmm-cache seal a
offers medium -- portmm-cache --shape me

# Every long option that a program takes is in its --help, and so is offered.
for program in portmm-bench portmm-info portmm-cache; do
    command -v "$program" >/dev/null || continue
    options=$("$program" --help | grep -oE -- '^ +(-[a-z] [A-Z]+ *|-[a-z], )*--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u)
    [ -n "$options" ] || { echo "$program --help lists no option" && failed=1; }
    COMP_CWORD=1
    _portmm "$program" -- "$program"
    for option in $options; do
        printf '%s\n' "${COMPREPLY[@]}" | grep -qxe "$option" || { echo "$program: $option is not offered" && failed=1; }
    done
done

for shell in zsh fish; do
    file=$source/tools/completions/_portmm
    [ "$shell" = zsh ] || file=$source/tools/completions/portmm.fish
    if ! command -v "$shell" >/dev/null; then
        echo "$shell is not installed: its file is not read"
    elif ! "$shell" -n "$file"; then
        failed=1
    fi
done
exit "$failed"
