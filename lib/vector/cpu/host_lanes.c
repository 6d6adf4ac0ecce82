/* SPDX-License-Identifier: BSD-3-Clause */
/* host_lanes.c: a block of spinors at a time. */
#include "vector/cpu/host_lanes.h"

#include <math.h>
#include "vector/cpu/four_lanes.h"

enum { SPINOR = 24 }; /* reals, at most */

/* ---- spinors --------------------------------------------------------------------------------- */

/* v <- g v, or g^+ v; [spin][colour][re, im]. */
LAT_INLINE void rotate(int n, const four *g, bool dagger, four *v)
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
        LAT_FOR_COLUMNS (k, p) {
            const double *row[SIDE];
            for (int l = 0; l < SIDE; l++)
                row[l] = row_from(t, own[l], k, buffer[l]);
            rows_to_vectors(row, 8 * n, v);
            if (!is_zero(n, v)) {
                change_basis(n, v);
                if (t->g && !have_g)
                    load_gauge(t->g, n, own, g);
                have_g = true;
                if (t->g)
                    rotate(n, g, false, v);
            }
            for (int e = 0; e < 8 * n; e++)
                put_vector(t->lanes, block, first, k * 8 * n + e, v[e]);
        }
    }
}

/* The spinors of column k, in the basis and the gauge of host fields. */
LAT_INLINE void take(const lat_host_spinors *t, int n, const four *g, int64_t block, int first,
                     int k, four *v)
{
    for (int e = 0; e < 8 * n; e++)
        v[e] = get_vector(t->lanes, block, first, k * 8 * n + e);
    if (t->g)
        rotate(n, g, true, v);
    change_basis(n, v);
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
        LAT_FOR_COLUMNS (k, p) {
            double *row[SIDE];
            const int object = t->object[k];
            for (int l = 0; l < SIDE; l++) {
                row[l] = buffer[l];
                if (own[l] >= 0 && t->to->head.real == LAT_F64)
                    row[l] = (double *)t->to->data
                             + host_index(t->to, own[l], object) * (size_t)(8 * n);
            }
            take(t, n, g, block, first, k, v);
            vectors_to_rows(v, 8 * n, row);
            for (int l = 0; l < SIDE && t->to->head.real != LAT_F64; l++)
                if (own[l] >= 0)
                    lat_field_put(t->to, host_index(t->to, own[l], object), row[l]);
        }
    }
}

LAT_INLINE void round_of(const lat_host_spinors *t, int n, const int64_t *site, int64_t block)
{
    const lat_part *p = t->part;
    four g[MATRIX] = {{0}}, v[SPINOR];
    for (int first = 0; first < t->lanes.lanes; first += SIDE) {
        int64_t own[SIDE];
        sites_of(t->lanes, site, first, own);
        if (t->g)
            load_gauge(t->g, n, own, g);
        LAT_FOR_COLUMNS (k, p) {
            take(t, n, g, block, first, k, v);
            for (int e = 0; e < 8 * n; e++)
                v[e] = __builtin_convertvector(__builtin_convertvector(v[e], four_floats), four);
            change_basis(n, v);
            if (t->g)
                rotate(n, g, false, v);
            for (int e = 0; e < 8 * n; e++)
                put_vector(t->lanes, block, first, k * 8 * n + e, v[e]);
        }
    }
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
    attribute static void round_##isa(const lat_host_spinors *t, const int64_t *site, int64_t b) \
    { \
        t->nc == 3 ? round_of(t, 3, site, b) : round_of(t, 2, site, b); \
    } \
    static const lat_host_lanes lanes_##isa = {put_##isa, get_##isa, round_##isa};

LAT_ISA_EXPAND(VARIANT, LAT_FMA)

const lat_host_lanes *lat_host_lanes_widest(void)
{
    static const lat_host_lanes *const lanes[] = LAT_ISA_EACH(&lanes_, );
    return lanes[lat_isa_widest()];
}
