/* SPDX-License-Identifier: BSD-3-Clause */
/* hop_groups.h: hop.h for SU(2), SU(3), SU(4) and any N, and residuals from the definition, for the
 * vectors V of WIDTH doubles (template; kernels.c expands it). */
#define UNROLL UNROLL_FEW
#define SIZE 2
#define NAME(x) NAME_(x, 2)
#include "hop.h"
#undef SIZE
#undef NAME
#define SIZE 3
#define NAME(x) NAME_(x, 3)
#include "hop.h"
#undef SIZE
#undef NAME
#define SIZE 4
#define NAME(x) NAME_(x, 4)
#include "hop.h"
#undef UNROLL
#undef SIZE
#undef NAME
#define UNROLL
#define SIZE LAT_MAX_COLOURS
#define NAME(x) NAME_(x, any)
#include "hop.h"
#include "plain_site.h"

LAT_INLINE void NAME(plain_sites)(const lat_ghost *m, const lat_ghost_call *c, int unit,
                                  size_t from, size_t to, double *sums)
{
    lat_iterator at;
    for (lat_iterator_start(&at, &m->lattice, from); at.site < to; lat_iterator_next(&at))
        for (int k = 0; k < m->columns; k += WIDTH) {
            const size_t offset = (size_t)(k / LAT_GHOST_PACK * LAT_GHOST_PACK * m->colours
                                           + k % LAT_GHOST_PACK);
            NAME(plain_site)
            (m, c->plain, c, &at, offset, c->a ? (const V *)(c->a + unit * m->columns + k) : NULL,
             (V *)(sums + k), sums + m->columns + offset);
        }
}

#undef UNROLL
#undef SIZE
#undef NAME
#undef V
#undef WIDTH
#undef NAME_
