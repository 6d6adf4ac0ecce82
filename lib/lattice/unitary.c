/* SPDX-License-Identifier: BSD-3-Clause */
/* unitary.c: links in double precision, in SU(N) to rounding. */
#include "unitary.h"

#include <math.h>
#include "base/error.h"
#include "boundary.h"
#include "iterate.h"

/* Farther than this from SU(N), a link is no result of rounding in double. */
#define ROUNDED 1e-13

/* How many links are farther; or, with `mend`, the number of those that cannot be mended. */
static long far_links(lat_field *u, bool mend)
{
    const int n = u->head.nc, nd = u->head.geom.nd;
    const unsigned open = lat_boundary_open(&u->head);
    long count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (size_t i = 0; i < lat_field_matrices(u); i++) {
        double m[LAT_SUN_REALS], det[2];
        lat_load(u, i, n, m);
        if (lat_boundary_none(open, (int)(i % (size_t)nd), m, 2 * n * n))
            continue;
        lat_sun_det(n, m, det);
        if (lat_sun_unitarity(n, m) <= n * ROUNDED && hypot(det[0] - 1, det[1]) <= n * ROUNDED)
            continue;
        count += mend ? lat_sun_polar(n, m) != 0 : 1;
        if (mend)
            lat_field_put(u, i, m);
    }
    return count;
}

int lat_links_unitary(lat_field *u, const char *who)
{
    const lat_comm *comm = u->comm ? u->comm : &lat_comm_self;
    if (u->head.kind != LAT_GAUGE)
        return lat_fail("%s: expected a gauge field, found %s", who, lat_kind_text(u->head.kind));
    if (lat_field_convert(u, LAT_F64))
        return -1;
    u->head.reals = 2 * u->head.nc * u->head.nc;
    double far = (double)far_links(u, false);
    if (comm->sum(comm, &far, 1))
        return -1;
    if (far == 0)
        return 0;
    double bad = (double)far_links(u, true);
    if (comm->sum(comm, &bad, 1))
        return -1;
    if (bad > 0)
        return lat_fail("%s: expected links near SU(%d), found a singular one", who, u->head.nc);
    u->head.plaquette = u->head.link_trace = NAN;
    return lat_field_exchange(u);
}
