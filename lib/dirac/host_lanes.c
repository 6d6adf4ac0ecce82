/* SPDX-License-Identifier: BSD-3-Clause */
/* host_lanes.c: a block at a time. A row is a site's numbers in a host field; rows of four sites
 * become vectors, [number][lane], and back. */
#include "host_lanes.h"

#include <math.h>
#include <string.h>
#include "base/isa.h"
#include "hop_table.h"
#include "lattice/iterate.h"
#include "links.h"
#include "site/sun.h"

enum {
    SIDE = 4,
    LANES = 16 /* of a block, at most */,
    SPINOR = 24,
    MATRIX = 18 /* reals, at most */
};

/* Four lanes; the same where they lie in a field; which of them. */
typedef double four __attribute__((vector_size(8 * SIDE)));
typedef double four_doubles __attribute__((vector_size(8 * SIDE), aligned(8), may_alias));
typedef float four_floats __attribute__((vector_size(4 * SIDE), aligned(4), may_alias));
typedef int64_t which __attribute__((vector_size(8 * SIDE)));

/* ---- rows and lanes -------------------------------------------------------------------------- */

/* Four rows to four vectors, or back. */
LAT_INLINE void transpose(four v[SIDE])
{
    const four a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6),
               b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7),
               c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6),
               d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    v[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

LAT_INLINE void rows_to_vectors(const double *const row[SIDE], int n, four *to)
{
    int k = 0;
    for (; k + SIDE <= n; k += SIDE) {
        for (int l = 0; l < SIDE; l++)
            to[k + l] = *(const four_doubles *)(row[l] + k);
        transpose(to + k);
    }
    for (; k < n; k++)
        to[k] = (four){row[0][k], row[1][k], row[2][k], row[3][k]};
}

/* n is a multiple of SIDE. */
LAT_INLINE void vectors_to_rows(four *v, int n, double *const row[SIDE])
{
    for (int k = 0; k < n; k += SIDE) {
        transpose(v + k);
        for (int l = 0; l < SIDE; l++)
            *(four_doubles *)(row[l] + k) = v[k + l];
    }
}

/* Lanes first .. first+3 of an element; of a block of two lanes, both. */
LAT_INLINE void put_vector(lat_lane_view a, int64_t block, int first, int element, four v)
{
    const int64_t at = (block * a.elements + element) * a.lanes + first;
    if (a.real == 4)
        *(four_floats *)((float *)a.p + at) = __builtin_convertvector(v, four_floats);
    else if (a.lanes >= SIDE)
        *(four_doubles *)((double *)a.p + at) = v;
    else
        memcpy((double *)a.p + at, &v, sizeof(double) * (size_t)a.lanes);
}

LAT_INLINE four get_vector(lat_lane_view a, int64_t block, int first, int element)
{
    const int64_t at = (block * a.elements + element) * a.lanes + first;
    four v = {0};
    if (a.real == 4)
        v = __builtin_convertvector(*(const four_floats *)((const float *)a.p + at), four);
    else if (a.lanes >= SIDE)
        v = *(const four_doubles *)((const double *)a.p + at);
    else
        memcpy(&v, (const double *)a.p + at, sizeof(double) * (size_t)a.lanes);
    return v;
}

/* The sites of lanes first .. first+3: -1 beyond the last one. */
LAT_INLINE void sites_of(lat_lane_view a, const int64_t *site, int first, int64_t to[SIDE])
{
    for (int l = 0; l < SIDE; l++)
        to[l] = first + l < a.lanes ? site[first + l] : -1;
}

LAT_INLINE bool any(which w) { return (w[0] | w[1] | w[2] | w[3]) != 0; }

/* ---- matrices -------------------------------------------------------------------------------- */

/* Matrix index[l] of a field in lane l. */
LAT_INLINE void load_matrices(const lat_field *f, int n, const size_t index[SIDE], four *m)
{
    const int reals = 2 * n * n;
    const double *row[SIDE];
    double buffer[SIDE][MATRIX];
    for (int l = 0; l < SIDE; l++) {
        if (f->head.real == LAT_F64) {
            row[l] = (const double *)f->data + index[l] * (size_t)reals;
        } else {
            lat_load(f, index[l], n, buffer[l]);
            row[l] = buffer[l];
        }
    }
    rows_to_vectors(row, reals, m);
}

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

/* ---- spinors --------------------------------------------------------------------------------- */

/* v <- g v, or g^+ v; [spin][colour][re, im]. */
LAT_INLINE void turn(int n, const four *g, bool dagger, four *v)
{
    for (int spin = 0; spin < 4; spin++, v += 2 * n) {
        four old[2 * LAT_MAX_COLOURS];
        for (int k = 0; k < 2 * n; k++)
            old[k] = v[k];
        for (int i = 0; i < n; i++) {
            four re = {0}, im = {0};
            for (int j = 0; j < n; j++) {
                const four *m = g + 2 * (dagger ? j * n + i : i * n + j), *x = old + 2 * j;
                const four b = dagger ? -m[1] : m[1];
                re += m[0] * x[0] - b * x[1];
                im += m[0] * x[1] + b * x[0];
            }
            v[2 * i] = re;
            v[2 * i + 1] = im;
        }
    }
}

/* From the basis of hosts to that inside, or back. */
LAT_INLINE void change_basis(int n, four *v)
{
    for (int k = 0; k < 4 * n; k++) {
        const four a = v[k], b = v[4 * n + k];
        v[k] = (a + b) * M_SQRT1_2;
        v[4 * n + k] = (a - b) * M_SQRT1_2;
    }
}

/* Spinor `object` of a site of a host field. */
LAT_INLINE size_t host_index(const lat_field *f, int64_t site, int object)
{
    return lat_field_index(f, (size_t)site) * lat_header_objects(&f->head) + (size_t)object;
}

/* The row of a site and column: where it lies, or in `buffer`, zeros where nobody writes. */
LAT_INLINE const double *row_from(const lat_host_spinors *t, int64_t site, int column,
                                  double buffer[SPINOR])
{
    if (site < 0)
        return buffer;
    if (!t->from)
        lat_spinor_draw(t->seed, (uint64_t)site, column, t->nc, buffer);
    else {
        const size_t i = host_index(t->from, site, t->object[column]);
        if (t->from->head.real == LAT_F64)
            return (const double *)t->from->data + i * (size_t)(8 * t->nc);
        lat_field_get(t->from, i, buffer);
    }
    return buffer;
}

/* G of these sites; that of an idle lane is any. */
LAT_INLINE void load_gauge(const lat_field *g, int n, const int64_t site[SIDE], four *m)
{
    size_t index[SIDE];
    for (int l = 0; l < SIDE; l++)
        index[l] = site[l] < 0 ? 0 : lat_field_index(g, (size_t)site[l]);
    load_matrices(g, n, index, m);
}

LAT_INLINE bool is_zero(int n, const four *v)
{
    which some = {0};
    for (int k = 0; k < 8 * n; k++)
        some |= v[k] != 0;
    return !any(some);
}

LAT_INLINE void put_of(const lat_host_spinors *t, int n, const int64_t *site, int64_t block)
{
    const lat_part *p = t->part;
    four g[MATRIX] = {{0}}, v[SPINOR];
    double buffer[SIDE][SPINOR] = {{0}};
    for (int first = 0; first < t->lanes.lanes; first += SIDE) {
        bool have_g = false; /* most blocks of a source need none */
        int64_t own[SIDE];
        sites_of(t->lanes, site, first, own);
        for (int i = 0; i < p->columns; i++) {
            const double *row[SIDE];
            for (int l = 0; l < SIDE; l++)
                row[l] = row_from(t, own[l], p->column[i], buffer[l]);
            rows_to_vectors(row, 8 * n, v);
            if (!is_zero(n, v)) {
                change_basis(n, v);
                if (t->g && !have_g)
                    load_gauge(t->g, n, own, g);
                have_g = true;
                if (t->g)
                    turn(n, g, false, v);
            }
            for (int e = 0; e < 8 * n; e++)
                put_vector(t->lanes, block, first, p->column[i] * 8 * n + e, v[e]);
        }
    }
}

LAT_INLINE void get_of(const lat_host_spinors *t, int n, const int64_t *site, int64_t block)
{
    const lat_part *p = t->part;
    four g[MATRIX] = {{0}}, v[SPINOR];
    double buffer[SIDE][SPINOR];
    for (int first = 0; first < t->lanes.lanes; first += SIDE) {
        int64_t own[SIDE];
        sites_of(t->lanes, site, first, own);
        if (t->g)
            load_gauge(t->g, n, own, g);
        for (int i = 0; i < p->columns; i++) {
            double *row[SIDE];
            const int object = t->object[p->column[i]];
            for (int l = 0; l < SIDE; l++) {
                row[l] = buffer[l];
                if (own[l] >= 0 && t->to->head.real == LAT_F64)
                    row[l] = (double *)t->to->data
                             + host_index(t->to, own[l], object) * (size_t)(8 * n);
            }
            for (int e = 0; e < 8 * n; e++)
                v[e] = get_vector(t->lanes, block, first, p->column[i] * 8 * n + e);
            if (t->g)
                turn(n, g, true, v);
            change_basis(n, v);
            vectors_to_rows(v, 8 * n, row);
            for (int l = 0; l < SIDE && t->to->head.real != LAT_F64; l++)
                if (own[l] >= 0)
                    lat_field_put(t->to, host_index(t->to, own[l], object), row[l]);
        }
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
    attribute static void put_##isa(const lat_host_spinors *t, const int64_t *site, int64_t b) \
    { \
        t->nc == 3 ? put_of(t, 3, site, b) : put_of(t, 2, site, b); \
    } \
    attribute static void get_##isa(const lat_host_spinors *t, const int64_t *site, int64_t b) \
    { \
        t->nc == 3 ? get_of(t, 3, site, b) : get_of(t, 2, site, b); \
    } \
    attribute static unsigned links_##isa(const lat_host_links *t, const int64_t *site, int64_t b) \
    { \
        return t->u->head.nc == 3 ? links_of(t, 3, site, b) : links_of(t, 2, site, b); \
    } \
    attribute static double follows_##isa(const lat_field *u, int nc, size_t first, size_t count) \
    { \
        return nc == 3 ? follows_of(u, 3, first, count) : follows_of(u, 2, first, count); \
    } \
    static const lat_host_lanes lanes_##isa = {put_##isa, get_##isa, links_##isa, follows_##isa};

LAT_ISA_EXPAND(VARIANT, LAT_FMA)

const lat_host_lanes *lat_host_lanes_widest(void)
{
    static const lat_host_lanes *const lanes[] = LAT_ISA_EACH(&lanes_, );
    return lanes[lat_isa_widest()];
}
