/* SPDX-License-Identifier: BSD-3-Clause */
/* level_setup.c: test vectors of the levels below a coarse one, by inverse iteration on it. */
#include "base/error.h"
#include "multigrid/level.h"

enum { ROUNDS = 1, SEARCH = 15, REFINE = 2 }; /* iterations without the level below, and with it */

/* ---- inverse iteration ----------------------------------------------------------------------- */

/* Vectors from number `first` on become M_c^-1 of themselves, about. */
static int iterate(lat_level *l, int first, bool alone, int most)
{
    const lat_mg_ops *ops = l->coarse.ops;
    const double tolerance = l->tolerance;
    const int usual = l->most;
    int rc = 0;
    l->alone = alone;
    l->most = most;
    l->tolerance = 1e-3;
    for (int k = first; k < l->down.n && rc == 0; k += LAT_EIGHT) {
        rc = ops->give(l, k, l->from) || lat_level_solve(l, l->to, l->from)
             || ops->take(l, k, l->to);
    }
    l->alone = false;
    l->most = usual;
    l->tolerance = tolerance;
    return rc ? -1 : 0;
}

static int make(lat_level *l, double shift, double twist)
{
    if (l->coarse.ops->make(&l->down) || l->coarse.ops->galerkin(l))
        return -1;
    return lat_level_setup(l->next, shift, twist, NULL, 0);
}

int lat_level_setup(lat_level *l, double shift, double twist, lat_eight *const *v, int vectors)
{
    int rc = lat_coarse_finish(&l->coarse, shift, twist, l->dense);
    if (rc || !l->next)
        return rc;
    for (int k = 0; k < l->down.n; k += LAT_EIGHT)
        if ((k >= vectors && lat_coarse_random(&l->coarse, (uint64_t)k, l->to))
            || l->coarse.ops->take(l, k, k < vectors ? v[k / LAT_EIGHT] : l->to))
            return -1;
    if (iterate(l, vectors, true, SEARCH) || l->coarse.ops->make(&l->down)
        || iterate(l, 0, true, SEARCH))
        return -1;
    for (int round = 0; round <= ROUNDS; round++) {
        if (round > 0 && iterate(l, 0, false, REFINE))
            return -1;
        if ((rc = make(l, shift, twist)))
            return rc;
    }
    return 0;
}
