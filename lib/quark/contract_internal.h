/* SPDX-License-Identifier: BSD-3-Clause */
/* contract_internal.h: contractions at one site. */
#ifndef LAT_CONTRACT_INTERNAL_H
#define LAT_CONTRACT_INTERNAL_H

#include "contract.h"

typedef struct cplx {
    double re, im;
} cplx;

static inline void cplx_add(cplx *s, cplx a, cplx b) /* s += a b */
{
    s->re += a.re * b.re - a.im * b.im;
    s->im += a.re * b.im + a.im * b.re;
}

/* A propagator at a site, N = 3: [sink colour][source colour][sink spin][source spin]. */
typedef cplx site_matrix[4][4];
typedef struct site_propagator {
    site_matrix s[3][3];
} site_propagator;

/* A baryon channel at one site; u and s as the propagator in memory. */
cplx lat_baryon_site(const lat_channel *c, const site_propagator *u, const site_propagator *s);

#endif
