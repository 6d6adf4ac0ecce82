/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_internal.h: what the integrator (flow.c) asks of a device (flow_cpu.c, flow_gpu.cu). C and
 * C++. */
#pragma once

#include "flow.h"
#include "grid/grid.h"
#include "site/groups.h"

/* The staples of one plane at a site, as links: over U_mu above and below (side nu), over U_nu
 * above and below (side mu). */
enum { LAT_FLOW_MU_UP, LAT_FLOW_MU_DOWN, LAT_FLOW_NU_UP, LAT_FLOW_NU_DOWN, LAT_FLOW_STAPLES };

/* For each site: sum of N - Re tr U_p over its plaquettes in positive directions, of the planes
 * with the last direction and of the others; sum of tr F^2 of these; charge times 4 pi^2, in four
 * dimensions. On a lattice that is open in the last direction ("time") plaquettes of space on the
 * first and the last slice have the weight 1/2, and F is zero there. */
enum {
    LAT_FLOW_PLAQUETTE_T,
    LAT_FLOW_PLAQUETTE_S,
    LAT_FLOW_CLOVER_T,
    LAT_FLOW_CLOVER_S,
    LAT_FLOW_CHARGE,
    LAT_FLOW_NUMBERS
};

/* A stage of a step: y = beta y + alpha Z of u, then u <- exp(eps y) u. */
typedef struct lat_flow_stage {
    double beta, alpha, eps;
    int halvings; /* of exp(eps y) (site/flow.h) */
    bool first;   /* of a step that may be made again: start = u before it */
    bool again;   /* and again = a y + b (y as it was before) */
    double a, b;
    bool last; /* of its step: y is not needed any more */
} lat_flow_stage;

typedef struct lat_flow_device {
    int groups;  /* its code is for SU(2) to SU(groups) */
    size_t size; /* bytes of its struct, which begins with a lat_flow */
    int (*open)(lat_flow *f, lat_shape links);          /* the fields of lat_flow are there */
    int (*stage)(lat_flow *f, const lat_flow_stage *s); /* ghosts of u are exchanged */
    int (*restore)(lat_flow *f);                        /* u = start */
    /* The square of the largest distance of a link from exp(eps again) start. */
    int (*apart)(lat_flow *f, double eps, int halvings, double *square);
    /* Sums of slices, of all slices of the lattice: [slices][LAT_FLOW_NUMBERS]. */
    int (*numbers)(lat_flow *f, double *sums);
} lat_flow_device;

extern const lat_flow_device lat_flow_cpu, lat_flow_gpu;

/* A device's own struct begins with it. */
struct lat_flow {
    const lat_flow_device *device;
    lat_flow_how how;
    lat_grid *grid;
    lat_dfield *u;         /* the links as they are */
    lat_dfield *plane;     /* staples of a plane; NULL without rectangles */
    lat_dfield *y, *again; /* elements of the algebra; `again` NULL where steps are fixed */
    bool open;             /* in time: the links from the last slice to the first are missing */
    double temporal;       /* weight of staples across time of links in space: xi^2 */
    double *sums;          /* of slices, of `numbers` */
    double next, longest;  /* steps, if they follow the tolerance */
    double bound;          /* of the eigenvalues of Z */
    long steps, rejected;
};

/* Time is open, and this rank has its first slice, or its last one? */
static inline bool lat_flow_end_here(const struct lat_flow *f, bool last)
{
    const lat_grid *g = f->grid;
    const int slices = g->slot.dims[g->slot.nd - 1];
    return f->open
           && (!g->halo || (last ? g->slab.first + g->slab.count == slices : g->slab.first == 0));
}
