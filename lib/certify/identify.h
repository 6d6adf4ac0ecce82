/* SPDX-License-Identifier: BSD-3-Clause */
/* identify.h: which Wilson operator a solution of unknown origin solves, from the solution and its
 * links alone.
 *
 * Away from the source M x = 0, and M is linear in its parameters. So they come from a linear
 * fit: with H_t the temporal hops within the lattice, and for each basis of gamma.h,
 *
 *     a x + c_s C_s x + c_t C_t x + mu i gamma5 x + (c_F - 1) E x + w H_s x + sum_nu z_nu B_nu x
 *     = - H_t x
 *
 * A program that spreads boundary angles over all links of an axis has exp(-i pi theta x/L) times
 * such a solution. Where no fit is good, terms i (F - B) x of each axis are added, F and B the hops
 * forward and back: their coefficients are w sin(pi theta/L). The phases are taken off, and again,
 * until the fit without these terms is good.
 *
 * Open time has x = 0 on the first and the last slice, where M x is no equation: these are left
 * out. E is 1 on the slices beside them, and is there in open time alone. C are the clover terms of
 * spatial planes and of those with t, H_s the spatial hops within the lattice, B_nu the hops across
 * the boundary nu, forward with z_nu and back with its conjugate. The source lies on one slice,
 * which is left out: the one without which the fit is best. */
#pragma once

#include "quark/gamma.h"
#include "lattice/fermion.h"
#include "lattice/field.h"

enum {
    LAT_FIT_DIAGONAL, /* a = 1 + 3 nu/xi + m */
    LAT_FIT_CSW,      /* csw/xi */
    LAT_FIT_CSW_T,
    LAT_FIT_TWIST,
    LAT_FIT_EDGE,     /* c_F - 1 */
    LAT_FIT_SPACE,    /* w = nu/xi */
    LAT_FIT_BOUNDARY, /* re and im of z, x to t: w exp(i pi theta), in t without w */
    LAT_FITS = LAT_FIT_BOUNDARY + 2 * LAT_MAX_DIMS
};

typedef struct lat_identified {
    const lat_basis *basis; /* of the sink's spin */
    double residual;        /* of the fit: |sum of all terms| / |H_t x| */
    int slice;              /* of the source */
    double value[LAT_FITS];
    bool determined[LAT_FITS]; /* false where a term depends on others, as C of the free field */
    lat_fermion fermion;       /* xi = 1/w, nu = 1; numbers as short as the fit's accuracy allows */
    double spread[LAT_MAX_DIMS]; /* the part of the boundary's angles, in units of pi, that lies on
                                    all links of an axis */
} lat_identified;

/* Every basis, best first: how many there are, or -1 with lat_error set. Ghosts of u and x
 * are up to date. All ranks call it. */
enum { LAT_MOST_BASES = 16 };
int lat_identify(const lat_field *u, const lat_field *x, lat_identified list[LAT_MOST_BASES]);
