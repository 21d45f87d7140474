#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and measures every backend of this machine.
# Usage: bench.sh [OPTION OF portmm-bench]...   (bench.sh --help lists them)
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

"$root/scripts/setup.sh" >&2
build release
case " $* " in
    *' --backend '* | *' --backend='*) ;;
    *) set -- --backend all "$@" ;;
esac
exec "$root/build/release/bin/portmm-bench" "$@"
