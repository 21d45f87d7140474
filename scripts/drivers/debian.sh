#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Another Debian in a folder, made by debootstrap. Needs root, for chroot and mounts of its own that end with the
# command. Call it by the name of a stack; these are links to this script:
#   debian13-pocl.sh     Debian 13: PoCL 6, CLBlast 1.6.3, ocl-icd 2.3.3, OpenBLAS 0.3.29
#   debian13-rusticl.sh  the same with Mesa's rusticl, the stack that drives AMD and Intel GPUs, here on the processor
#                        (llvmpipe)
#   debian12-i386.sh     Debian 12 with 32-bit programs, and PoCL
# Usage: STACK.sh COMMAND...
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/stack.sh"
need_command "$@"

# inside COMMAND...: in that system, in the source tree
inside() {
    mkdir -p "$folder$root" "$folder$stacks/icd"
    # shellcheck disable=SC2016 # the inner shell expands
    unshare --mount sh -euc '
        folder=$1 root=$2 icd=$3 personality=$4
        shift 4
        for each in proc sys dev; do mount --rbind "/$each" "$folder/$each"; done
        mount --bind "$root" "$folder$root"
        mount --bind "$icd" "$folder$icd"
        exec setarch "$personality" chroot "$folder" env -C "$root" TMPDIR=/tmp HOME=/root "$@"' stack \
        "$folder" "$root" "$stacks/icd" "$personality" "$@"
}

# set_up RELEASE ARCHITECTURE PACKAGE...
set_up() {
    local release=$1 architecture=$2
    shift 2
    [ "$(id -u)" -eq 0 ] || fail "needs root: debootstrap and chroot"
    if [ ! -e "$folder/.complete" ]; then
        install debootstrap
        say "Debian $release, $architecture, into $folder: some 2 GB, minutes"
        rm -rf "$folder"
        debootstrap --variant=minbase --arch="$architecture" "$release" "$folder" >&2 ||
            fail "debootstrap failed; its log: $folder/debootstrap/debootstrap.log"
        touch "$folder/.complete"
    fi
    inside scripts/setup.sh
    # shellcheck disable=SC2016 # the inner shell expands
    inside bash -c '. scripts/drivers/stack.sh && install "$@"' "$self" python3 "$@"
}

folder=$stacks/${self%-rusticl} personality=$(uname -m)
folder=${folder%-pocl}
case $self in
    debian13-*) set_up trixie "$(dpkg --print-architecture)" mesa-opencl-icd ;;
    debian12-i386) personality=i386 && set_up bookworm i386 ;;
esac
case $self in
    debian13-rusticl) use_drivers libRusticlOpenCL.so.1 && export RUSTICL_ENABLE=llvmpipe ;;
    debian13-pocl | debian12-i386) use_drivers libpocl.so.2 ;;
    *) fail "call it by the name of a stack: debian13-pocl.sh, debian13-rusticl.sh or debian12-i386.sh" ;;
esac
PORTMM_STACK_BUILD=$root/build/$(basename -- "$folder")
inside "$@"
