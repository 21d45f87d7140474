#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -eu -o pipefail

usage() {
    cat <<'END'
Usage: r.sh [--route next|cpu|device|auto] [--backend SPEC] [--build DIR] [--no-install]
Runs R (package r-base-core) with libportmm_blas.so in front of its BLAS: products of real and
complex matrices, exact, and a least squares fit.
END
}
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

need r-base-core /usr/lib/R/bin/exec/R
cat >"$work/products.R" <<'END'
set.seed(1)
whole <- function(rows, columns) matrix(sample(-4:4, rows * columns, TRUE), rows, columns)
exact <- function(a, b) sapply(seq_len(ncol(b)), function(j) colSums(t(a) * b[, j]))
options(matprod = "blas")
for (size in list(c(3, 4, 5), c(64, 64, 64), c(150, 120, 130))) {
    a <- whole(size[1], size[3]); b <- whole(size[3], size[2])
    stopifnot(all(a %*% b == exact(a, b)), all(crossprod(t(a), b) == exact(a, b)))
    stopifnot(all((a + 1i * a) %*% b == exact(a, b) * (1 + 1i)))
}
x <- cbind(1, matrix(rnorm(3000), 1000)); beta <- c(2, -1, 0.5, 3)
stopifnot(max(abs(coef(lm.fit(x, x %*% beta)) - beta)) < 1e-10)
cat(R.version.string, ": products exact, fit right; BLAS", extSoftVersion()["BLAS"], "\n")
END
preloaded /usr/lib/R/bin/R --vanilla --no-echo -f "$work/products.R"
check_route
