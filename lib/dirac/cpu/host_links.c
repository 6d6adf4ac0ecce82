/* SPDX-License-Identifier: BSD-3-Clause */
/* host_links.c: a block of links at a time. */
#include "dirac/cpu/host_links.h"

#include <math.h>
#include "dirac/cpu/hop_table.h"
#include "dirac/links.h"
#include "vector/cpu/four_lanes.h"

enum { LANES = 16 }; /* of a block, at most */

/* ---- matrices -------------------------------------------------------------------------------- */

/* c = a b, or a b^+. */
LAT_INLINE void multiply(int n, const four *a, const four *b, bool dagger, four *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            four re = {0}, im = {0};
            for (int k = 0; k < n; k++) {
                const four *x = a + 2 * (i * n + k), *y = b + 2 * (dagger ? j * n + k : k * n + j);
                const four v = dagger ? -y[1] : y[1];
                re += x[0] * y[0] - x[1] * v;
                im += x[0] * v + x[1] * y[0];
            }
            c[2 * (i * n + j)] = re;
            c[2 * (i * n + j) + 1] = im;
        }
}

/* ---- links ----------------------------------------------------------------------------------- */

/* Four sites, and G there. */
typedef struct sites {
    size_t at[SIDE];
    four g[MATRIX];
} sites;

/* U_mu(x), or U_mu(x-mu)^+, x of the sites. */
LAT_INLINE void hop_links(const lat_host_links *t, int n, const sites *s, int mu, bool backward,
                          four *m)
{
    size_t next[SIDE], link[SIDE];
    four there[MATRIX], v[MATRIX];
    for (int l = 0; l < SIDE; l++) {
        next[l] = t->g || backward ? lat_field_next(t->u, s->at[l], mu, backward ? -1 : 1) : 0;
        link[l] = (backward ? next[l] : s->at[l]) * 4 + (size_t)mu;
    }
    load_matrices(t->u, n, link, m);
    if (t->g) {
        load_matrices(t->g, n, next, there);
        multiply(n, backward ? there : s->g, m, false, v);
        multiply(n, v, backward ? s->g : there, true, m);
    }
    for (int a = 0; a < n && backward; a++)
        for (int b = 0; b <= a; b++) {
            four *const x = m + 2 * (a * n + b), *const y = m + 2 * (b * n + a);
            const four re = x[0], im = x[1];
            x[0] = y[0];
            x[1] = -y[1];
            y[0] = re;
            y[1] = -im;
        }
}

/* m = 1 in these lanes. Are all 1 then, to the last bit? */
LAT_INLINE bool are_ones(int n, which ones, four *m)
{
    which differ = {0};
    for (int k = 0; k < 2 * n * n; k++) {
        const four one = k % (2 * n + 2) == 0 ? (four){1, 1, 1, 1} : (four){0};
        m[k] = (four)(((which)one & ones) | ((which)m[k] & ~ones));
        differ |= m[k] != one;
    }
    return !any(differ);
}

LAT_INLINE void put_links(const lat_host_links *t, int n, int d, int64_t block, int first, four *m)
{
    const lat_lane_view to = t->to[d >= 2];
    const int element = (d < 2 ? d : d - 2) * t->reals;
    if (n == 3 && t->reals == 8) {
        for (int l = 0; l < SIDE && first + l < to.lanes; l++) {
            double link[MATRIX], packed[8];
            for (int k = 0; k < 2 * n * n; k++)
                link[k] = m[k][l];
            lat_link_pack(n, t->reals, link, packed);
            lat_lane_put_row(to, block, first + l, element, t->reals, packed);
        }
        return;
    }
    for (int k = 0; k < t->reals; k++)
        put_vector(to, block, first, element + k, m[k]);
}

