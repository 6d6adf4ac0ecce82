/* SPDX-License-Identifier: BSD-3-Clause */
/* stat_loops.c: effective energies of two static sources, from Wilson loops between levels of
 * smearing (docs/loops.md, "The static potential").
 *
 * For each separation v has the largest lambda of W(2) v = lambda W(1) v, W the matrix of levels of
 * the mean over configurations. V(R, T) = ln [v W(T) v / v W(T + 1) v], v the same in all samples.
 */
#include "stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/dense.h"
#include "base/error.h"
#include "base/memory.h"

enum { LEVELS = 16 };

/* Separations, times and levels of the rows of a chain. */
typedef struct axes {
    lat_names separation, level;
    long times;
} axes;

/* The row of a loop, T from 1; W_ij is W_ji. */
static long *place(const stat_report *r, long R, long T, long i, long j)
{
    const long L = r->levels;
    return &r->index[((R * r->slices + T - 1) * L + (i < j ? i : j)) * L + (i < j ? j : i)];
}

static double loop(const stat_report *r, const lat_means *m, long sample, long row, long T)
{
    const long R = r->group[row], L = r->levels;
    double sum = 0;
    for (long i = 0; i < L; i++)
        for (long j = 0; j < L; j++)
            sum += r->weight[R * L + i] * r->weight[R * L + j]
                   * lat_chain_mean(r->chain, m, sample, *place(r, R, T, i, j), 0);
    return sum;
}

static double energy(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    const double here = loop(r, m, sample, row, r->slice[row]);
    const double next = loop(r, m, sample, row, r->slice[row] + 1);
    (void)of;
    return here > 0 && next > 0 ? log(here / next) : NAN;
}

/* W(1) = q d q^+, and the largest vector u of d^-1/2 q^+ W(2) q d^-1/2: v = q d^-1/2 u. */
static int ground_state(const stat_report *r, const lat_means *m, long R, double *v)
{
    const long L = r->levels;
    double w[LEVELS * LEVELS], d[LEVELS], q[LEVELS * LEVELS], a[LEVELS * LEVELS] = {0};
    for (long i = 0; i < L * L; i++)
        w[i] = lat_chain_mean(r->chain, m, -1, *place(r, R, 1, i / L, i % L), 0);
    if (lat_dense_eigen_real((int)L, w, d, q))
        return -1;
    if (!(d[0] > 0))
        return lat_fail("expected a positive matrix of levels at T = 1, found an eigenvalue of %g",
                        d[0]);
    for (long i = 0; i < L * L; i++)
        q[i] /= sqrt(d[i / L]);
    for (long i = 0; i < L * L; i++)
        for (long k = 0; k < L * L; k++)
            a[i] += q[i / L * L + k / L] * q[i % L * L + k % L]
                    * lat_chain_mean(r->chain, m, -1, *place(r, R, 2, k / L, k % L), 0);
    if (lat_dense_eigen_real((int)L, a, d, w))
        return -1;
    for (long i = 0; i < L; i++)
        v[i] = 0;
    for (long i = 0; i < L * L; i++)
        v[i % L] += q[i] * w[(L - 1) * L + i / L];
    return 0;
}

/* Cells of the key: separation, T, levels. */
static int read_axes(const lat_chain *c, axes *a)
{
    char text[LAT_KEY_TEXT];
    for (long row = 0; row < c->rows.count; row++) {
        const long T = strtol(lat_chain_cell(c, row, 1, text), NULL, 10);
        a->times = T > a->times ? T : a->times;
        if (lat_names_add(&a->separation, lat_chain_cell(c, row, 0, text)) < 0
            || lat_names_add(&a->level, lat_chain_cell(c, row, 2, text)) < 0
            || lat_names_add(&a->level, lat_chain_cell(c, row, 3, text)) < 0)
            return -1;
    }
    if (a->times < 2 || a->times > 1 << 20 || a->level.count > LEVELS)
        return lat_fail("--potential: expected T up to 2 at least, and at most %d levels, found T "
                        "up to %ld and %ld levels",
                        LEVELS, a->times, a->level.count);
    return 0;
}

/* A row of the report for each separation and T but the last. */
static int arrange(stat_report *r, const lat_chain *c, const axes *a)
{
    const long L = r->levels, n = a->separation.count * a->times * L * L;
    char text[LAT_KEY_TEXT];
    for (long i = 0; i < n; i++)
        r->index[i] = -1;
    for (long row = 0; row < c->rows.count; row++) {
        const long R = lat_names_find(&a->separation, lat_chain_cell(c, row, 0, text));
        const long T = strtol(lat_chain_cell(c, row, 1, text), NULL, 10);
        const long i = lat_names_find(&a->level, lat_chain_cell(c, row, 2, text));
        const long j = lat_names_find(&a->level, lat_chain_cell(c, row, 3, text));
        if (T < 1)
            return lat_fail("--potential: expected T from 1, found %ld", T);
        *place(r, R, T, i, j) = row;
        if (i != 0 || j != 0 || T == a->times)
            continue;
        const long k = R * (a->times - 1) + T - 1;
        r->group[k] = R;
        r->slice[k] = T;
        free(r->label[k]);
        if (!(r->label[k] = lat_text_new("%s\t%s\t%ld", a->separation.name[R], c->fixed_text[row],
                                         T)))
            return -1;
    }
    for (long i = 0; i < n; i++)
        if (r->index[i] < 0 && i % L >= i / L % L)
            return lat_fail("--potential: expected all loops of separation %s, T = %ld is missing",
                            a->separation.name[i / L / L / a->times], i / L / L % a->times + 1);
    return 0;
}

static int make(stat_report *r, lat_chain *c, axes *a)
{
    if (read_axes(c, a))
        return -1;
    const long L = r->levels = a->level.count, R = a->separation.count;
    const size_t rows = (size_t)(R * (a->times - 1));
    r->slices = a->times;
    r->index = lat_alloc((size_t)(R * a->times * L * L), sizeof *r->index, "loops");
    r->group = lat_alloc(rows, sizeof *r->group, "loops");
    r->slice = lat_alloc(rows, sizeof *r->slice, "loops");
    r->weight = lat_alloc((size_t)(R * L), sizeof *r->weight, "loops");
    if (!r->index || !r->group || !r->slice || !r->weight
        || stat_report_rows(r, "separation\tr\tT", (long)rows) || arrange(r, c, a))
        return -1;
    const lat_means m = lat_jackknife(&c->numbers, &c->numbers.bins);
    for (long i = 0; i < R; i++)
        if (ground_state(r, &m, i, &r->weight[i * L]))
            return lat_error_name(a->separation.name[i], NULL);
    stat_add(r, "V", energy, 0, true);
    return 0;
}

int stat_report_potential(stat_report *r, lat_chain *c)
{
    axes a = {.times = 0};
    r->chain = c;
    if (strcmp(c->kind.tool, "lat-loops"))
        return lat_fail("--potential: expected tables of Wilson loops (lat-loops --tsv), found "
                        "tables of %s",
                        c->kind.tool);
    const int rc = make(r, c, &a);
    lat_names_free(&a.separation);
    lat_names_free(&a.level);
    return rc;
}
