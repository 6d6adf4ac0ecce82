/* SPDX-License-Identifier: BSD-3-Clause */
/* momenta.c: orbits of momenta under the symmetries of the lattice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "momenta.h"

void lat_gluon_momenta_free(lat_gluon_momenta *m)
{
    LAT_FREE(m->of, m->orbit);
    *m = (lat_gluon_momenta){.of = NULL};
}

void lat_gluon_momentum(const lat_gluon_momenta *m, size_t h, int n[LAT_MAX_DIMS])
{
    const size_t first = (size_t)m->extent[0] / 2 + 1;
    n[0] = (int)(h % first);
    h /= first;
    for (int i = 1; i < m->nd; i++) {
        n[i] = (int)(h % (size_t)m->extent[i]);
        h /= (size_t)m->extent[i];
        n[i] -= 2 * n[i] > m->extent[i] ? m->extent[i] : 0;
    }
}

long lat_gluon_weight(const lat_gluon_momenta *m, const int *n)
{
    return n[0] == 0 || 2 * n[0] == m->extent[0] ? 1 : 2;
}

/* Is p = -p, modulo 2 pi? */
static bool is_own_negative(const lat_gluon_momenta *m, const int *n)
{
    for (int i = 0; i < m->nd; i++)
        if (n[i] != 0 && 2 * abs(n[i]) != m->extent[i])
            return false;
    return true;
}

void lat_gluon_representative(const lat_gluon_momenta *m, int *n)
{
    for (int i = 0; i < m->nd; i++)
        n[i] = abs(n[i]);
    for (int pass = 0; pass < m->nd; pass++)
        for (int i = 0; i < m->nd; i++)
            for (int j = i + 1; j < m->nd; j++)
                if (m->extent[i] == m->extent[j] && n[i] < n[j]) {
                    const int larger = n[j];
                    n[j] = n[i];
                    n[i] = larger;
                }
}

/* Of p and -p, whose propagators are one number, n becomes the one whose first component that is
 * not its own negative is positive. */
static void choose_sign(const lat_gluon_momenta *m, int *n)
{
    int i = 0;
    while (i < m->nd && (n[i] == 0 || 2 * n[i] == m->extent[i]))
        i++;
    for (const bool flip = i < m->nd && n[i] < 0; flip && i < m->nd; i++)
        n[i] *= 2 * n[i] == m->extent[i] ? 1 : -1;
}

/* |p|, phat^2, and distance and angle from the nearest diagonal of the lattice of momenta, the
 * direction in which lattice artefacts are smallest (Leinweber et al., hep-lat/9811027). */
static void set_kinematics(const lat_gluon_momenta *m, lat_gluon_orbit *o)
{
    double p2 = 0, along = 0;
    for (int i = 0; i < m->nd; i++) {
        const double p = 2 * M_PI * abs(o->n[i]) / m->extent[i], s = 2 * sin(p / 2);
        o->phat2 += s * s;
        p2 += p * p;
        along += p / sqrt(m->nd);
    }
    o->p = sqrt(p2);
    const double away = sqrt(fmax(p2 - along * along, 0));
    o->distance = away / (2 * M_PI / m->extent[0]);
    o->angle = atan2(away, along) * 180 / M_PI;
}

typedef struct key {
    double phat2;
    int n[LAT_MAX_DIMS];
    size_t h;
} key;

static int compare(const void *left, const void *right)
{
    const key *a = left, *b = right;
    for (int i = 0; i < LAT_MAX_DIMS; i++)
        if (a->n[i] != b->n[i])
            return a->n[i] < b->n[i] ? -1 : 1;
    return 0;
}

static int rising(const void *left, const void *right)
{
    const lat_gluon_orbit *a = left, *b = right;
    if (fabs(a->phat2 - b->phat2) > 1e-12)
        return a->phat2 < b->phat2 ? -1 : 1;
    for (int i = LAT_MAX_DIMS - 1; i >= 0; i--)
        if (a->n[i] != b->n[i])
            return a->n[i] < b->n[i] ? -1 : 1;
    return 0;
}

