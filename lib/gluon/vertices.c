/* SPDX-License-Identifier: BSD-3-Clause */
/* vertices.c: sets of momenta that make a vertex, and means of vertices over orbits and
 * configurations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "vertex.h"
#include "vertices.h"

/* ---- legs of vertices ------------------------------------------------------------------------ */

/* Three momenta of one orbit whose sum is 0. */
struct lat_gluon_triad {
    int leg[3];
    double value[2];
};

/* With all n_mu below the edge of the zone, where p is not -p. */
static bool has_legs(const lat_gluon_vertices *v, const lat_gluon_momenta *m,
                     const lat_gluon_orbit *o)
{
    long square = 0;
    for (int i = 0; i < m->nd; i++) {
        if (2 * abs(o->n[i]) >= m->extent[i])
            return false;
        square += (long)o->n[i] * o->n[i];
    }
    return square == 0 || (square <= v->largest && lat_gluon_kept(o, &v->cuts));
}

/* A count of all, and a place for each orbit. */
static int legs_alloc(lat_gluon_vertices *v, const lat_gluon_momenta *m, int nc)
{
    v->first = lat_alloc(m->orbits + 1, sizeof *v->first, "legs of vertices");
    if (!v->first)
        return -1;
    v->first[0] = 0;
    for (size_t o = 0; o < m->orbits; o++)
        v->first[o + 1] = v->first[o]
                          + (has_legs(v, m, &m->orbit[o]) ? (int)m->orbit[o].members : 0);
    v->legs.count = v->first[m->orbits];
    const size_t count = (size_t)v->legs.count;
    v->legs.n = lat_alloc(count, sizeof *v->legs.n, "legs of vertices");
    v->legs.h = lat_alloc(count, sizeof *v->legs.h, "legs of vertices");
    v->legs.minus = lat_alloc(count, sizeof *v->legs.minus, "legs of vertices");
    v->legs.a = lat_alloc(count * (size_t)(m->nd * nc * nc), sizeof *v->legs.a, "legs of vertices");
    return v->legs.n && v->legs.h && v->legs.minus && v->legs.a ? 0 : -1;
}

static void add_leg(lat_gluon_vertices *v, int at, const lat_gluon_momenta *m, size_t h, bool minus)
{
    int *n = v->legs.n[at];
    memset(n, 0, sizeof *v->legs.n);
    lat_gluon_momentum(m, h, n);
    for (int i = 0; minus && i < m->nd; i++)
        n[i] = -n[i];
    v->legs.h[at] = h;
    v->legs.minus[at] = minus;
}

/* -(a + b) among the legs of an orbit, after number `after`; -1: it is not there. */
static int third(const lat_gluon_vertices *v, int nd, int last, int a, int b)
{
    for (int c = b + 1; c < last; c++) {
        bool all = true;
        for (int i = 0; all && i < nd; i++)
            all = v->legs.n[a][i] + v->legs.n[b][i] + v->legs.n[c][i] == 0;
        if (all)
            return c;
    }
    return -1;
}

/* Could they be two of a triad? Their sum has to be in the orbit. */
static bool in_orbit(const lat_gluon_momenta *m, const lat_gluon_orbit *o, const int *a,
                     const int *b)
{
    int n[LAT_MAX_DIMS] = {0};
    for (int i = 0; i < m->nd; i++)
        n[i] = a[i] + b[i];
    lat_gluon_representative(m, n);
    return !memcmp(n, o->n, sizeof n);
}

static int find_triads(lat_gluon_vertices *v, const lat_gluon_momenta *m)
{
    for (size_t o = 0; o < m->orbits; o++)
        for (int a = v->first[o], last = v->first[o + 1]; a < last; a++)
            for (int b = a + 1; b < last; b++) {
                const int c = m->orbit[o].phat2 > 0
                                      && in_orbit(m, &m->orbit[o], v->legs.n[a], v->legs.n[b])
                                  ? third(v, m->nd, last, a, b)
                                  : -1;
                if (c < 0)
                    continue;
                if (lat_grow(&v->triads, (long)v->triad_count, sizeof *v->triads, "vertices"))
                    return -1;
                v->triads[v->triad_count++] = (lat_gluon_triad){.leg = {a, b, c}};
            }
    return 0;
}

