/* SPDX-License-Identifier: BSD-3-Clause */
/* kinematics.c: momenta of quark propagators and vertices. */
#include "kinematics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "smear/smear.h"

/* The distance from the nearest diagonal, in units of 2 pi / X. */
static double distance(const double p[4], int X)
{
    double along = 0, square = 0;
    for (int mu = 0; mu < 4; mu++) {
        along += fabs(p[mu]) / 2;
        square += p[mu] * p[mu];
    }
    return sqrt(fmax(square - along * along, 0)) * X / (2 * M_PI);
}

lat_kinematics lat_kinematics_of(const lat_header *head, const double n1[4], const double n2[4])
{
    const lat_fermion *f = &head->quark.fermion;
    lat_kinematics k = {.mass = f->mass, .tree = f->mass};
    double p[2][4];
    for (int i = 0; i < 8; i++) {
        const int mu = i % 4, which = i / 4, L = head->geom.dims[mu];
        const double w = mu < 3 ? f->nu / f->xi : 1, n = which ? n2[mu] : n1[mu];
        const double angle = 2 * M_PI * n / L;
        p[which][mu] = angle;
        k.n[which][mu] = n;
        k.pbar[which][mu] = 2 * fabs(n) == L ? 0 : w * sin(angle); /* sin pi */
        k.square[which] += angle * angle;
        if (which)
            continue;
        k.pbar2 += k.pbar[0][mu] * k.pbar[0][mu];
        k.phat2 += 4 * sin(angle / 2) * sin(angle / 2);
        k.tree += w * (1 - cos(angle));
    }
    for (int mu = 0; mu < 4; mu++) {
        k.q[mu] = p[0][mu] - p[1][mu];
        k.q2 += k.q[mu] * k.q[mu];
        k.ward.qhat[mu] = 2 * sin(k.q[mu] / 2);
        k.weight[mu] = mu < 3 ? f->nu / f->xi : 1;
        k.middle[mu] = (p[0][mu] + p[1][mu]) / 2;
    }
    k.distance = distance(p[0], head->geom.dims[0]);
    if (strcmp(f->name, "wilson"))
        k.tree = k.mass = NAN;
    return k;
}

void lat_kinematics_zone(const lat_header *head, double n[4])
{
    for (int mu = 0; mu < 4; mu++) {
        const int L = head->geom.dims[mu];
        n[mu] -= L * ceil(n[mu] / L - .5);
    }
}

/* The same text on this info line, or none in both? */
static bool same_info(const lat_header *a, const lat_header *b, const char *key)
{
    const char *x = lat_info_get(a, key), *y = lat_info_get(b, key);
    return x && y ? !strcmp(x, y) : x == y;
}

bool lat_kinematics_same_quark(const lat_header *a, const lat_header *b)
{
    lat_fermion f = a->quark.fermion, g = b->quark.fermion;
    memcpy(f.boundary, g.boundary, sizeof f.boundary);
    f.twist = fabs(f.twist);
    g.twist = fabs(g.twist);
    return lat_fermion_same(&f, &g) && same_info(a, b, LAT_SMEARED_LINKS)
           && same_info(a, b, LAT_INFO_PROPAGATOR);
}

int lat_momenta_add(lat_momenta *m, const double n[4])
{
    const int last = m->spatials - 1;
    if (lat_grow(&m->n, m->count, sizeof *m->n, "momenta")
        || lat_grow(&m->index, m->count, sizeof *m->index, "momenta"))
        return -1;
    if (last < 0 || memcmp(m->spatial[last], n, sizeof *m->spatial)) {
        if (lat_grow(&m->spatial, m->spatials, sizeof *m->spatial, "momenta"))
            return -1;
        memcpy(m->spatial[m->spatials++], n, sizeof *m->spatial);
    }
    memcpy(m->n[m->count], n, sizeof *m->n);
    m->index[m->count++] = m->spatials - 1;
    return 0;
}

/* All of -L/2 < n <= L/2 along one axis with p^2 up to `most`: how many. */
static int along_axis(const lat_header *head, int mu, double most, double *n)
{
    const int L = head->geom.dims[mu];
    const double half = head->quark.fermion.boundary[mu].theta / 2;
    int count = 0;
    for (int k = -L - 1; k <= L + 1; k++) {
        const double v = k + half, p = 2 * M_PI * v / L;
        if (v > -.5 * L + 1e-9 && v <= .5 * L + 1e-9 && p * p <= most + 1e-9)
            n[count++] = v;
    }
    return count;
}

int lat_momenta_upto(lat_momenta *m, const lat_header *head, double most, double width)
{
    double *axis[4] = {NULL};
    int count[4], rc = 0;
    for (int mu = 0; mu < 4; mu++) {
        axis[mu] = lat_alloc((size_t)(2 * head->geom.dims[mu] + 3), sizeof(double), "momenta");
        rc = rc || !axis[mu] ? -1 : 0;
        count[mu] = rc ? 0 : along_axis(head, mu, most, axis[mu]);
    }
    const long all = (long)count[0] * count[1] * count[2] * count[3];
    for (long i = 0; rc == 0 && i < all; i++) { /* t fastest: a spatial momentum comes once */
        double n[4];
        long rest = i;
        for (int mu = 3; mu >= 0; mu--, rest /= count[mu + 1])
            n[mu] = axis[mu][rest % count[mu]];
        const lat_kinematics k = lat_kinematics_of(head, n, n);
        if (k.square[0] <= most + 1e-9 && k.distance <= width + 1e-6)
            rc = lat_momenta_add(m, n);
    }
    for (int mu = 0; mu < 4; mu++)
        free(axis[mu]);
    return rc;
}

void lat_momenta_free(lat_momenta *m)
{
    LAT_FREE(m->n, m->spatial, m->index);
    *m = (lat_momenta){.n = NULL};
}
