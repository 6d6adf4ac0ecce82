/* SPDX-License-Identifier: BSD-3-Clause */
/* momenta.h: the momenta p_mu = 2 pi n_mu / L_mu of a gauge condition's directions, and their
 * orbits under the symmetries of the lattice (reflections, exchange of axes of one extent).
 *
 * Landau gauge has all directions; Coulomb gauge the spatial ones, and a Fourier transform for
 * every time slice. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "common/geometry.h"
#include "lattice/condition.h"

/* Momenta that the symmetries of the lattice map on each other; or p and -p, where nothing is
 * averaged. d and l are means over its members (propagator.h). */
typedef struct lat_gluon_orbit {
    int n[LAT_MAX_DIMS]; /* one of them: p_mu = 2 pi n_mu / L_mu */
    long members;        /* among all V momenta; p and -p are two members with one value */
    long independent;    /* independent values among them */
    double p, phat2;     /* |p|; the sum of (2 sin p_mu/2)^2 */
    double distance;     /* from the nearest diagonal, in units of 2 pi / L_0 */
    double angle;        /* to it, in degrees */
    double d, d2, l;     /* transverse propagator, its square, longitudinal */
    double error;        /* of d */
} lat_gluon_orbit;

/* The directions of the gauge condition, the lattice of momenta, and the orbit of each momentum. */
typedef struct lat_gluon_momenta {
    lat_geometry geom;
    int time;                   /* -1: Landau gauge */
    int nd, axis[LAT_MAX_DIMS]; /* the directions, in rising order */
    int extent[LAT_MAX_DIMS];   /* of these */
    size_t sites, slices;       /* sites of a slice; slices */
    size_t half;                /* momenta with 0 <= n_0 <= extent_0 / 2, which the FFT gives */
    size_t *of;                 /* [half] -> orbit */
    size_t orbits;
    lat_gluon_orbit *orbit; /* rising in phat2 */
    bool averaged;          /* else p and -p are an orbit of their own */
} lat_gluon_momenta;

/* 0, or -1 with lat_error, and nothing to free then. */
int lat_gluon_momenta_new(lat_gluon_momenta *m, const lat_condition *c, const lat_geometry *geom,
                          bool averaged);
void lat_gluon_momenta_free(lat_gluon_momenta *m);

/* n of momentum number h of the half spectrum, of m->nd components. */
void lat_gluon_momentum(const lat_gluon_momenta *m, size_t h, int n[LAT_MAX_DIMS]);

/* How many momenta n of the half spectrum stands for: p and -p, unless both are in it, where n_0 is
 * 0 or at the edge of the Brillouin zone. */
long lat_gluon_weight(const lat_gluon_momenta *m, const int *n);

/* n becomes the member that stands for its orbit: no component negative, falling along axes of one
 * extent. */
void lat_gluon_representative(const lat_gluon_momenta *m, int *n);

/* Cuts: largest distance and angle (lat_gluon_orbit); NAN: none. */
typedef struct lat_gluon_cuts {
    double cylinder, cone;
} lat_gluon_cuts;

bool lat_gluon_kept(const lat_gluon_orbit *o, const lat_gluon_cuts *cuts);
