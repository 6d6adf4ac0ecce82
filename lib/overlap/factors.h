/* SPDX-License-Identifier: BSD-3-Clause */
/* factors.h: a minmax polynomial as a product of its linear factors.
 *
 *     P(X^2) = prod_{k=1}^n f_k (X - w_k)(X + w_k),   w_k^2 the roots of P, f_k real
 *
 * Each application of X = H/|H| takes one vector and gives one: Clenshaw's recursion adds two more.
 * What rounding does to a product depends on the order of its factors: a vector that is rounded
 * after k of them has parts that are 1/max |prod of k| of the largest, and the factors that follow
 * make some of them larger again. So the next factor is always the one that makes the partial
 * product flattest on the interval, of all that are left (Bunk, Elser, Frezzotti, Jansen,
 * hep-lat/9805026, compare such orders). */
#pragma once

#include "vector/space.h"
#include "minmax.h"

enum { LAT_FACTORS_DEGREE = 1000 };

typedef struct lat_factors {
    int degree;
    lat_scalar *w; /* [degree], in order */
    double *f;     /* [degree] */
    double error;  /* of x P(x^2), of these numbers in double */
    /* A bound of what rounding adds to that, in units of epsilon: root of the sum over k of
     * (max |first k factors| max |x times the others|)^2, as roundings are independent. */
    double rounding;
} lat_factors;

/* 1 <= p->degree <= LAT_FACTORS_DEGREE. 0, or -1 with lat_error set: the product differs from the
 * polynomial by more than rounding in double, or there is no memory. The same bits with any number
 * of threads. */
int lat_factors_new(lat_factors *f, const lat_minmax *p);
void lat_factors_free(lat_factors *f);
