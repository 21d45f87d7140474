/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: fill caches, then samples of all temperatures and peers in turn. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "block.h"
#include "launch.h"
#include "options.h"

/* Which device a spec means, by opening it in a child process. */
bool bench_resolve(bench_launcher *launcher, const bench_options *options, const char *spec, bench_identity *identity,
                   bench_failure *failure);

/* Measures everything the options ask for, for the identity and problem that the block holds. */
bool bench_measure(bench_launcher *launcher, const bench_options *options, bench_block *block, bench_failure *failure);

/* Some result was wrong. */
bool bench_block_is_wrong(const bench_block *block);

#endif
