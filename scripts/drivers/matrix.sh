#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests and timings on OpenCL stacks, one after the other, and writes the table in docs/drivers.md anew from
# docs/results/drivers/*.json. Minutes to an hour for each stack. PORTMM_MATRIX_LIMIT_S bounds each test (default: 900),
# PORTMM_MATRIX_SAMPLES are processes for each temperature (default: 3).
# Usage: matrix.sh [STACK...]      default: pocl intel debian13-pocl debian13-rusticl; "table" alone only writes the table
set -eu
. "$(dirname -- "${BASH_SOURCE[0]}")/../common.sh"
cd "$root"
results=docs/results/drivers
mkdir -p "$results"
[ $# -gt 0 ] || set -- pocl intel debian13-pocl debian13-rusticl
[ "$*" != table ] || set --
broken=0
for stack; do
    say "$stack"
    # shellcheck disable=SC2016 # the stack's shell expands
    "scripts/drivers/$stack.sh" sh -euc '
        for preset in release test; do
            cmake --preset "$preset" -B "$PORTMM_STACK_BUILD/$preset" >&2
            cmake --build "$PORTMM_STACK_BUILD/$preset" >&2
        done
        python3 scripts/drivers/measure.py "$PORTMM_STACK_BUILD" "$1"' measure "$results/$stack.json" || broken=1
done
python3 scripts/drivers/table.py "$results" docs/drivers.md
exit "$broken"
