/* SPDX-License-Identifier: BSD-3-Clause */
/* links.c: links in fewer reals. */
#include "dirac/links.h"

#include <complex.h>
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "dirac/cpu/host_links.h"
#include "lattice/iterate.h"
#include "site/sun.h"
#include "vector/temporal.h"

/* ---- angles ---------------------------------------------------------------------------------- */

/* The angle of z, in units of 2 pi. */
static double fraction(double complex z)
{
    const double v = z == 0 ? 0 : carg(z) / (2 * M_PI), w = v < 0 ? v + 1 : v;
    return w < 1 ? w : 0;
}

static void to_angles(const double *m, double *angle)
{
    const double complex *u = (const double complex *)(const void *)m;
    /* theta_1 from the middle of row 1, theta_2 from its ends, theta_3 from the middle column. */
    const double c1 = hypot(cabs(u[0]), cabs(u[2]));
    angle[0] = atan2(cabs(u[1]), c1) / (2 * M_PI);
    angle[1] = atan2(cabs(u[2]), cabs(u[0])) / (2 * M_PI);
    angle[2] = atan2(cabs(u[7]), cabs(u[4])) / (2 * M_PI);
    angle[3] = fraction(u[0]);
    angle[4] = fraction(u[4]);
    angle[5] = fraction(u[1]);
    angle[6] = fraction(u[2]);
    angle[7] = fraction(u[7]);
}

static void of_angles(const double *angle, double *m)
{
    double complex *u = (double complex *)(void *)m, f[5];
    double c[3], s[3];
    for (int i = 0; i < 3; i++) {
        c[i] = cos(2 * M_PI * angle[i]);
        s[i] = sin(2 * M_PI * angle[i]);
    }
    for (int i = 0; i < 5; i++)
        f[i] = cexp(2 * M_PI * I * angle[3 + i]);
    u[0] = c[0] * c[1] * f[0];
    u[1] = s[0] * f[2];
    u[2] = c[0] * s[1] * f[3];
    u[3] = s[1] * s[2] * conj(f[3] * f[4]) - s[0] * c[1] * c[2] * f[0] * f[1] * conj(f[2]);
    u[4] = c[0] * c[2] * f[1];
    u[5] = -c[1] * s[2] * conj(f[0] * f[4]) - s[0] * s[1] * c[2] * f[1] * conj(f[2]) * f[3];
}

/* ---- any number of reals --------------------------------------------------------------------- */

void lat_link_pack(int nc, int reals, const double *m, double *packed)
{
    if (nc == 3 && reals == 8)
        to_angles(m, packed);
    else
        memcpy(packed, m, (size_t)reals * sizeof *m);
}

static void unpack(int nc, int reals, const double *packed, double *m)
{
    if (nc == 3 && reals == 8)
        of_angles(packed, m);
    else
        memcpy(m, packed, (size_t)reals * sizeof *m);
    if (reals < 2 * nc * nc)
        lat_sun_complete(nc, m);
}

/* ---- which ----------------------------------------------------------------------------------- */

/* The largest change of an element of a matrix, or of its adjoint, from packing to 8 angles. */
static double by_angles(const double *m)
{
    double dagger[18], packed[8], back[18], off = 0;
    lat_sun_dag(3, dagger, m);
    for (int k = 0; k < 2; k++) {
        const double *const v = k ? dagger : m;
        lat_link_pack(3, 8, v, packed);
        unpack(3, 8, packed, back);
        for (int e = 0; e < 18; e++)
            off = lat_worse(off, fabs(back[e] - v[e]));
    }
    return off;
}

enum { SOME = 4 }; /* links at a time */

/* The largest change of some links: of U and of U^+, as backward links may be packed. (The last row
 * of U may follow from the others, and that of U^+ not: links that were rounded to single precision
 * and completed in double.) Rows that are kept do not change; of numbers that are not finite there,
 * the row that follows from them is not finite either. */
static double change(const lat_link_lanes *host, const lat_field *u, int reals, size_t first,
                     size_t count)
{
    double off = 0, m[LAT_SUN_REALS];
    if (u->head.nc != 3 || reals != 8)
        return host->follows(u, u->head.nc, first, count);
    for (size_t i = 0; i < count; i++) {
        lat_load(u, first + i, 3, m);
        off = lat_worse(off, by_angles(m));
    }
    return off;
}

/* The largest change of own links, and where. */
static double worst_link(const lat_field *u, int reals, size_t *where)
{
    const lat_link_lanes *host = lat_link_lanes_widest();
    const size_t links = lat_field_matrices(u);
    double worst = 0;
    *where = 0;
#pragma omp parallel
    {
        double mine = 0;
        size_t at = 0;
#pragma omp for schedule(static) nowait
        for (size_t i = 0; i < links; i += SOME) {
            const double off = change(host, u, reals, i, links - i < SOME ? links - i : SOME);
            if (off > mine || (off != off && mine == mine)) {
                mine = off;
                at = i;
            }
        }
#pragma omp critical
        if (mine != mine ? worst == worst || at < *where
                         : mine > worst || (mine == worst && at < *where)) {
            worst = mine;
            *where = at;
        }
    }
    for (size_t i = *where; i < *where + SOME && i < links; i++) {
        const double off = change(host, u, reals, i, 1);
        if (off == worst || off != off) {
            *where = i;
            break;
        }
    }
    return worst;
}

int lat_link_reals(const lat_field *u, lat_storage storage, int asked, bool unitary)
{
    const int nc = u->head.nc, all = 2 * nc * nc, few = 2 * nc * (nc - 1);
    if (asked && asked != all && asked != few && !(nc == 3 && asked == 8))
        return lat_fail("%d reals a link: expected %s of SU(%d)", asked,
                        nc == 3 ? "18, 12 or 8" : "8 or 4", nc);
    if (asked == all)
        return all;
    if (!asked && unitary && nc == 3)
        return few;
    const int reals = asked ? asked : few;
    const double bound = lat_link_bound(storage);
    size_t where;
    const double own = worst_link(u, reals, &where);
    double worst = own;
    const lat_comm *comm = u->comm ? u->comm : &lat_comm_self;
    if (comm->max(comm, &worst, 1))
        return -1;
    if (worst <= bound)
        return reals;
    if (!asked)
        return all;
    char text[LAT_POSITION_TEXT];
    return own == worst || own != own
               ? lat_fail("link at %s: %d reals a link need SU(%d) to %.1e, found %.1e",
                          lat_position_text(&u->head,
                                            lat_field_site(u, where / (size_t)u->head.geom.nd)
                                                    * (size_t)u->head.geom.nd
                                                + where % (size_t)u->head.geom.nd,
                                            text),
                          asked, nc, bound, worst)
               : lat_fail(LAT_ANOTHER_FAILED);
}
