/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_momenta.c: the momenta of --momenta. */
#include "ghost_measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"

/* sum_mu w_mu 4 sin^2(pi n_mu / L_mu). */
static double k_squared(const lat_ghost_measured *m, const int *n)
{
    double sum = 0;
    for (int mu = 0; mu < m->f->head.geom.nd; mu++) {
        const double s = 2 * sin(M_PI * n[mu] / m->f->head.geom.dims[mu]);
        sum += m->c.weight[mu] * s * s;
    }
    return sum;
}

static bool alike(const lat_ghost_measured *m, int i, int j)
{
    return m->f->head.geom.dims[i] == m->f->head.geom.dims[j] && i != m->c.time && j != m->c.time
           && m->c.weight[i] == m->c.weight[j];
}

/* Is n the one that stands for others? Of n and -n that whose first component which is not its own
 * negative is positive; of an orbit that without negative components, falling along axes alike. */
static bool stands(const lat_ghost_measured *m, const int *n)
{
    const lat_geometry *geom = &m->f->head.geom;
    for (int i = 0; i < geom->nd; i++)
        for (int j = i; j < geom->nd && !m->all_orbits; j++)
            if (n[i] < 0 || (alike(m, i, j) && n[i] < n[j]))
                return false;
    for (int i = 0; i < geom->nd; i++)
        if (n[i] != 0 && 2 * n[i] != geom->dims[i])
            return n[i] > 0;
    return true;
}

static int compare(const void *left, const void *right)
{
    const lat_ghost_row *a = left, *b = right;
    if (fabs(a->k2 - b->k2) > 1e-12 * a->k2)
        return a->k2 < b->k2 ? -1 : 1;
    return -memcmp(a->n, b->n, sizeof a->n);
}

/* The next n of a cube -(size) .. size in all directions but time; false after the last. */
static bool next(const lat_ghost_measured *m, int size, int *n)
{
    for (int mu = 0; mu < m->f->head.geom.nd; mu++) {
        if (mu == m->c.time)
            continue;
        if (n[mu]++ < size)
            return true;
        n[mu] = -size;
    }
    return false;
}

/* Is n in the Brillouin zone, not zero, n^2 at most `most`? */
static bool inside(const lat_ghost_measured *m, const int *n, int most)
{
    int square = 0;
    for (int mu = 0; mu < m->f->head.geom.nd; mu++) {
        const int extent = m->f->head.geom.dims[mu];
        if (2 * n[mu] > extent || 2 * n[mu] <= -extent)
            return false;
        square += n[mu] * n[mu];
    }
    return square > 0 && square <= most;
}

static int momenta_below(lat_ghost_measured *m, int most)
{
    const int size = (int)sqrt(most);
    for (int pass = 0; pass < 2; pass++) {
        int n[LAT_MAX_DIMS] = {0};
        for (int mu = 0; mu < m->f->head.geom.nd; mu++)
            n[mu] = mu == m->c.time ? 0 : -size;
        m->count = 0;
        do {
            if (!inside(m, n, most) || !stands(m, n))
                continue;
            if (pass)
                memcpy(m->rows[m->count].n, n, sizeof n);
            m->count++;
        } while (next(m, size, n));
        if (pass == 0 && !(m->rows = calloc((size_t)m->count + 1, sizeof *m->rows)))
            return lat_fail("out of memory: %d momenta", m->count);
    }
    return m->count > 0
               ? 0
               : lat_fail("--momenta %s: the lattice has no momentum but 0 there", m->momenta);
}

/* "1,0,0,0" or more of them, with "/" between. */
static int momenta_listed(lat_ghost_measured *m)
{
    const lat_geometry *geom = &m->f->head.geom;
    const int nd = geom->nd;
    size_t most = 1;
    for (const char *c = m->momenta; *c; c++)
        most += *c == '/';
    if (!(m->rows = calloc(most, sizeof *m->rows)))
        return lat_fail("out of memory: momenta");
    const char *at = m->momenta;
    for (m->count = 0; (size_t)m->count < most; m->count++, at++) {
        int *n = m->rows[m->count].n;
        for (int mu = 0; mu < nd; mu++, at += mu < nd) {
            char *end;
            const long value = strtol(at, &end, 10);
            if (end == at || value < -65535 || value > 65535
                || *end
                       != (mu + 1 < nd                   ? ','
                           : (size_t)m->count + 1 < most ? '/'
                                                         : '\0'))
                return lat_fail_usage("--momenta %s: expected a number, or %d integers with commas "
                                      "between for each momentum and / between these",
                                      m->momenta, nd);
            n[mu] = (int)value;
            at = end;
        }
        if (!(k_squared(m, n) > 1e-12) || (m->c.time >= 0 && n[m->c.time]))
            return lat_fail_usage(
                "--momenta %s: momentum number %d is 0%s, where G is not defined", m->momenta,
                m->count + 1, m->c.time < 0 ? "" : " in a slice, or has a component along time");
        for (int i = 0; i < m->count; i++)
            if (lat_same_modulo(geom, nd, m->rows[i].n, n))
                return lat_fail_usage("--momenta %s: expected different momenta modulo the "
                                      "extents, found numbers %d and %d the same",
                                      m->momenta, i + 1, m->count + 1);
    }
    return 0;
}

int lat_ghost_momenta(lat_ghost_measured *m)
{
    char *end;
    const long most = strtol(m->momenta, &end, 10);
    const bool number = end != m->momenta && !*end;
    if (number && (most < 1 || most > 1000))
        return lat_fail_usage("--momenta %s: expected n^2 from 1 to 1000", m->momenta);
    if (!number && lat_opt_given("orbits"))
        return lat_fail_usage("--orbits is for momenta with n^2 up to a number, not for a list, "
                              "found --momenta %s",
                              m->momenta);
    if (number ? momenta_below(m, (int)most) : momenta_listed(m))
        return -1;
    for (int i = 0; i < m->count; i++)
        m->rows[i].k2 = k_squared(m, m->rows[i].n);
    if (number)
        qsort(m->rows, (size_t)m->count, sizeof *m->rows, compare);
    return 0;
}