LAT_INLINE unsigned links_of(const lat_host_links *t, int n, const int64_t *site, int64_t block)
{
    const size_t slice = lat_slice_sites(&t->u->head);
    const int slices = lat_slices(&t->u->head), lanes = t->to[0].lanes;
    four of_t[2][LANES / SIDE][MATRIX];
    unsigned unit = 3;
    for (int first = 0; first < lanes; first += SIDE) {
        int64_t own[SIDE];
        sites s;
        which idle, at[2];
        sites_of(t->to[0], site, first, own);
        for (int l = 0; l < SIDE; l++) {
            const int time = own[l] < 0 ? 0 : (int)((size_t)own[l] / slice);
            s.at[l] = own[l] < 0 ? 0 : lat_field_index(t->u, (size_t)own[l]);
            idle[l] = -(own[l] < 0);
            at[0][l] = idle[l] | -(t->unit && time != slices - 1);
            at[1][l] = idle[l] | -(t->unit && time != 0);
        }
        if (t->g)
            load_matrices(t->g, n, s.at, s.g);
        for (int d = 0; d < 2; d++) {
            four *const m = of_t[d][first / SIDE];
            if (at[d][0] & at[d][1] & at[d][2] & at[d][3])
                memset(m, 0, sizeof of_t[d][0]);
            else
                hop_links(t, n, &s, lat_hop_axis(d), d & 1, m);
            if (!are_ones(n, at[d], m))
                unit &= ~(1u << d);
        }
        for (int d = 2; d < 8; d++) {
            four m[MATRIX];
            hop_links(t, n, &s, lat_hop_axis(d), d & 1, m);
            are_ones(n, idle, m);
            put_links(t, n, d, block, first, m);
        }
    }
    for (int d = 0; d < 2; d++)
        for (int first = 0; first < lanes && !(unit & 1u << d); first += SIDE)
            put_links(t, n, d, block, first, of_t[d][first / SIDE]);
    return unit;
}

/* ---- rows that follow from others ------------------------------------------------------------ */

LAT_INLINE four modulus(four v) { return (four)((which)v & INT64_MAX); }

/* The largest difference of the last row from conj(row 1 x row 2), of SU(2) from (- conj(b),
 * conj(a)); or, `columns`, of the last column. Lanes of *none where a number is none. */
LAT_INLINE four last_row(int n, const four *m, bool columns, which *none)
{
    const int down = columns ? 2 : 2 * n, right = columns ? 2 * n : 2;
    four worst = {0};
    for (int j = 0; j < n; j++) {
        const four *last = m + (n - 1) * down + j * right;
        four re, im;
        if (n == 2) {
            const four *a = m + (1 - j) * right;
            re = j == 0 ? -a[0] : a[0];
            im = j == 0 ? a[1] : -a[1];
        } else {
            const four *a = m + (j + 1) % 3 * right, *b = m + (j + 2) % 3 * right, *c = b + down,
                       *d = a + down;
            re = (a[0] * c[0] - a[1] * c[1]) - (b[0] * d[0] - b[1] * d[1]);
            im = (b[0] * d[1] + b[1] * d[0]) - (a[0] * c[1] + a[1] * c[0]);
        }
        const four off[2] = {modulus(re - last[0]), modulus(im - last[1])};
        for (int k = 0; k < 2; k++) {
            const which more = off[k] > worst;
            *none |= off[k] != off[k];
            worst = (four)(((which)off[k] & more) | ((which)worst & ~more));
        }
    }
    return worst;
}

LAT_INLINE double follows_of(const lat_field *u, int n, size_t first, size_t count)
{
    size_t index[SIDE];
    four m[MATRIX];
    which none = {0};
    double worst = 0;
    for (size_t l = 0; l < SIDE; l++)
        index[l] = first + (l < count ? l : 0);
    load_matrices(u, n, index, m);
    const four off[2] = {last_row(n, m, false, &none), last_row(n, m, true, &none)};
    for (int l = 0; l < SIDE; l++)
        worst = fmax(worst, fmax(off[0][l], off[1][l]));
    return any(none) ? NAN : worst;
}

/* ---- vector lengths -------------------------------------------------------------------------- */

/* N known to the compiler. */
#define VARIANT(isa, attribute) \
    attribute static unsigned links_##isa(const lat_host_links *t, const int64_t *site, int64_t b) \
    { \
        return t->u->head.nc == 3 ? links_of(t, 3, site, b) : links_of(t, 2, site, b); \
    } \
    attribute static double follows_##isa(const lat_field *u, int nc, size_t first, size_t count) \
    { \
        return nc == 3 ? follows_of(u, 3, first, count) : follows_of(u, 2, first, count); \
    } \
    static const lat_link_lanes lanes_##isa = {links_##isa, follows_##isa};

LAT_ISA_EXPAND(VARIANT, LAT_FMA)

const lat_link_lanes *lat_link_lanes_widest(void)
{
    static const lat_link_lanes *const lanes[] = LAT_ISA_EACH(&lanes_, );
    return lanes[lat_isa_widest()];
}
