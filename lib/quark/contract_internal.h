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

/* The spin matrix of the last baryon at this site: forward and backward channels share it. */
typedef struct site_baryon {
    bool known;
    lat_channel_kind kind;
    site_matrix g;
} site_baryon;

/* A baryon channel at one site; `last` begins as zeros at each site. */
cplx lat_baryon_site(const lat_channel *c, const site_propagator *u, const site_propagator *s,
                     site_baryon *last);

#endif
