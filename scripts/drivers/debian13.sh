#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian 13 in a folder, made by debootstrap: PoCL 6, CLBlast 1.6.3, ocl-icd 2.3.3, OpenBLAS 0.3.29, and Mesa's rusticl,
# the stack that drives AMD and Intel GPUs, here on the processor (llvmpipe). Needs root, for chroot and mounts of
# its own that end with the command.
# Usage: debian13-pocl.sh COMMAND... or debian13-rusticl.sh COMMAND...   (both are links to this script)
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/stack.sh"
need_command "$@"
folder=$stacks/debian13

# inside COMMAND...: in that system, in the source tree
inside() {
    mkdir -p "$folder$root" "$folder$stacks/icd"
    # shellcheck disable=SC2016 # the inner shell expands
    unshare --mount sh -euc '
        folder=$1 root=$2 icd=$3
        shift 3
        for each in proc sys dev; do mount --rbind "/$each" "$folder/$each"; done
        mount --bind "$root" "$folder$root"
        mount --bind "$icd" "$folder$icd"
        exec chroot "$folder" env -C "$root" TMPDIR=/tmp HOME=/root "$@"' stack "$folder" "$root" "$stacks/icd" "$@"
}

set_up() {
    [ "$(id -u)" -eq 0 ] || fail "needs root: debootstrap and chroot"
    if [ ! -e "$folder/.complete" ]; then
        install debootstrap
        say "Debian 13 into $folder: some 2 GB, minutes"
        rm -rf "$folder"
        debootstrap --variant=minbase trixie "$folder" >&2 ||
            fail "debootstrap failed; its log: $folder/debootstrap/debootstrap.log"
        touch "$folder/.complete"
    fi
    inside scripts/setup.sh
    inside bash -c '. scripts/drivers/stack.sh && install mesa-opencl-icd python3' debian13
}

set_up
case $self in
    debian13-rusticl) use_drivers libRusticlOpenCL.so.1 && export RUSTICL_ENABLE=llvmpipe ;;
    debian13-pocl) use_drivers libpocl.so.2 ;;
    *) fail "call it by the name of a stack: debian13-pocl.sh or debian13-rusticl.sh" ;;
esac
PORTMM_STACK_BUILD=$root/build/debian13
inside "$@"
