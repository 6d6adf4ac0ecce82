/* SPDX-License-Identifier: BSD-3-Clause */
/* smear.c: APE, stout and HYP links. */
#include "smear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "lattice/boundary.h"
#include "lattice/iterate.h"
#include "smear_internal.h"

/* ---- text ------------------------------------------------------------------------------------ */

static const struct row {
    const char *name;
    int weights;
    double most;       /* of a weight */
    const char *first; /* the name of the first weight */
} rows[] = {[LAT_SMEAR_APE] = {"ape", 1, 1, "A"},
            [LAT_SMEAR_STOUT] = {"stout", 1, 1, "R"},
            [LAT_SMEAR_HYP] = {"hyp", 3, 1, "A1"}};

/* "a,b,n": the last one is the number of steps. */
static int numbers(const char *p, int n, double most, lat_smear *s)
{
    char *end;
    for (int i = 0; i < n; i++, p = end + 1) {
        s->weight[i] = strtod(p, &end);
        if (end == p || *end != ',' || !(s->weight[i] >= 0 && s->weight[i] <= most))
            return -1;
    }
    const long steps = strtol(p, &end, 10);
    if (end == p || *end || steps < 1 || steps > 100000)
        return -1;
    s->steps = (int)steps;
    return 0;
}

int lat_smear_parse(const char *text, lat_smear *s)
{
    static const char spatial[] = ",spatial";
    char word[128];
    const size_t length = strlen(text), tail = sizeof spatial - 1;
    const char *colon = strchr(text, ':');
    *s = (lat_smear){.spatial = length > tail && !strcmp(text + length - tail, spatial)};
    if (colon && length < sizeof word) {
        memcpy(word, text, length + 1);
        word[length - (s->spatial ? tail : 0)] = '\0';
        for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
            const size_t name = strlen(rows[i].name);
            s->kind = (lat_smear_kind)i;
            if ((size_t)(colon - text) == name && !memcmp(text, rows[i].name, name)
                && !numbers(word + name + 1, i == LAT_SMEAR_HYP && s->spatial ? 2 : rows[i].weights,
                            rows[i].most, s))
                return 0;
        }
    }
    return lat_fail_usage("expected ape:A,N, stout:R,N or hyp:A1,A2,A3,N, weights from 0 to 1 and "
                          "a number of steps (and ,spatial after it: then hyp:A1,A2,N,spatial), "
                          "found '%s'",
                          text);
}

/* ---- staples --------------------------------------------------------------------------------- */

void lat_smear_staples(const lat_iterator *w, int n, int mu, const lat_field *b, int nu,
                       const lat_field *c, double *sum)
{
    const size_t nd = (size_t)w->nd;
    const size_t below = lat_iterator_down(w, nu), reals = 2 * (size_t)n * (size_t)n;
    double p[LAT_SUN_REALS], q[LAT_SUN_REALS], v[LAT_SUN_REALS], t[LAT_SUN_REALS];
    /* U_nu(x) U_mu(x+nu) U_nu(x+mu)^+ */
    lat_load(c, w->site * nd + (size_t)nu, n, p);
    lat_load(b, lat_iterator_up(w, nu) * nd + (size_t)mu, n, q);
    lat_sun_mul(n, t, p, q);
    lat_load(c, lat_iterator_up(w, mu) * nd + (size_t)nu, n, p);
    lat_sun_mul_dag(n, v, t, p);
    for (size_t i = 0; i < reals; i++)
        sum[i] += v[i];
    /* U_nu(x-nu)^+ U_mu(x-nu) U_nu(x-nu+mu) */
    lat_load(c, below * nd + (size_t)nu, n, q);
    lat_sun_dag(n, p, q);
    lat_load(b, below * nd + (size_t)mu, n, q);
    lat_sun_mul(n, t, p, q);
    lat_load(c, lat_field_next(c, below, mu, 1) * nd + (size_t)nu, n, p);
    lat_sun_mul(n, v, t, p);
    for (size_t i = 0; i < reals; i++)
        sum[i] += v[i];
}

int lat_smear_project(int n, double weight, const double *u, double share, double *sum)
{
    for (int i = 0; i < 2 * n * n; i++)
        sum[i] = (1 - weight) * u[i] + share * sum[i];
    return lat_sun_polar(n, sum);
}

/* v <- exp(X) u, X the traceless anti-Hermitian part of sum u^+. */
static void stout(int n, double rho, const double *u, double *sum)
{
    double x[LAT_SUN_REALS], e[LAT_SUN_REALS], trace = 0;
    lat_sun_mul_dag(n, x, sum, u);
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            double *z = x + 2 * (i * n + j), *y = x + 2 * (j * n + i);
            const double re = rho * (z[0] - y[0]) / 2, im = rho * (z[1] + y[1]) / 2;
            z[0] = re;
            y[0] = -re;
            z[1] = y[1] = im;
            trace += i == j ? im : 0;
        }
    for (int i = 0; i < n; i++)
        x[2 * (i * n + i) + 1] -= trace / n;
    lat_sun_exp(n, e, x);
    lat_sun_mul(n, sum, e, u);
}

