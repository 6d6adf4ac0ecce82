/* SPDX-License-Identifier: BSD-3-Clause */
/* smear_internal.h: what the kinds of link smearing share. */
#pragma once

#include "comm/comm.h"
#include "lattice/iterate.h"
#include "smear.h"

/* The ranks that have u together. */
static inline const lat_comm *lat_smear_comm(const lat_field *u)
{
    return u->comm ? u->comm : &lat_comm_self;
}

/* sum += the two staples of a link along mu at w in the plane with nu: sides along mu are of b,
 * sides along nu of c. */
void lat_smear_staples(const lat_iterator *w, int n, int mu, const lat_field *b, int nu,
                       const lat_field *c, double *sum);

/* sum <- P[(1 - weight) u + share sum]: 0, or -1 where that is singular. */
int lat_smear_project(int n, double weight, const double *u, double share, double *sum);

/* A gauge field in double precision like u; its links are undefined. */
int lat_smear_like(const lat_field *u, lat_field *v);

/* One step of HYP from u to v, whose ghosts are not exchanged. */
int lat_smear_hyp(const lat_field *u, const lat_smear *s, int directions, lat_field *v);
