/* SPDX-License-Identifier: BSD-3-Clause */
/* overlap.h: the overlap operator of Neuberger (hep-lat/9707022) on a device, double precision.
 *
 *     D(mu) = [(1 + mu) + (1 - mu) gamma5 sign(H)]/2,     H = gamma5 (D_W - m0)
 *
 * D_W is Wilson's operator without mass, clover term, anisotropy and boundary included if there
 * are any. Others write D_N = (1/abar)(1 + gamma5 sign H), abar = 1/(1 + s), m0 = 1 + s, and
 * D_m = (1 - abar m/2) D_N + m; then D_m = 2 m0 D(mu) with mu = m/(2 m0).
 *
 * On spinors of one chirality c = 1 or -1, gamma5 psi = c psi,
 *
 *     D^+ D = D D^+ = (1 + mu^2)/2 + (1 - mu^2)/2 c P sign(H) P,    P = (1 + c gamma5)/2
 *
 * takes one sign function. The error of D is (1 - mu)/2 times the error of the sign function; with
 * the bound of that (sign.h)
 *
 *     |D~ - D| <= (1 - mu)/2 {2 (kappa+ + kappa-) + delta}
 *
 * Functions return 0 or a pointer, or -1 or NULL with lat_error set; all ranks of the device call
 * them. */
#pragma once

#include "certify/plain_overlap.h"
#include "vector/temporal.h"
#include "lattice/fermion.h"
#include "sign.h"

/* What --operator overlap needs to know beside the fermion. */
typedef struct lat_overlap_options {
    int columns;
    bool mixed; /* sign functions that need not be accurate, in single precision */
    lat_sign_options sign;
    int low, high;    /* modes of H that are projected: as many as leave the widest gap; 0, 0, or no
                       * gap: none */
    double tolerance; /* of their residuals */
    double memory;    /* of a device for them, in bytes; 0: what is free on a GPU */
    /* Modes of H that are known: a host field, borrowed while the operator opens; NULL: they are
     * searched. They are examined (modes.h). As many are projected, from low = high, or three
     * quarters of all, as leave the widest gap. */
    const lat_field *known;
    double rest;      /* where others are said to begin; 0: not known */
    const char *name; /* of it, for sentences */
    /* While modes are searched (modes.h). */
    int (*progress)(void *with, int converged, int of, double residual, long applications);
    void *with;
} lat_overlap_options;

/* The options that tools start from: delta 1e-11, 4 to 12 modes to 1e-12. */
void lat_overlap_usual(lat_overlap_options *o);

typedef struct lat_overlap {
    lat_fermion fermion;
    lat_grid *grid, *single;         /* single: with `mixed`, else NULL */
    lat_space *one, *space, *coarse; /* of one column, of many; of many in single */
    lat_temporal *gauge;             /* of these spaces, or NULL */
    lat_dirac *h1, *h, *hs;          /* D_W - m0 there */
    lat_modes modes; /* of H, that are projected; rest and norm hold if there are none */
    lat_sign *sign;
    double mu, memory;
    lat_dfield *tmp;
    struct lat_overlap_deflation *deflation; /* deflate.h; NULL: none */
} lat_overlap;

typedef enum { LAT_OVERLAP_D, LAT_OVERLAP_DAGGER, LAT_OVERLAP_NORMAL } lat_overlap_kind;

/* fermion->name is "overlap"; m0 is in (0, 2), mass is mu. Finds the modes of H, or examines those
 * that are known. Not converged: -1.
 * The links are borrowed while it opens, their ghosts are up to date. */
lat_overlap *lat_overlap_open(lat_device *device, const lat_field *links,
                              const lat_fermion *fermion, const lat_overlap_options *options);
void lat_overlap_close(lat_overlap *o); /* NULL is allowed */

/* The kernel D_W - m0 of an overlap operator, as an operator wilson. */
void lat_overlap_kernel(const lat_fermion *overlap, lat_fermion *kernel);

/* 0, or -1 where the operator is none: m0, mu, a twist, Dirichlet boundaries. */
int lat_overlap_check(const lat_fermion *f);

/* out = D in, D^+ in, D^+ D in, by the sign function at a level. */
int lat_overlap_apply(lat_overlap *o, lat_overlap_kind kind, int level, const lat_part *p,
                      lat_dfield *out, lat_dfield *in);

/* out = D D^+ in for spinors of chirality c; the square of the sign function is taken to be 1. If c
 * is 0: for any spinors and whatever that square is, by two sign functions. */
int lat_overlap_chiral(lat_overlap *o, int c, int level, const lat_part *p, lat_dfield *out,
                       lat_dfield *in);

/* The bound of |D~ - D|, at level 0. */
double lat_overlap_bound(const lat_overlap *o);

/* | |sign(H) v| / |v| - 1 | of a random v: above a few times the bound, modes or interval are not
 * the ones of these links. -1 with a sentence where it is. */
int lat_overlap_verify(lat_overlap *o, double *defect);

/* The operator by code that shares nothing with it but the low modes and the interval; with a
 * forced interval, its series, too (certify/plain_overlap.h). Borrows the links. */
lat_plain_overlap *lat_overlap_plain(const lat_overlap *o, const lat_field *links, double delta);
