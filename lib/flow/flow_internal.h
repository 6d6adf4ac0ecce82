/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_internal.h: what the integrator (flow.c) asks of a device (flow_cpu.c). */
#ifndef LAT_FLOW_FLOW_INTERNAL_H
#define LAT_FLOW_FLOW_INTERNAL_H

#include "flow.h"
#include "flow_lanes.h"
#include "grid/grid.h"

struct lat_flow {
    lat_flow_how how;
    const lat_flow_ops *ops;
    lat_grid *grid;
    lat_dfield *u, *start, *plane, *y, *again;
    lat_flow_work work;
    double *sum;          /* [slices][LAT_FLOW_NUMBERS] */
    double next, longest; /* steps, if they follow the tolerance */
    double bound;         /* of the eigenvalues of Z */
    long steps, rejected;
};

int lat_flow_cpu_open(lat_flow *f, lat_device *dev, const lat_field *u);

/* y = beta y + alpha Z of u; u <- exp(eps y) u, |eps y| <= bound; ghosts are exchanged. */
int lat_flow_cpu_force(lat_flow *f, double beta, double alpha);
int lat_flow_cpu_apply(lat_flow *f, double eps, double bound);

/* start = u, and back. */
void lat_flow_cpu_save(lat_flow *f);
int lat_flow_cpu_restore(lat_flow *f);

/* again = a y + b again. */
void lat_flow_cpu_combine(lat_flow *f, double a, double b);

/* The largest distance of a link from exp(eps again) start. */
int lat_flow_cpu_apart(lat_flow *f, double eps, double bound, double *distance);

#endif
