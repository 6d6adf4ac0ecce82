/* SPDX-License-Identifier: BSD-3-Clause */
/* temporal.c: the transformation to the temporal gauge. */
#include "vector/temporal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "lattice/box.h"
#include "lattice/iterate.h"
#include "lattice/transform.h"
#include "site/sun.h"

/* The largest element of |m - 1|; infinite where a number is none. */
static double from_one(int n, const double *m)
{
    double off = 0;
    for (int i = 0; i < 2 * n * n; i++)
        off = lat_worse(off, fabs(m[i] - (i % (2 * n + 2) == 0)));
    return isfinite(off) ? off : HUGE_VAL;
}

/* G at site `to` from that at the site before; returns |G U_t G^+ - 1|. */
LAT_INLINE double step(const lat_field *u, int n, lat_field *g, size_t before, size_t to)
{
    double a[LAT_SUN_REALS], v[LAT_SUN_REALS], m[LAT_SUN_REALS], one[LAT_SUN_REALS];
    lat_load(g, before, n, a);
    lat_load(u, before * 4 + 3, n, v);
    lat_sun_mul(n, m, a, v);
    memcpy(v, m, sizeof v);
    const int singular = lat_sun_gram_schmidt(n, m);
    lat_field_put(g, to, m);
    lat_sun_mul_dag(n, one, v, m);
    return singular < 0 ? HUGE_VAL : from_one(n, one);
}

/* The slices of this rank, from the one before them; on the first rank from a slice of ones. */
static double march_slices(const lat_field *u, lat_field *g)
{
    const size_t sites = lat_slice_sites(&u->head);
    const lat_slab slab = lat_field_slab(u);
    const size_t slices = (size_t)slab.count;
    double off = 0;
#pragma omp parallel for schedule(static) reduction(max : off)
    for (size_t i = 0; i < sites; i++)
        for (size_t k = slab.first == 0; k < slices; k++) {
            const size_t before = (k ? k - 1 : slices + 1) * sites + i, to = k * sites + i;
            const double d = u->head.nc == 3 ? step(u, 3, g, before, to) /* known to the compiler */
                                             : step(u, u->head.nc, g, before, to);
            off = d > off ? d : off;
        }
    return off;
}

bool lat_temporal_unit(const lat_temporal *t, lat_storage storage)
{
    return t && t->off <= lat_link_bound(storage);
}

/* Ranks one after the other, as each begins where the one before it ends. */
static int fill_gauge(lat_temporal *t, const lat_field *u)
{
    const lat_comm *comm = u->comm ? u->comm : &lat_comm_self;
    if (lat_transform_new(&t->g, &u->head, u->comm))
        return -1;
    for (int rank = 0; rank < comm->size; rank++) {
        if (rank == comm->rank)
            t->off = march_slices(u, &t->g);
        if (lat_field_exchange(&t->g))
            return -1;
    }
    return comm->max(comm, &t->off, 1);
}

/* As ranks have links where they have boxes. */
static int to_box(const lat_comm *comm, lat_temporal *t)
{
    lat_field part;
    if (lat_box_take_own(comm, &t->g, &part))
        return -1;
    if (!part.data)
        return 0;
    lat_field_free(&t->g);
    t->g = part;
    return 0;
}

int lat_temporal_open(lat_device *dev, const lat_field *u, const double *there, lat_temporal **to)
{
    *to = NULL;
    if (u->head.geom.nd != 4 || u->head.geom.dims[3] == 1)
        return 0;
    lat_temporal *t = lat_alloc_zero(1, sizeof *t, "the temporal gauge");
    if (!t)
        return -1;
    const int rc = there ? lat_temporal_on_gpu(t, dev, &u->head.geom, there) : fill_gauge(t, u);
    if (rc || !lat_temporal_unit(t, LAT_STORAGE_SINGLE) || to_box(dev->comm, t)
        || (dev->gpu && !there && lat_temporal_to_gpu(t, dev))) {
        const bool failed = rc || lat_temporal_unit(t, LAT_STORAGE_SINGLE);
        lat_temporal_close(t);
        return failed ? -1 : 0;
    }
    *to = t;
    return 0;
}

void lat_temporal_close(lat_temporal *t)
{
    if (!t)
        return;
    lat_temporal_gpu_close(t);
    lat_field_free(&t->g);
    free(t);
}
