/* SPDX-License-Identifier: BSD-3-Clause */
/* sign.h: the sign function of H = gamma5 (D_W - m0) on batches of spinors.
 *
 *     sign(H) = P+ - P- + (1 - P+ - P-) f(H) (1 - P+ - P-)
 *
 * where P+ and P- project on low modes with positive and negative eigenvalues, and f is either
 *
 *     X P(X^2), X = H/|H|     a minmax polynomial P (minmax.h), two applications of D_W a degree:
 *                             by Clenshaw's recursion, or factor by factor (factors.h)
 *     H sum_l r_l/(H^2 + c_l) Zolotarev's rational function, by conjugate gradients for all shifts
 *
 * (Giusti, Hoelbling, Luescher, Wittig, hep-lat/0212012). It is asked for with
 * an error, and a lower degree is taken where the error may be larger: `level` 0 is the full
 * accuracy, each further level is ten times less accurate or so. Levels that single precision does
 * for are evaluated in that: their polynomial, not the projections.
 *
 * The interval comes from the modes: all eigenvalues that are not projected have moduli in [rest,
 * norm] of lat_modes, upper bound included. An interval that the caller gives is compared with it.
 *
 * Functions return 0 or a pointer, or -1 or NULL with lat_error set; all ranks of the device call
 * them. What is done to a column does not depend on the others. */
#pragma once

#include "dirac/dirac.h"
#include "minmax.h"
#include "modes/modes.h"

typedef enum { LAT_SIGN_MINMAX, LAT_SIGN_ZOLOTAREV } lat_sign_method;
#define LAT_SIGN_METHODS "minmax|zolotarev"
enum { LAT_SIGN_LEVELS = 16 };

/* How a polynomial is evaluated. A product moves two vectors less a degree, and loses more digits.
 * AUTO: a product where the device has shifts at the end of hops (lat_dirac.fuses) and rounding
 * adds little to the error of the polynomial. */
typedef enum { LAT_SIGN_AUTO, LAT_SIGN_CLENSHAW, LAT_SIGN_PRODUCT } lat_sign_series;

typedef struct lat_sign_options {
    lat_sign_method method;
    double delta; /* max | |x| f(|x|) - 1 | on the interval; 1e-15 to .5 */
    int order;    /* degree, or number of poles; 0: what delta needs */
    lat_sign_series series;
    double lower, upper; /* the interval; 0: the modes' own */
    bool force;          /* an interval that does not hold the spectrum, whatever comes of it */
} lat_sign_options;

typedef struct lat_sign lat_sign;

/* h is D_W - m0 (its mass is -m0), in a space of any number of columns; coarse is the same in
 * single, with as many columns, on the same device, or NULL. The vectors of `modes` are of a space
 * of one column on the grid of h, its residuals and gaps give the bound. All are borrowed.
 * modes->count may be 0; modes->rest and norm are needed. */
lat_sign *lat_sign_open(lat_dirac *h, lat_dirac *coarse, const lat_modes *modes,
                        const lat_sign_options *options);
void lat_sign_close(lat_sign *s); /* NULL is allowed */

/* out = sign(H) in, to lat_sign_delta(level); `in` is not changed, except for ghosts. */
int lat_sign_apply(lat_sign *s, int level, const lat_part *p, lat_dfield *out, lat_dfield *in);

/* The level whose error is `delta` at most; 0 if none is. */
int lat_sign_level(const lat_sign *s, double delta);
double lat_sign_delta(const lat_sign *s, int level);

/* What rounding in the precision of h adds to that where f is a polynomial, once it has been
 * applied. */
double lat_sign_rounding(const lat_sign *s, int level);

/* Bounds of |sign(H) - its approximation| at level 0: 2 (kappa+ + kappa-) + delta, where the
 * kappas belong to the modes (Giusti et al., section 4), up to products of the two. */
double lat_sign_bound(const lat_sign *s);

int lat_sign_order(const lat_sign *s); /* degree or poles of level 0 */
void lat_sign_interval(const lat_sign *s, double *lower, double *upper);
long lat_sign_applications(const lat_sign *s); /* of D_W, a column each, so far */

/* f(x) of level 0. */
double lat_sign_at(const lat_sign *s, double x);