/* Collects the momenta of `list` in orbits: m->orbit, in the order of their representatives, and
 * m->of. */
static int make_orbits(lat_gluon_momenta *m, key *list)
{
    qsort(list, m->half, sizeof *list, compare);
    m->orbits = 0;
    for (size_t i = 0; i < m->half; i++)
        m->orbits += i == 0 || compare(&list[i - 1], &list[i]);
    if (!(m->orbit = lat_alloc_zero(m->orbits, sizeof *m->orbit, "orbits of momenta")))
        return -1;
    lat_gluon_orbit *o = m->orbit - 1;
    for (size_t i = 0; i < m->half; i++) {
        int n[LAT_MAX_DIMS] = {0};
        if (i == 0 || compare(&list[i - 1], &list[i]))
            memcpy((++o)->n, list[i].n, sizeof o->n);
        lat_gluon_momentum(m, list[i].h, n);
        m->of[list[i].h] = (size_t)(o - m->orbit);
        o->members += lat_gluon_weight(m, n);
    }
    return 0;
}

/* Sorts the orbits by phat^2: number i becomes number to[i]. */
static int sort_orbits(lat_gluon_momenta *m)
{
    size_t *to = lat_alloc(m->orbits, sizeof *to, "orbits of momenta");
    if (!to)
        return -1;
    for (size_t i = 0; i < m->orbits; i++) {
        lat_gluon_orbit *o = &m->orbit[i];
        set_kinematics(m, o);
        o->independent = (long)i; /* its number before */
    }
    qsort(m->orbit, m->orbits, sizeof *m->orbit, rising);
    for (size_t i = 0; i < m->orbits; i++) {
        lat_gluon_orbit *o = &m->orbit[i];
        to[o->independent] = i;
        o->independent = is_own_negative(m, o->n) ? o->members : o->members / 2;
        if (!m->averaged)
            o->independent = 1;
    }
    for (size_t h = 0; h < m->half; h++)
        m->of[h] = to[m->of[h]];
    free(to);
    return 0;
}

int lat_gluon_momenta_new(lat_gluon_momenta *m, const lat_condition *c, const lat_geometry *geom,
                          bool averaged)
{
    *m = (lat_gluon_momenta){.geom = *geom,
                             .time = c->time,
                             .averaged = averaged,
                             .sites = 1,
                             .slices = (size_t)lat_condition_slices(c, geom)};
    for (int mu = 0; mu < geom->nd; mu++)
        if (mu != c->time) {
            m->axis[m->nd] = mu;
            m->extent[m->nd++] = geom->dims[mu];
            m->sites *= (size_t)geom->dims[mu];
        }
    m->half = m->sites / (size_t)m->extent[0] * ((size_t)m->extent[0] / 2 + 1);
    m->of = lat_alloc(m->half, sizeof *m->of, "momenta");
    key *list = lat_alloc(m->half, sizeof *list, "momenta");
    int rc = m->of && list ? 0 : -1;
    for (size_t h = 0; rc == 0 && h < m->half; h++) {
        list[h] = (key){.h = h};
        lat_gluon_momentum(m, h, list[h].n);
        if (m->averaged)
            lat_gluon_representative(m, list[h].n);
        else
            choose_sign(m, list[h].n);
    }
    rc = rc || make_orbits(m, list) || sort_orbits(m) ? -1 : 0;
    free(list);
    if (rc)
        lat_gluon_momenta_free(m);
    return rc;
}

bool lat_gluon_kept(const lat_gluon_orbit *o, const lat_gluon_cuts *cuts)
{
    /* The diagonal itself is at a distance of rounding. */
    return !(o->distance > cuts->cylinder + 1e-6)
           && !(o->phat2 > 0 && o->angle > cuts->cone + 1e-4);
}
