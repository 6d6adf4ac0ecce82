/* SPDX-License-Identifier: BSD-3-Clause */
/* fine_cpu.c: sites in lanes to columns side by side, and back. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/iterate.h"
#include "multigrid/cpu/multigrid_cpu.h"
#include "site/random.h"
#include "vector/cpu/space_cpu.h"

/* ---- open ------------------------------------------------------------------------------------ */

typedef struct host_fine {
    int32_t *at;         /* [positions]: number in the blocks' list; -1: idle */
    int64_t group[2][2]; /* groups of even and odd sites: from, to */
    lat_eight *column;   /* [sites of a parity][components] */
} host_fine;

static inline host_fine *host_of(const lat_mg_fine *f) { return f->there; }

/* Which position is which site of the list. */
static int find_positions(const lat_mg_fine *f)
{
    host_fine *const h = host_of(f);
    const lat_blocks *b = &f->down.blocks;
    const lat_space *s = f->space;
    int64_t most = 0;
    for (int64_t i = 0; i < b->sites; i++) {
        const int64_t at = s->ops->position(s, (size_t)i);
        most = at > most ? at : most;
    }
    const int64_t groups = most / s->layout.side + 1, positions = groups * s->layout.side;
    if (!(h->at = lat_alloc((size_t)positions, sizeof *h->at, "blocks")))
        return -1;
    for (int64_t i = 0; i < positions; i++)
        h->at[i] = -1;
    for (int64_t i = 0; i < b->sites; i++)
        h->at[s->ops->position(s, (size_t)i)] = (int32_t)b->position[i];
    int64_t odd = positions; /* sites of odd parity are behind the others */
    for (int64_t i = positions - 1; i >= 0; i--)
        if (h->at[i] >= b->start[1][0])
            odd = i;
    h->group[0][0] = 0;
    h->group[0][1] = h->group[1][0] = odd / s->layout.side;
    h->group[1][1] = groups;
    return 0;
}

int lat_mg_cpu_fine_open(lat_mg_fine *f)
{
    const lat_blocks *b = &f->down.blocks;
    host_fine *const h = lat_alloc_zero(1, sizeof *h, "blocks");
    if (!(f->there = h) || find_positions(f))
        return -1;
    const int64_t even = b->start[1][0], odd = b->sites - even;
    h->column = lat_alloc_zero((size_t)((even > odd ? even : odd) * f->down.components),
                               sizeof *h->column, "columns of the multigrid");
    return h->column ? 0 : -1;
}

void lat_mg_cpu_fine_close(lat_mg_fine *f)
{
    host_fine *const h = host_of(f);
    if (!h)
        return;
    free(h->at);
    free(h->column);
    free(h);
}

/* ---- lanes and columns ----------------------------------------------------------------------- */

#define ROOT 0.70710678118654752f

/* A column of a group of sites. */
static float *group_of(const lat_mg_fine *f, const lat_dfield *x, int64_t group, int column)
{
    return (float *)((char *)x->data
                     + lat_vector_at(&f->space->layout, group * f->space->layout.side, column, 0));
}

/* Numbers of chirality + and - from upper and lower ones, or back: it is the same. */
LAT_INLINE void chiralities(int half, int side, int lane, const float *group, float *to)
{
    for (int e = 0; e < half; e++) {
        const float up = group[e * side + lane], low = group[(half + e) * side + lane];
        to[e] = ROOT * (up + low);
        to[half + e] = ROOT * (up - low);
    }
}

LAT_INLINE void halves(int half, int side, int lane, const float *from, float *group)
{
    for (int e = 0; e < half; e++) {
        group[e * side + lane] = ROOT * (from[e] + from[half + e]);
        group[(half + e) * side + lane] = ROOT * (from[e] - from[half + e]);
    }
}

enum { MOST_REALS = 24 };

/* Column k of a site's numbers gets its reals, and back. */
static void put_site(const lat_mg_fine *f, lat_eight *to, int k, const float *reals)
{
    for (int c = 0; c < f->down.components; c++) {
        to[c].re[k] = reals[2 * c];
        to[c].im[k] = reals[2 * c + 1];
    }
}

static void get_site(const lat_mg_fine *f, const lat_eight *from, int k, float *reals)
{
    for (int c = 0; c < f->down.components; c++) {
        reals[2 * c] = from[c].re[k];
        reals[2 * c + 1] = from[c].im[k];
    }
}

/* Columns of the sites of a parity, and back. */
static void to_columns(const lat_mg_fine *f, int parity, int columns, const int *column,
                       const lat_dfield *x)
{
    const int side = f->space->layout.side, half = f->down.components;
    lat_eight *const to = host_of(f)->column;
    const int64_t first = f->down.blocks.start[parity][0];
#pragma omp parallel for schedule(static)
    for (int64_t g = host_of(f)->group[parity][0]; g < host_of(f)->group[parity][1]; g++)
        for (int k = 0; k < LAT_EIGHT; k++) {
            const float *from = k < columns ? group_of(f, x, g, column[k]) : NULL;
            for (int l = 0; l < side; l++) {
                const int32_t site = host_of(f)->at[g * side + l];
                float reals[MOST_REALS] = {0};
                if (site < 0)
                    continue;
                if (from)
                    chiralities(half, side, l, from, reals);
                put_site(f, to + (site - first) * f->down.components, k, reals);
            }
        }
}