/* One step of APE or stout from u to v; the directions below `directions`. */
static int step(const lat_field *u, const lat_smear *s, int directions, lat_field *v)
{
    const int n = u->head.nc, nd = u->head.geom.nd;
    const double share = s->weight[0] / (2 * (directions - 1));
    const size_t sites = lat_field_sites(u);
    int bad = 0;
#pragma omp parallel for schedule(static) reduction(| : bad)
    for (size_t from = 0; from < sites; from += LAT_CHUNK) {
        const size_t to = from + LAT_CHUNK < sites ? from + LAT_CHUNK : sites;
        lat_iterator w;
        for (lat_iterator_start(&w, u, from); w.site < to; lat_iterator_next(&w))
            for (int mu = 0; mu < nd; mu++) {
                double old[LAT_SUN_REALS], sum[LAT_SUN_REALS] = {0};
                const size_t link = w.site * (size_t)nd + (size_t)mu;
                lat_load(u, link, n, old);
                for (int nu = 0; nu < directions; nu++)
                    if (nu != mu && mu < directions)
                        lat_smear_staples(&w, n, mu, u, nu, u, sum);
                if (mu >= directions || lat_boundary_none(1, 0, old, 2 * n * n))
                    memcpy(sum, old, sizeof sum);
                else if (s->kind == LAT_SMEAR_STOUT)
                    stout(n, s->weight[0], old, sum);
                else
                    bad |= lat_smear_project(n, s->weight[0], old, share, sum) != 0;
                lat_field_put(v, link, sum);
            }
    }
    return bad ? LAT_SMEAR_SINGULAR : 0;
}

/* Those that are smeared. */
static int directions_of(const lat_field *u, const lat_smear *s)
{
    return u->head.geom.nd - (s->spatial ? 1 : 0);
}

/* ---- the whole field ------------------------------------------------------------------------- */

int lat_smear_like(const lat_field *u, lat_field *v)
{
    memset(v, 0, sizeof *v);
    if (lat_header_copy(&v->head, &u->head))
        return -1;
    v->head.real = LAT_F64;
    v->head.reals = 2 * u->head.nc * u->head.nc;
    v->head.plaquette = v->head.link_trace = NAN;
    v->head.copies = 0;
    lat_header_ungauge(&v->head);
    lat_header_unflow(&v->head);
    if (lat_field_alloc(v, u->comm)) {
        lat_field_free(v);
        return -1;
    }
    return 0;
}

static int check(const lat_field *u, const lat_smear *s)
{
    const int directions = directions_of(u, s);
    char text[64];
    if (u->head.kind != LAT_GAUGE)
        return lat_fail("links to smear: expected a gauge field, found a field of another kind");
    if (directions < 2)
        return lat_fail("lattice %s: %s smearing needs two directions at least, found %d",
                        lat_dims_text(&u->head.geom, text), s->spatial ? "spatial" : "link",
                        directions);
    if (s->kind == LAT_SMEAR_HYP && u->head.geom.nd != 4)
        return lat_fail("lattice %s: HYP smearing is for four dimensions",
                        lat_dims_text(&u->head.geom, text));
    return 0;
}

/* 1 - the smallest factor by which a step multiplies waves of weak links, those whose momenta are 0
 * or pi in each direction (docs/flow.md). In proportion to the first weight. */
static double damping(const lat_smear *s, int d)
{
    const double *a = s->weight;
    if (s->kind == LAT_SMEAR_STOUT)
        return 4 * d * a[0];
    if (s->kind == LAT_SMEAR_APE)
        return 2 * d * a[0] / (d - 1);
    if (d == 3)
        return a[0] * fmax(2 * (1 + a[1]), 3 * (1 - a[1]));
    return a[0]
           * fmax(fmax(4 * (1 + a[1] * (1 + a[2])), 8 * (1 - a[1] * (1 - a[2]))),
                  6 * (1 - a[1] * a[2]))
           / 3;
}

/* Says once that smearing makes links rougher. */
static void warn_of_growth(const lat_smear *s, int d)
{
    static bool warned;
    const double most = s->weight[0] * 2 / damping(s, d), grows = damping(s, d) - 1;
    if (warned || !(grows > 1 + 1e-12))
        return;
    warned = true;
    lat_warn(
        "expected %s of %s smearing at most %.4g, found %g: above it links of short wavelength "
        "grow, by %.4g a step (docs/flow.md, \"Smeared links\")",
        rows[s->kind].first, rows[s->kind].name, most, s->weight[0], grows);
}

int lat_smear_check(const lat_field *u, const lat_smear *s)
{
    if (check(u, s))
        return -1;
    warn_of_growth(s, directions_of(u, s));
    return 0;
}

int lat_smear_links(const lat_field *u, const lat_smear *s, lat_field *v)
{
    const int directions = directions_of(u, s);
    const lat_comm *comm = lat_smear_comm(u);
    lat_field from = {.data = NULL}, to = {.data = NULL};
    int rc = lat_smear_check(u, s);
    for (int i = 0; rc == 0 && i < s->steps; i++) {
        const lat_field *last = i ? &from : u;
        rc = lat_agree(comm, to.data ? 0 : lat_smear_like(u, &to));
        if (rc == 0)
            rc = lat_agree(comm, s->kind == LAT_SMEAR_HYP ? lat_smear_hyp(last, s, directions, &to)
                                                          : step(last, s, directions, &to));
        rc = rc || lat_field_exchange(&to) ? -1 : 0;
        const lat_field done = to;
        to = from;
        from = done;
    }
    lat_field_free(&to);
    if (rc)
        lat_field_free(&from);
    else
        *v = from;
    return rc;
}
