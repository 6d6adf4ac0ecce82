/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_lanes.h: the sweeps over vectors of sites. fix_lanes.c is compiled once for each vector
 * length of the processor family and each N. */
#pragma once

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

/* Of blocks begin .. end-1. */
typedef struct lat_fix_lanes {
    /* A half sweep, of blocks of one parity. */
    void (*sweep)(const lat_lane_work *w, int begin, int end, const lat_lane_how *how);
    /* Each site's share of the functional and theta(x): the numbers of the own site with natural
     * index i to out[2 i], out[2 i + 1] (grid/cpu_reduce.h). */
    void (*state)(const lat_lane_work *w, int begin, int end, double *out);
} lat_fix_lanes;
