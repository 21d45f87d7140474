# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts beside this file share; to be sourced. Each of them is one OpenCL stack: STACK.sh COMMAND...
# sets it up where that is still to do, and runs the command in the source tree with that stack and no other. The command
# finds the stack's name in PORTMM_STACK and a folder for its builds in PORTMM_STACK_BUILD.
# Stacks lie in $PORTMM_STACKS, default build/stacks; to set one up anew, remove its folder there.
. "$(dirname -- "${BASH_SOURCE[0]}")/../common.sh"
stacks=$(realpath -m -- "${PORTMM_STACKS:-$root/build/stacks}")
mkdir -p "$stacks/icd"
export PORTMM_STACK=$self PORTMM_STACK_BUILD=$root/build
cd "$root" || exit

# use_drivers LINE...: what the loader finds, whatever the system has: a line is what stands in an ICD file
use_drivers() {
    local folder=$stacks/icd/$self line number=0
    rm -rf "$folder"
    mkdir -p "$folder"
    for line; do
        number=$((number + 1))
        printf '%s\n' "$line" >"$folder/$number.icd"
    done
    export OCL_ICD_VENDORS=$folder
    unset OCL_ICD_FILENAMES
}

need_command() {
    [ $# -gt 0 ] || fail "name a command to run on this stack, such as: $self.sh build/release/bin/portmm-bench --list"
}

# install PACKAGE...: Debian's, where dpkg lacks them
install() {
    dpkg -s "$@" >/dev/null 2>&1 && return
    [ "$(id -u)" -eq 0 ] || fail "needs root to install: $*"
    say "installing $*"
    apt-get -q update >&2 || say "not all package lists could be updated; trying with those that are there"
    DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >&2 ||
        fail "apt-get could not install: $*"
}
