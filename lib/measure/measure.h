/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.h: observables of a field, measured on the host in double precision
 * (docs/conventions.md).
 *
 * Sums are taken in a fixed order, so that results depend neither on threads nor on ranks.
 * All ranks call functions that take a lat_field, with its ghosts up to date (lat_field_exchange).
 * They give the same bits on each: 0, or -1 with lat_error set. */
#pragma once

#include "lattice/condition.h"
#include "lattice/field.h"

/* Mean of Re tr U_p / N over all plaquettes (NaN in one dimension, which has none), and of Re tr
 * U_mu / N over all links. */
int lat_measure_plaquette(const lat_field *f, double *plaquette, double *link_trace);

/* The plaquette of planes without the last direction, and of planes with it; NaN where there is no
 * such plane. */
int lat_measure_planes(const lat_field *f, double *spatial, double *temporal);

/* The same by slices across the last axis (slices.h). sums[t] gets the sums of Re tr over slice t
 * of `count` in memory; `after` is the slice that follows the last of them (after the last slice of
 * the lattice comes the first). `temporal` is the part of `plaquette` from planes with the last
 * axis. With `group` also the largest distance of a link from SU(N), except for links that an open
 * boundary lacks: of SU(2) and SU(3) the root of the squares by which rows are not orthonormal and
 * the last one is not made of the others, of larger N the larger of |element| of U U^+ - 1 and
 * |1 - det U|; undefined where links are not finite, and then the sums are not finite. The bits
 * depend neither on threads nor on `count`. For one rank: 0, or -1 without memory. */
typedef struct lat_slice_sums {
    double plaquette, temporal, trace;
    double distance;
} lat_slice_sums;
int lat_measure_slices(const lat_header *head, const void *slices, int count, const void *after,
                       bool group, lat_slice_sums *sums);

/* The same slice by slice, while a field is read: lat_slicewise_add takes the next `count` slices,
 * any number at a time. It keeps a copy of the first slice; the slices of one call must stay in
 * memory until the next call has returned. lat_slicewise_end, after all slices, has their sum. */
typedef struct lat_slicewise lat_slicewise;
lat_slicewise *lat_slicewise_new(const lat_header *head, bool group); /* head is borrowed */
int lat_slicewise_add(lat_slicewise *s, const void *slices, int count);
int lat_slicewise_end(lat_slicewise *s, lat_slice_sums *all);
void lat_slicewise_free(lat_slicewise *s);

/* The sum over all slices of the lattice, in their order; and the means that a header has. */
lat_slice_sums lat_measure_total(const lat_header *head, const lat_slice_sums *sums);
void lat_measure_means(const lat_header *head, const lat_slice_sums *all, double *plaquette,
                       double *link_trace);

/* The same sums over the whole field. All ranks call it. */
int lat_measure_sums(const lat_field *f, bool group, lat_slice_sums *all);

/* How far from SU(N) a link may be. In files of all writers it is 2e-6 at most, in doubles too, for
 * many are rounded singles; in our own doubles 1e-14. */
#define LAT_SUN_WITHIN 1e-5

/* The info line of links that were taken with --force although one is farther: "0.8 at 1,0,3,2 t".
 * Every tool takes such a field, with a warning. */
#define LAT_INFO_NOT_IN_GROUP "not_in_group"

/* Where the tool mends such links: all are accepted. */
extern bool lat_accept_any_links;

/* The link that is farthest from SU(N): the larger of |element| of U U^+ - 1 and |1 - det U|. Zero
 * at first; lat_farthest_search goes on with `count` links in memory, whose first is number `first`
 * of the field. */
typedef struct lat_farthest {
    double distance, unitarity; /* the latter: |element| alone */
    size_t link;
} lat_farthest;
void lat_farthest_search(lat_farthest *far, const lat_header *head, const void *links, size_t first,
                         size_t count);

