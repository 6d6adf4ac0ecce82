/* SPDX-License-Identifier: BSD-3-Clause */
/* smear_hyp.c: hypercubic smearing.
 *
 * V_mu(S), S a set of directions without mu, is the link smeared with staples that stay out of the
 * directions of S. With k directions left beside mu and S,
 *
 *     V_mu(S) = P[(1 - a) U_mu + a/(2k) sum over nu not in S, nu != mu, of the two staples
 *                 V_nu(S+mu) V_mu(S+nu) V_nu(S+mu)^+],       V_mu(S) = U_mu where k = 0
 *
 * and a depends on k: the first weight belongs to the largest k. The result is V_mu({}). With four
 * directions these are the three levels of Hasenfratz and Knechtli: S of two, one, none. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "lattice/boundary.h"
#include "smear_internal.h"

enum { SETS = 1 << LAT_MAX_DIMS };

/* A field for each set S that is needed; its links of directions in S are not defined. */
typedef struct levels {
    lat_field field[SETS];
    int directions;
} levels;

/* The field with V_mu(S): U itself where no direction is left. */
static const lat_field *level(const levels *l, const lat_field *u, int set)
{
    return __builtin_popcount((unsigned)set) >= l->directions - 1 ? u : &l->field[set];
}

/* v_mu <- V_mu(S) at all sites. */
static int link_of_set(const lat_field *u, const levels *l, int set, int mu, double weight,
                       lat_field *v)
{
    const int n = u->head.nc, left = l->directions - 1 - __builtin_popcount((unsigned)set);
    const size_t nd = (size_t)u->head.geom.nd, sites = lat_field_sites(u);
    int bad = 0;
#pragma omp parallel for schedule(static) reduction(| : bad)
    for (size_t from = 0; from < sites; from += LAT_CHUNK) {
        const size_t to = from + LAT_CHUNK < sites ? from + LAT_CHUNK : sites;
        lat_iterator w;
        for (lat_iterator_start(&w, u, from); w.site < to; lat_iterator_next(&w)) {
            double old[LAT_SUN_REALS], sum[LAT_SUN_REALS] = {0};
            lat_load(u, w.site * nd + (size_t)mu, n, old);
            for (int nu = 0; nu < l->directions; nu++)
                if (nu != mu && !(set >> nu & 1))
                    lat_smear_staples(&w, n, mu, level(l, u, set | 1 << nu), nu,
                                      level(l, u, set | 1 << mu), sum);
            if (lat_boundary_none(1, 0, old, 2 * n * n))
                memcpy(sum, old, sizeof sum);
            else
                bad |= lat_smear_project(n, weight, old, weight / (2 * left), sum) != 0;
            lat_field_put(v, w.site * nd + (size_t)mu, sum);
        }
    }
    return bad;
}

/* All V(S) of one S. */
static int make_set(const lat_field *u, levels *l, int set, double weight, lat_field *v)
{
    const int n = u->head.nc;
    const size_t nd = (size_t)u->head.geom.nd, sites = lat_field_sites(u);
    int bad = 0;
    for (size_t mu = 0; mu < nd; mu++)
        if ((int)mu >= l->directions || set >> mu & 1) {
#pragma omp parallel for schedule(static)
            for (size_t x = 0; x < sites; x++) {
                double m[LAT_SUN_REALS];
                lat_load(u, x * nd + mu, n, m);
                lat_field_put(v, x * nd + mu, m);
            }
        } else {
            bad |= link_of_set(u, l, set, (int)mu, weight, v);
        }
    return bad ? LAT_SMEAR_SINGULAR : 0;
}

int lat_smear_hyp(const lat_field *u, const lat_smear *s, int directions, lat_field *v)
{
    levels *l = calloc(1, sizeof *l);
    int rc = lat_agree(lat_smear_comm(u), l ? 0 : lat_fail("out of memory: HYP links"));
    if (l)
        l->directions = directions;
    for (int k = 1; rc == 0 && k < directions - 1; k++) /* directions that are left */
        for (int set = 0; rc == 0 && set < 1 << directions; set++)
            if (__builtin_popcount((unsigned)set) == directions - 1 - k) {
                lat_field *to = &l->field[set];
                rc = lat_smear_like(u, to);
                rc = rc ? rc : make_set(u, l, set, s->weight[directions - 1 - k], to);
                rc = lat_agree(lat_smear_comm(u), rc);
                rc = rc || lat_field_exchange(to) ? -1 : 0;
            }
    if (rc == 0)
        rc = make_set(u, l, 0, s->weight[0], v);
    for (int set = 0; l && set < SETS; set++)
        lat_field_free(&l->field[set]);
    free(l);
    return rc;
}
