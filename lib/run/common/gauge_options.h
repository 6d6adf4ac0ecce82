/* SPDX-License-Identifier: BSD-3-Clause */
/* gauge_options.h: options of tools that measure in a gauge: in which. */
#pragma once

#include "common/options.h"
#include "lattice/condition.h"

typedef struct lat_gauge_options {
    int gauge, time; /* time -1: not given */
    const char *weights;
} lat_gauge_options;
extern lat_gauge_options lat_gauge_opts;

/* clang-format off */
#define LAT_GAUGE_OPTIONS(gauges) /* a text with some of LAT_GAUGES, from the first on */ \
    {LAT_OPT_CHOICE, "gauge", 0, gauges, &lat_gauge_opts.gauge, 0, 0, \
     "gauge of the links (default: the gauge in the header, else the gauge that they were " \
     "annealed for, else landau)"}, \
    {LAT_OPT_CHOICE, "time", 0, "x|y|z|t", &lat_gauge_opts.time, 0, 0, \
     "direction across which slices are cut in Coulomb gauge (default: the last)"}

#define LAT_WEIGHTS_OPTION \
    {LAT_OPT_TEXT, "weights", 0, "WX,WY,..", &lat_gauge_opts.weights, 0, 0, \
     "weights of the directions in Landau gauge"}
/* clang-format on */

/* The condition of the options; without --gauge in the gauge of the header; else in the one that
 * the links were annealed for; else in Landau gauge. -1 with lat_error set. */
int lat_gauge_condition(const lat_header *head, lat_condition *c);

/* The same of Landau or Coulomb gauge alone: an exit code, LAT_UNCONVERGED of another gauge. */
int lat_gauge_condition_linear(const lat_header *head, lat_condition *c, const char *name);
