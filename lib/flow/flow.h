/* SPDX-License-Identifier: BSD-3-Clause */
/* flow.h: the gradient flow of links (docs/flow.md; Luescher, JHEP 08 (2010) 071).
 *
 *     dV_mu(x)/dt = Z_mu(x) V_mu(x),   V = U at t = 0,
 *     Z_mu(x) = - P[ c0 sum of the plaquettes + c1 sum of the 2 x 1 rectangles that begin with
 *               V_mu(x) ],   P[X] = (X - X^+)/2 minus its trace part, c0 = 1 - 8 c1,
 *
 * goes down the gradient of the action. It is integrated by the Runge-Kutta scheme of third order
 * of that article's appendix C, in double precision, with a fixed step or with steps of which each
 * has an error below a tolerance (Fritzsch, Ramos, JHEP 10 (2013) 008, appendix D): that error is
 * the largest Frobenius norm, over all links, of the difference from a scheme of second order made
 * of the same Z.
 *
 * Time, the last direction, may be open (lattice/boundary.h; Luescher, Schaefer, Comput. Phys.
 * Commun. 184 (2013) 519, appendix B): without the links from the last slice to the first, staples
 * across time of the links in space of these two slices have the weight 2. On an anisotropic
 * lattice (xi = a_s / a_t) staples across time of links in space have the weight xi^2 (Borsanyi et
 * al., arXiv:1205.0781), and t is in units of a_s^2. Both for c1 = 0 alone.
 *
 * Any extents (on a GPU: even ones), SU(2) to SU(LAT_FLOW_MOST), two to four directions.
 * Results do not depend on threads, ranks and the number of GPUs. Functions return 0 or a pointer,
 * or -1 or NULL with lat_error set. Every rank calls every function. C and C++. */
#pragma once

#include "grid/device.h"
#include "lattice/field.h"

/* c1 of Symanzik's action (Luescher, Weisz) and of Iwasaki's. */
#define LAT_FLOW_SYMANZIK (-1. / 12)
#define LAT_FLOW_IWASAKI (-.331)

typedef struct lat_flow_how {
    double c1;        /* 0: Wilson flow */
    double step;      /* 0: steps by the tolerance */
    double tolerance; /* of a step */
    double xi;        /* 0 stands for 1 */
} lat_flow_how;

typedef struct lat_flow lat_flow;

/* A field in double whose links are in SU(N) to rounding: other links are replaced by the
 * nearest ones. The header states no plaquette then. With open time the missing links have to
 * begin on the last slice; no other axis may be open. */
int lat_flow_prepare(lat_field *u);

/* 0 if that device has code for the flow of these links; or -1, and the sentence says why not. */
int lat_flow_check(const lat_device *dev, const lat_field *u);

/* The longest step that is stable: on smooth links Z is linear. Its largest eigenvalue is 4 for
 * each direction, 4 xi^2 for the last one, and rectangles of c1 < 0 make it 1 + 8 |c1| times as
 * large. Runge-Kutta schemes of third order are stable up to 2.5 over that; rounding, which no
 * error of a step shows, would grow beyond. */
double lat_flow_longest(const lat_geometry *geom, const lat_flow_how *how);

/* Starts at links that lat_flow_prepare has seen. Borrows the device alone. */
lat_flow *lat_flow_open(lat_device *dev, const lat_field *u, const lat_flow_how *how);
void lat_flow_close(lat_flow *f);

/* Goes on by a flow time `span`; a fixed step must divide it. */
int lat_flow_advance(lat_flow *f, double span);

/* Where it runs, for provenance: "cpu" or "gpu". Ranks and lanes make no difference. */
const char *lat_flow_description(const lat_flow *f);

/* Steps that were made, and those that were made again with a smaller step. */
long lat_flow_steps(const lat_flow *f);
long lat_flow_rejected(const lat_flow *f);

/* From the links as they are: action densities (docs/flow.md) by plaquettes, and by the clover of
 * the planes with the last direction and without it, a_s being the unit; topological charge, NaN
 * unless there are four dimensions.
 *
 * slices (NULL: none): of each slice of the lattice, densities over the sites of a slice. A
 * plaquette across time counts half on each of its slices. With open time the first and the last
 * slice have half of the plaquettes of others, and no clover and no charge: so does openQCD. */
typedef struct lat_flow_measured {
    double plaquette, temporal, spatial, charge;
} lat_flow_measured;
int lat_flow_measure(lat_flow *f, lat_flow_measured *m, lat_flow_measured *slices);

/* Means of densities over the slices first to last, and their sum of charges, from the slices that
 * lat_flow_measure gives. Ends of open time count as they are filled: a half, and not at all. */
lat_flow_measured lat_flow_window(const lat_flow *f, const lat_flow_measured *slices, int first,
                                  int last);

/* The links, ghosts too. v: f64, of the same lattice. */
int lat_flow_get(const lat_flow *f, lat_field *v);
