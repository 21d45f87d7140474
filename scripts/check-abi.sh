#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<'END'
Usage: check-abi.sh [REVISION]
       check-abi.sh --compare OLD.so OLD_HEADERS NEW.so NEW_HEADERS
Builds REVISION (default: the last tag v*) and this tree, and compares the binary interface of both
libraries with abidiff (package abigail-tools). Additions are fine, and so are members at the end of
structures that start with their size; a program built with the old header has to run with the new
library. The second form compares two libraries that are there.

Exit codes: 0 compatible, 1 not, 77 nothing to compare with.
END
}

# compare OLD.so OLD_HEADERS NEW.so NEW_HEADERS
compare() {
    local code=0 how=(--headers-dir1 "$2" --headers-dir2 "$4" --drop-private-types --no-added-syms)
    # What abi.suppr does not list may not change.
    abidiff "${how[@]}" --suppressions "$root/scripts/abi.suppr" "$1" "$3" || code=$?
    # A number of an enumeration that is another one now counts as harmless there.
    ! abidiff "${how[@]}" --harmless "$1" "$3" | grep -E "enumerator (change|deletion)|from value" || code=4
    [ "$code" -eq 0 ]
}

command -v abidiff >/dev/null || {
    say "skipped: no abidiff here; install abigail-tools"
    exit 77
}
case ${1-} in
    --help) usage && exit ;;
    --compare)
        [ $# -eq 5 ] || { usage >&2 && exit 2; }
        shift
        compare "$@" || fail "the libraries are not compatible"
        say "compatible"
        exit
        ;;
esac

cd "$root"
revision=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}
if [ -z "$revision" ]; then
    say "skipped: there is no tag v* yet, so there is nothing to compare with; name a revision to compare with that"
    exit 77
fi
work=$(mktemp -d)
trap 'git worktree remove --force "$work/old" 2>/dev/null; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/old" "$revision"
for tree in "$work/old" "$root"; do
    say "building the library of $tree"
    made=$work/build-$(basename "$tree")
    if ! cmake -G Ninja -S "$tree" -B "$made" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPORTMM_BUILD_TOOLS=OFF \
        -DPORTMM_BUILD_EXAMPLES=OFF -DPORTMM_BUILD_BLAS=OFF >"$work/log" 2>&1 ||
        ! cmake --build "$made" --target portmm >>"$work/log" 2>&1; then
        fail "$(tail -n 20 "$work/log")"
    fi
done
compare "$work/build-old/lib/libportmm.so" "$work/old/core/include" \
    "$work/build-$(basename "$root")/lib/libportmm.so" "$root/core/include" ||
    fail "programs built with $revision may not run with this library; raise SOVERSION, or keep what they use"
say "programs built with $revision run with this library"