static int legs_new(lat_gluon_vertices *v, const lat_gluon_momenta *m, int nc)
{
    if (m->time >= 0)
        return lat_fail("--vertex: expected Landau gauge, found Coulomb gauge");
    if (m->nd < 3)
        return lat_fail("--vertex: expected three dimensions at least, found %d", m->nd);
    if (legs_alloc(v, m, nc))
        return -1;
    int *next = lat_alloc(m->orbits, sizeof *next, "legs of vertices");
    if (!next)
        return -1;
    memcpy(next, v->first, m->orbits * sizeof *next);
    for (size_t h = 0; h < m->half; h++) {
        const size_t o = m->of[h];
        int n[LAT_MAX_DIMS];
        if (!has_legs(v, m, &m->orbit[o]))
            continue;
        lat_gluon_momentum(m, h, n);
        add_leg(v, next[o]++, m, h, false);
        if (lat_gluon_weight(m, n) == 2)
            add_leg(v, next[o]++, m, h, true);
    }
    free(next);
    return find_triads(v, m);
}

/* ---- vertices -------------------------------------------------------------------------------- */

void lat_gluon_vertices_free(lat_gluon_vertices *v)
{
    LAT_FREE(v->legs.n, v->legs.h, v->legs.minus, v->legs.a, v->first, v->triads, v->row, v->each);
    *v = (lat_gluon_vertices){.row = NULL};
}

/* The amputated vertex and the coupling, docs/vertex.md. */
static void derive(lat_gluon_row *r)
{
    double *v = r->value;
    const double propagators = v[LAT_GLUON_DP] * v[LAT_GLUON_DP]
                               * (r->soft ? v[LAT_GLUON_D0] : v[LAT_GLUON_DP]);
    v[LAT_GLUON_GAMMA] = v[LAT_GLUON_T] / propagators;
    v[LAT_GLUON_COUPLING] = pow(r->o->phat2, 1.5) * v[LAT_GLUON_T]
                            / (r->soft ? v[LAT_GLUON_D0] * sqrt(v[LAT_GLUON_DP])
                                       : pow(v[LAT_GLUON_DP], 1.5));
}

/* The orbit of the first triad from number t on; or the number of orbits. */
static size_t triad_orbit(const lat_gluon_vertices *v, const lat_gluon_momenta *m, size_t t)
{
    return t < v->triad_count ? m->of[v->legs.h[v->triads[t].leg[0]]] : m->orbits;
}

int lat_gluon_vertices_new(lat_gluon_vertices *v, const lat_gluon_momenta *m, int nc, long largest,
                           const lat_gluon_cuts *cuts)
{
    v->largest = largest;
    v->cuts = *cuts;
    if (legs_new(v, m, nc))
        return -1;
    if (!(v->row = lat_alloc(2 * m->orbits, sizeof *v->row, "vertices")))
        return -1;
    size_t t = 0;
    for (size_t o = 0; o < m->orbits; o++) {
        const int members = v->first[o + 1] - v->first[o];
        const size_t before = t;
        if (members == 0 || m->orbit[o].phat2 == 0)
            continue;
        v->row[v->rows++] = (lat_gluon_row){.o = &m->orbit[o], .soft = true, .members = members};
        while (triad_orbit(v, m, t) == o)
            t++;
        if (t > before)
            v->row[v->rows++] = (lat_gluon_row){.o = &m->orbit[o], .members = (long)(t - before)};
    }
    return v->rows > 0 ? 0
                       : lat_fail("--vertex: expected momenta below the edge of the zone, within "
                                  "the cuts, with n^2 up to %ld, found none",
                                  largest);
}

