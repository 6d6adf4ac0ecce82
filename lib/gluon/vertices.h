/* SPDX-License-Identifier: BSD-3-Clause */
/* vertices.h: the three-gluon vertex of all momenta up to a square, in the soft and in the
 * symmetric limit, of one configuration and of many (docs/vertex.md). */
#pragma once

#include "propagator.h"

/* What is averaged over configurations, and what follows from it. */
enum {
    LAT_GLUON_T,
    LAT_GLUON_S,
    LAT_GLUON_DP,
    LAT_GLUON_D0,
    LAT_GLUON_AVERAGED,
    LAT_GLUON_GAMMA = LAT_GLUON_AVERAGED, /* amputated vertex */
    LAT_GLUON_COUPLING,
    LAT_GLUON_VALUES
};

/* For an orbit and a limit. */
typedef struct lat_gluon_row {
    const lat_gluon_orbit *o;
    bool soft;    /* else symmetric */
    long members; /* momenta p, or sets of three */
    double value[LAT_GLUON_VALUES], error[LAT_GLUON_VALUES];
} lat_gluon_row;

typedef struct lat_gluon_triad lat_gluon_triad;

typedef struct lat_gluon_vertices {
    lat_gluon_chosen legs; /* number 0 is p = 0 */
    int *first;            /* [orbits + 1]: legs of an orbit, p and -p apart */
    lat_gluon_triad *triads;
    size_t triad_count;
    long largest; /* n^2 */
    lat_gluon_cuts cuts;
    lat_gluon_row *row;
    int rows;
    double *each; /* [config][row][LAT_GLUON_AVERAGED] */
    long configs;
} lat_gluon_vertices;

/* For momenta with n^2 up to `largest`, within the cuts and below the edge of the zone; v is empty.
 * 0, or -1 with lat_error: not Landau gauge, fewer than three dimensions, no such momenta, memory;
 * lat_gluon_vertices_free frees what there is then, too. */
int lat_gluon_vertices_new(lat_gluon_vertices *v, const lat_gluon_momenta *m, int nc, long largest,
                           const lat_gluon_cuts *cuts);
void lat_gluon_vertices_free(lat_gluon_vertices *v);

/* The rows of one configuration, after lat_gluon_measure of v->legs. */
int lat_gluon_vertices_measure(lat_gluon_vertices *v, const lat_gluon_momenta *m, int nc);

/* Keeps them for the mean over configurations, which has errors by the jackknife. */
int lat_gluon_vertices_keep(lat_gluon_vertices *v);
void lat_gluon_vertices_mean(lat_gluon_vertices *v);
