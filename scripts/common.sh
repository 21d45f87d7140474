# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts beside this file share; to be sourced. Words about progress go to stderr, so that stdout carries
# results only.
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
self=$(basename -- "$0" .sh)

say() {
    printf '%s: %s\n' "$self" "$*" >&2
}

fail() {
    say "$@"
    exit 1
}

# build PRESET: brings build/PRESET up to date. Configures only where something that matters to it has changed: the
# build itself notices changed CMake files, but neither changed presets nor installed packages.
build() {
    local folder=$root/build/$1 made=$root/build/$1/build.ninja
    if [ -e "$folder" ] && [ ! -w "$folder" ]; then
        fail "cannot write to $folder: another user made it; remove it or build as that user"
    fi
    if [ ! -e "$made" ] || [ "$root/CMakePresets.json" -nt "$made" ] || [ /var/lib/dpkg/status -nt "$made" ]; then
        say "configuring $folder"
        (cd "$root" && cmake --preset "$1") >&2 ||
            fail "CMake stopped: see its first error above; after moving the tree, remove $folder and try again"
        touch "$made" # CMake leaves the file as it is where nothing changed
    fi
    say "building $folder"
    (cd "$root" && cmake --build --preset "$1") >&2 ||
        fail "the build stopped: see the first error above; to start anew, remove $folder"
}
