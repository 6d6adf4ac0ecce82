/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_lanes.h: the sweeps over vectors of sites. fix_lanes.c is compiled once for each vector
 * length of the processor family and each N. */
#ifndef LAT_FIX_LANES_H
#define LAT_FIX_LANES_H

#include "grid/layout.h"
#include "lattice/field.h"
#include "site/groups.h"
#include "site/update.h"

/* A field in lanes: blocks in the layout's order, in each first the matrix (row by row, re, im),
 * then the lane: element e of block b, lane l is at [(b * elements + e) * lanes + l].
 * u: 2 nd links a block, first forward ones, then U_mu(x-mu)^+; `rows` rows each. g: N rows. */
typedef struct lat_lane_work {
    const lat_layout *lay;
    const void *u;
    void *g;
    int rows;
    lat_problem problem;
    const int64_t *site;         /* global site of every slot, for random numbers */
    double weight[LAT_MAX_DIMS]; /* of the layout's directions; in the links already if rows = N */
} lat_lane_work;

typedef struct lat_lane_how {
    lat_update update;
    double omega, stochastic; /* of relaxations: as in lat_sweep */
    double beta;              /* 1/T */
    uint64_t seed;
    uint32_t config, step;
} lat_lane_how;

/* Updates blocks begin..end-1, all of one parity. */
typedef void lat_lane_sweep(const lat_lane_work *w, int begin, int end, const lat_lane_how *how);

/* Each site's share of the functional and theta(x), of blocks begin..end-1: the numbers of the own
 * site with natural index i to out[2 i], out[2 i + 1] (grid/cpu_reduce.h). */
typedef void lat_lane_state(const lat_lane_work *w, int begin, int end, double *out);

typedef struct lat_fix_lanes {
    int nc;    /* N of SU(N) */
    int real;  /* bytes of a real, 4 or 8 */
    int lanes; /* sites a vector */
    lat_lane_sweep *sweep;
    lat_lane_state *state;
} lat_fix_lanes;

/* The rows of links to keep, or -1: two of SU(3) if on all ranks they make the third one to
 * rounding in the precision of the sweeps, else all. NaN does not. Links of a single precision file
 * miss that in double, and are then used as they are. All ranks call it. */
int lat_fix_rows(const lat_field *u, lat_real real, const lat_comm *comm);

#endif
