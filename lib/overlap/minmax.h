/* SPDX-License-Identifier: BSD-3-Clause */
/* minmax.h: polynomials and rational functions that approximate the sign function.
 *
 * Minmax polynomial P of degree n: on [epsilon, 1] it minimises
 *
 *     delta = max |1 - sqrt(y) P(y)|,   P(y) = sum_{k=0}^n c_k T_k(z),  z = (2y - 1 - epsilon)/(1 -
 * epsilon)
 *
 * so that x P(x^2) is sign(x) to delta for sqrt(epsilon) <= |x| <= 1 (Giusti, Hoelbling, Luescher,
 * Wittig, hep-lat/0212012). It is found by the algorithm of Remez.
 *
 * Zolotarev's rational function with n poles: on [a, b] it minimises max |1 - r(x)| among functions
 * of its type,
 *
 *     r(x) = A x prod_{l=1}^{n-1} (x^2 + c_2l) / prod_{l=1}^n (x^2 + c_{2l-1})
 *          = x sum_{l=1}^n residue_l / (x^2 + c_{2l-1}),
 *     c_l = a^2 sn^2(l K/2n; k) / cn^2(l K/2n; k),  k^2 = 1 - a^2/b^2
 *
 * (van den Eshof et al., hep-lat/0202025). Functions return 0, or -1 with lat_error set. */
#pragma once

enum { LAT_MINMAX_DEGREE = 4000, LAT_ZOLOTAREV_POLES = 40 };

typedef struct lat_minmax {
    int degree;
    double epsilon;
    double level; /* a lower bound of delta: the error where it alternates */
    double delta; /* an upper bound: also between the points where it was computed */
    double *c;    /* [degree + 1] */
} lat_minmax;

/* 0 < epsilon < 1, 1 <= degree <= LAT_MINMAX_DEGREE. */
int lat_minmax_new(lat_minmax *p, double epsilon, int degree);

/* The lowest degree, or one or two more, with an error up to delta. */
int lat_minmax_for(lat_minmax *p, double epsilon, double delta);
void lat_minmax_free(lat_minmax *p);

/* P(y), by Clenshaw's recursion. */
double lat_minmax_at(const lat_minmax *p, double y);

typedef struct lat_zolotarev {
    int poles;
    double a, b;
    double factor;                       /* A */
    double delta;                        /* max |1 - r| */
    double c[2 * LAT_ZOLOTAREV_POLES];   /* c[l], l = 1 .. 2 poles - 1 */
    double residue[LAT_ZOLOTAREV_POLES]; /* of the poles at -c[1], -c[3] .. */
} lat_zolotarev;

/* 0 < a < b, 1 <= poles <= LAT_ZOLOTAREV_POLES. */
int lat_zolotarev_new(lat_zolotarev *r, double a, double b, int poles);

/* As few poles as have an error up to delta. */
int lat_zolotarev_for(lat_zolotarev *r, double a, double b, double delta);
double lat_zolotarev_at(const lat_zolotarev *r, double x);