static void from_columns(const lat_mg_fine *f, int parity, int columns, const int *column,
                         lat_dfield *x)
{
    const int side = f->space->layout.side, half = f->down.components;
    const lat_eight *const from = host_of(f)->column;
    const int64_t first = f->down.blocks.start[parity][0];
#pragma omp parallel for schedule(static)
    for (int64_t g = host_of(f)->group[parity][0]; g < host_of(f)->group[parity][1]; g++)
        for (int k = 0; k < columns; k++) {
            float *const to = group_of(f, x, g, column[k]);
            for (int l = 0; l < side; l++) {
                const int32_t site = host_of(f)->at[g * side + l];
                float reals[MOST_REALS] = {0};
                if (site >= 0)
                    get_site(f, from + (site - first) * half, k, reals);
                halves(half, side, l, reals, to);
            }
        }
}

int lat_mg_cpu_fine_restrict(const lat_mg_fine *f, bool all, int columns, const int *column,
                             const lat_dfield *x, lat_eight *z)
{
    const int from = all ? 0 : 1;
    for (int p = from; p < 2; p++) {
        to_columns(f, p, columns, column, x);
        lat_mg_cpu_restrict_parity(&f->down, p, p == from, host_of(f)->column, z);
    }
    /* Where a rank's blocks are those that it computes, the level below gathers what it makes. */
    return f->down.to->sites.blocks ? lat_mg_cpu_gather(f->down.to, z) : 0;
}

int lat_mg_cpu_fine_prolong(const lat_mg_fine *f, bool all, int columns, const int *column,
                            lat_dfield *x, const lat_eight *z)
{
    for (int p = all ? 0 : 1; p < 2; p++) {
        lat_mg_cpu_prolong_parity(&f->down, p, z, host_of(f)->column);
        from_columns(f, p, columns, column, x);
    }
    return 0;
}

/* ---- test vectors ---------------------------------------------------------------------------- */

int lat_mg_cpu_fine_take(const lat_mg_fine *f, int first, const lat_dfield *x)
{
    const int side = f->space->layout.side, half = f->down.components, n = f->down.n;
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < host_of(f)->group[1][1]; g++)
        for (int k = 0; k < LAT_EIGHT; k++) {
            const float *const from = group_of(f, x, g, k);
            for (int l = 0; l < side; l++) {
                const int64_t site = host_of(f)->at[g * side + l];
                float reals[MOST_REALS];
                if (site < 0)
                    continue;
                chiralities(half, side, l, from, reals);
                float *to = f->down.v + 2 * (site * f->down.components * n + first + k);
                for (int c = 0; c < f->down.components; c++, to += 2 * n) {
                    to[0] = reals[2 * c];
                    to[1] = reals[2 * c + 1];
                }
            }
        }
    return 0;
}

/* Columns first .. of v or P; of one chirality alone, or of both (-1). */
static void give(const lat_mg_fine *f, const float *v, int first, int chirality, lat_dfield *x)
{
    const int side = f->space->layout.side, half = f->down.components, n = f->down.n;
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < host_of(f)->group[1][1]; g++)
        for (int k = 0; k < LAT_EIGHT; k++) {
            float *const to = group_of(f, x, g, k);
            for (int l = 0; l < side; l++) {
                const int64_t site = host_of(f)->at[g * side + l];
                float reals[MOST_REALS] = {0};
                const float *from =
                    v + 2 * ((site < 0 ? 0 : site) * f->down.components * n + first + k);
                for (int c = 0; c < f->down.components && site >= 0; c++)
                    if (chirality < 0 || c / (half / 2) == chirality) {
                        reals[2 * c] = from[2 * n * c];
                        reals[2 * c + 1] = from[2 * n * c + 1];
                    }
                halves(half, side, l, reals, to);
            }
        }
}

int lat_mg_cpu_fine_give(const lat_mg_fine *f, int first, lat_dfield *x)
{
    give(f, f->down.v, first, -1, x);
    return 0;
}

void lat_mg_cpu_columns(const lat_mg_fine *f, int first, int chirality, lat_dfield *x)
{
    give(f, f->down.p, first, chirality, x);
}

/* Numbers from -1 to 1: normal ones (lib/vector) would take a twentieth of a setup. */
int lat_mg_cpu_fine_random(const lat_mg_fine *f, int columns, uint64_t seed, lat_dfield *x)
{
    const int side = f->space->layout.side, reals = 2 * f->down.components;
    const int64_t *const sites = lat_cpu_sites(lat_cpu(f->space->grid), 0);
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < host_of(f)->group[1][1]; g++)
        for (int k = 0; k < columns; k++) {
            float *const to = group_of(f, x, g, k);
            for (int l = 0; l < side; l++) {
                const int64_t site = sites[g * side + l];
                for (int e = 0; e < reals; e += 4) {
                    uint32_t word[4];
                    lat_random(seed, (uint64_t)site, 1 + (uint32_t)k, LAT_FOR_MULTIGRID,
                               (uint32_t)e, word);
                    for (int i = 0; i < 4; i++)
                        to[(e + i) * side + l] = site < 0 ? 0 : (float)(word[i] * 0x1p-31 - 1);
                }
            }
        }
    return 0;
}

int lat_mg_cpu_fine_round(const lat_mg_fine *f, lat_dfield *x)
{
    const lat_part p = {LAT_BOTH, LAT_EIGHT, lat_column_numbers};
    lat_cpu_round(f->space, &p, x);
    return 0;
}
