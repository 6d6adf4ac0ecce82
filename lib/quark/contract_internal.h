/* SPDX-License-Identifier: BSD-3-Clause */
/* contract_internal.h: contractions at one site. */
#pragma once

#include "base/isa.h"
#include "contract.h"

typedef struct cplx {
    double re, im;
} cplx;

static inline void cplx_add(cplx *s, cplx a, cplx b) /* s += a b */
{
    s->re += a.re * b.re - a.im * b.im;
    s->im += a.re * b.im + a.im * b.re;
}

/* Baryons of SU(3), at most lat_isa_doubles(lat_isa_widest()) sites at a time. `u` and `s` (the
 * same: one quark) are the propagators of `count` sites that follow each other, as
 * lat_contract_slice has them; value is [channel][LAT_ISA_MOST_DOUBLES], and channels that are no
 * baryons are left as they are. */
void lat_baryon_sites(const lat_channel *channel, int channels, const double *u, const double *s,
                      int count, cplx *value);
