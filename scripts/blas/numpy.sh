#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu -o pipefail

usage() {
    cat <<'END'
Usage: numpy.sh [--route next|cpu|device|auto] [--backend SPEC] [--build DIR] [--no-install]
Runs NumPy of the system (package python3-numpy) with libportmm_blas.so in front of its BLAS:
products of all four types, exact, and a system of equations through LAPACK.
END
}
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

need python3-numpy /usr/lib/python3/dist-packages/numpy/__init__.py
preloaded /usr/bin/python3 - <<'END'
import numpy as np
rng = np.random.default_rng(1)
count = 0
for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    is_complex = np.issubdtype(dtype, np.complexfloating)
    for m, n, k in ((1, 7, 3), (64, 64, 64), (33, 65, 129), (200, 300, 250)):
        for a_form, b_form in ((0, 0), (0, 1), (1, 0), (1, 1)):
            def matrix(rows, columns):
                whole = rng.integers(-4, 5, (rows, columns))
                return whole + 1j * rng.integers(-4, 5, (rows, columns)) if is_complex else whole
            a, b = matrix(m, k), matrix(k, n)
            exact = np.einsum("ik,kj->ij", a, b)  # of whole numbers: no BLAS
            stored_a = np.asarray(a, dtype, order="F" if a_form else "C")
            stored_b = np.asarray(b, dtype, order="F" if b_form else "C")
            assert np.array_equal(stored_a @ stored_b, exact), (dtype, m, n, k, a_form, b_form)
            count += 1
a = rng.standard_normal((500, 500))
x = np.linalg.solve(a, a @ np.ones(500))
assert np.abs(x - 1).max() < 1e-8
print(f"numpy {np.__version__}: {count} products exact, 500 equations solved")
END
check_route
