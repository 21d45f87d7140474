#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Oclgrind, which interprets kernels and reports bad memory accesses and races: every access of a buffer and of local
# memory is looked at. Slow: small shapes only. What it finds it prints; PORTMM_STACK_CHECKED names a file with a copy.
# Usage: oclgrind.sh COMMAND...
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/stack.sh"
need_command "$@"
"$root/scripts/setup.sh"
install oclgrind
use_drivers /usr/lib/oclgrind/liboclgrind-rt-icd.so
export OCLGRIND_DATA_RACES=1 OCLGRIND_UNIFORM_WRITES=1 OCLGRIND_LOG=${PORTMM_STACK_CHECKED:-$stacks/icd/oclgrind.log}
rm -f "$OCLGRIND_LOG"
exec "$@"