int lat_gluon_vertices_measure(lat_gluon_vertices *v, const lat_gluon_momenta *m, int nc)
{
    lat_gluon_legs g = {.nc = nc,
                        .nd = m->nd,
                        .sites = (double)m->sites,
                        .n = (const int(*)[LAT_MAX_DIMS])v->legs.n,
                        .a = v->legs.a};
    memcpy(g.extent, m->extent, sizeof g.extent);
    double *soft = lat_alloc((size_t)v->legs.count, sizeof *soft, "vertices");
    if (!soft)
        return -1;
#pragma omp parallel for schedule(static)
    for (int leg = 1; leg < v->legs.count; leg++)
        soft[leg] = lat_gluon_soft(&g, leg);
#pragma omp parallel for schedule(static)
    for (size_t t = 0; t < v->triad_count; t++)
        lat_gluon_symmetric(&g, v->triads[t].leg, v->triads[t].value);
    size_t t = 0;
    for (int i = 0; i < v->rows; i++) {
        lat_gluon_row *r = &v->row[i];
        const int first = v->first[r->o - m->orbit];
        double sum[2] = {0};
        for (long k = 0; k < r->members; k++) {
            sum[0] += r->soft ? soft[first + k] : v->triads[t].value[0];
            sum[1] += r->soft ? NAN : v->triads[t++].value[1];
        }
        r->value[LAT_GLUON_T] = sum[0] / (double)r->members;
        r->value[LAT_GLUON_S] = sum[1] / (double)r->members;
        r->value[LAT_GLUON_DP] = r->o->d;
        r->value[LAT_GLUON_D0] = m->orbit[0].d;
        derive(r);
    }
    free(soft);
    return 0;
}

int lat_gluon_vertices_keep(lat_gluon_vertices *v)
{
    const size_t block = (size_t)v->rows * LAT_GLUON_AVERAGED;
    if (lat_grow(&v->each, v->configs, block * sizeof *v->each, "vertices of all configurations"))
        return -1;
    double *each = v->each + (size_t)v->configs++ * block;
    for (int i = 0; i < v->rows; i++, each += LAT_GLUON_AVERAGED)
        memcpy(each, v->row[i].value, LAT_GLUON_AVERAGED * sizeof *each);
    return 0;
}

/* The mean over all configurations but number `out` (-1: over all). */
static void row_mean(const lat_gluon_vertices *v, int i, long out, lat_gluon_row *r)
{
    const double n = (double)(out < 0 ? v->configs : v->configs - 1);
    for (int k = 0; k < LAT_GLUON_AVERAGED; k++) {
        r->value[k] = 0;
        for (long c = 0; c < v->configs; c++)
            r->value[k] += c == out ? 0 : v->each[(c * v->rows + i) * LAT_GLUON_AVERAGED + k] / n;
    }
    derive(r);
}

void lat_gluon_vertices_mean(lat_gluon_vertices *v)
{
    const double n = (double)v->configs;
    for (int i = 0; i < v->rows; i++) {
        lat_gluon_row *r = &v->row[i], without = *r;
        double sum[LAT_GLUON_VALUES] = {0}, square[LAT_GLUON_VALUES] = {0};
        row_mean(v, i, -1, r);
        for (long out = 0; out < v->configs && v->configs > 1; out++) {
            row_mean(v, i, out, &without);
            for (int k = 0; k < LAT_GLUON_VALUES; k++) { /* from the mean: no cancellation */
                const double d = without.value[k] - r->value[k];
                sum[k] += d;
                square[k] += d * d;
            }
        }
        for (int k = 0; k < LAT_GLUON_VALUES; k++)
            r->error[k] = v->configs > 1 && !isnan(r->value[k])
                              ? sqrt(fmax(square[k] - sum[k] * sum[k] / n, 0) * (n - 1) / n)
                              : NAN;
    }
}