/* 0 if that is within LAT_SUN_WITHIN, or head has the info line (a warning says so); else -1 with a
 * sentence, or with --force a warning, and head gets the info line. */
int lat_farthest_check(const lat_farthest *far, lat_header *head, const char *name);

/* Both, for a field whose `distance` comes from lat_slice_sums. All ranks call it. */
int lat_measure_in_group(lat_field *f, double distance, const char *name);

/* 0, or -1 with a sentence, or with --force a warning, where the header says that axes are open and
 * none of the links along one through the origin is missing, as its slice is. All ranks call it. */
int lat_measure_missing(const lat_field *f, const char *name);

/* Polyakov loop along mu: mean over the transverse sites of tr prod U_mu / N; loop[0] re, loop[1]
 * im. */
int lat_measure_polyakov(const lat_field *f, int mu, double loop[2]);

/* Deviation from SU(N), over all matrices except links that an open boundary lacks. */
typedef struct lat_deviation {
    double det_mean, det_max;             /* |1 - det U| */
    double unitarity_mean, unitarity_max; /* largest |element| of U U^+ - 1, of each matrix */
} lat_deviation;
int lat_measure_deviation(const lat_field *f, lat_deviation *d);

typedef struct lat_gauge_state {
    double functional;
    double theta;       /* mean over sites */
    double theta_max;   /* of a site */
    double theta_slice; /* largest mean over a slice that is fixed independently; else theta */
} lat_gauge_state;

/* Functional and theta of a gauge condition (docs/gauges.md, docs/conventions.md;
 * arXiv:1212.5221, section 2.1):
 *   Landau, Coulomb  F = 1/(N W V) sum w_mu Re tr U_mu(x), W = sum w_mu;
 *                    Delta(x) = sum_mu w_mu (U_mu(x) - U_mu(x-mu)) - h.c. - trace;
 *                    theta(x) = tr Delta Delta^+ / N
 *   MAG              F = 1/(N D V) sum |U_mu(x)_ii|^2; theta(x) = sum_{a<b} |X_ab|^2 / N,
 *                    X_ab = sum over the 2 D links V away from x of
 *                    V_aa conj(V_ba) - V_ab conj(V_bb)
 * thetas, functionals: NULL, or [lat_condition_slices], which get the numbers of each slice. */
int lat_measure_gauge(const lat_field *f, const lat_condition *c, lat_gauge_state *s,
                      double *thetas, double *functionals);

/* After links have changed that stay in the gauge of their header: functional and theta of the
 * header, and the values of its residual gauge where it has them, are measured. They become unknown
 * where it names no condition that is known here. All ranks call it, with ghosts up to date. */
int lat_measure_restate(lat_field *f);

/* Field strength F_{mu nu}, Hermitian and traceless, from the four plaquettes around a site
 * (clover), in two dimensions or more; the charge in four alone, else NaN
 *
 *     charge   sum_x 1/(32 pi^2) eps_{mu nu rho sigma} tr F F, eps_{xyzt} = 1
 *     density  mean over sites of sum_{mu<nu} tr F^2 = 1/4 F^a F^a */
typedef struct lat_clover {
    double charge, density;
} lat_clover;
int lat_measure_clover(const lat_field *f, lat_clover *c);

/* beta by the Schwinger-Dyson equation of the Wilson action with anisotropy xi
 * (generate/generate.h). With S the weighted staple sum of a link U, X = U S^+ and
 * B = (X - X^+)/2i,
 *     (N^2 - 1) <Re tr X> = beta <tr B^2 - (tr B)^2 / N>
 * exactly, for any N, beta and volume. `trace` and `force` are the two means over all links, `beta`
 * what they give; NaN where the force is rounding alone, like the force of a classical field. */
typedef struct lat_schwinger_dyson {
    double trace, force, beta;
} lat_schwinger_dyson;
int lat_measure_schwinger_dyson(const lat_field *f, double xi, lat_schwinger_dyson *m);
