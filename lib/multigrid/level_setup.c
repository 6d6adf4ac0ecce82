/* SPDX-License-Identifier: BSD-3-Clause */
/* level_setup.c: test vectors of the levels below a coarse one, by inverse iteration on it. */
#include <string.h>
#include "base/error.h"
#include "multigrid/level.h"

enum { ROUNDS = 1, SEARCH = 15, REFINE = 2 }; /* iterations without the level below, and with it */

/* ---- columns and test vectors ---------------------------------------------------------------- */

/* Test vectors first .. first+7 from a vector, and back. */
static void take(const lat_level *l, int first, const lat_eight *x)
{
    const lat_transfer *t = &l->down;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->blocks.sites; i++)
        for (int c = 0; c < t->components; c++) {
            const lat_eight *const from = x + (size_t)l->at[i] * (size_t)t->components + c;
            float *const to = t->v + 2 * ((i * t->components + c) * t->n + first);
            for (int k = 0; k < LAT_EIGHT; k++) {
                to[2 * k] = from->re[k];
                to[2 * k + 1] = from->im[k];
            }
        }
}

static void give(const lat_level *l, int first, lat_eight *x)
{
    const lat_transfer *t = &l->down;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->blocks.sites; i++)
        for (int c = 0; c < t->components; c++) {
            lat_eight *const to = x + (size_t)l->at[i] * (size_t)t->components + c;
            const float *const from = t->v + 2 * ((i * t->components + c) * t->n + first);
            for (int k = 0; k < LAT_EIGHT; k++) {
                to->re[k] = from[2 * k];
                to->im[k] = from[2 * k + 1];
            }
        }
}

/* ---- inverse iteration ----------------------------------------------------------------------- */

/* Vectors from number `first` on become M_c^-1 of themselves, about. */
static int iterate(lat_level *l, int first, bool alone, int most)
{
    const double tolerance = l->tolerance;
    const int usual = l->most;
    int rc = 0;
    l->alone = alone;
    l->most = most;
    l->tolerance = 1e-3;
    for (int k = first; k < l->down.n && rc == 0; k += LAT_EIGHT) {
        give(l, k, l->from);
        rc = lat_level_solve(l, l->to, l->from);
        take(l, k, l->to);
    }
    l->alone = false;
    l->most = usual;
    l->tolerance = tolerance;
    return rc;
}

static int make(lat_level *l, double shift, double twist)
{
    if (lat_transfer_make(&l->down) || lat_level_galerkin(l))
        return -1;
    return lat_level_setup(l->next, shift, twist, NULL, 0);
}

int lat_level_setup(lat_level *l, double shift, double twist, lat_eight *const *v, int vectors)
{
    int rc = lat_coarse_finish(&l->coarse, shift, twist, l->dense);
    if (rc || !l->next)
        return rc;
    for (int k = 0; k < l->down.n; k += LAT_EIGHT) {
        if (k < vectors)
            take(l, k, v[k / LAT_EIGHT]);
        else {
            lat_coarse_random(&l->coarse, (uint64_t)k, l->to);
            take(l, k, l->to);
        }
    }
    if (iterate(l, vectors, true, SEARCH) || lat_transfer_make(&l->down)
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
