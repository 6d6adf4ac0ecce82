/* SPDX-License-Identifier: BSD-3-Clause */
/* orelax.h: the logs of lat-orelax. */
#pragma once

#include "common/progress.h"
#include "run/fix/fixing.h"

typedef struct lat_orelax_options {
    long max_sweeps;
} lat_orelax_options;
extern lat_orelax_options lat_orelax_opts;

typedef struct lat_orelax_logs {
    FILE *log, *slices;
} lat_orelax_logs;

/* ---- orelax_report.c ------------------------------------------------------------------------- */

/* After a convergence test: lines of the logs, and progress. */
void lat_orelax_report(const lat_fixing *f, const lat_copy *c, double w, const lat_gauge_state *s,
                       const double *slices);
