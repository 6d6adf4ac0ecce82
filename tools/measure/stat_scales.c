/* SPDX-License-Identifier: BSD-3-Clause */
/* stat_scales.c: t0 and w0 of an ensemble, and the coupling of ghosts and gluons.
 *
 * t0 is where the mean over configurations of t^2 E is 0.3, w0^2 where t d/dt of it is: polynomials
 * of third order through four rows, derivatives of fourth order from five rows, as in lat-flow. */
#include "stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

enum { T0, W0 };
#define LEVEL .3

/* ---- t0 and w0 ------------------------------------------------------------------------------- */

/* A curve: of which value, of which sample. */
typedef struct curve {
    const stat_report *r;
    const lat_means *m;
    long sample;
    int of, scale;
} curve;

/* t^2 E */
static double flowed(const curve *c, long i)
{
    const double t = c->r->time[i];
    return t * t * lat_chain_mean(c->r->chain, c->m, c->sample, i, c->of);
}

static double slope(const curve *c, long i)
{
    const double *t = c->r->time;
    const long rows = c->r->chain->rows.count;
    const long first = i - 2 < 0 ? 0 : i + 2 >= rows ? rows - 5 : i - 2;
    double result = 0;
    for (long j = first; j < first + 5; j++) {
        double term = j == i ? 0 : 1 / (t[j] - t[i]);
        for (long k = first; k < first + 5; k++)
            if (k != j && j == i)
                term += 1 / (t[j] - t[k]);
            else if (k != j && k != i)
                term *= (t[i] - t[k]) / (t[j] - t[k]);
        result += flowed(c, j) * term;
    }
    return t[i] * result;
}

static double value_at(const curve *c, long i)
{
    return c->scale == T0 ? flowed(c, i) : slope(c, i);
}

static double polynomial(const curve *c, const double value[4], long first, double x)
{
    const double *t = c->r->time + first;
    double result = 0;
    for (int j = 0; j < 4; j++) {
        double l = value[j];
        for (int k = 0; k < 4; k++)
            if (k != j)
                l *= (x - t[k]) / (t[j] - t[k]);
        result += l;
    }
    return result;
}

static double crossing(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    const curve c = {r, m, sample, of, row == 0 ? T0 : W0};
    const long rows = r->chain->rows.count;
    long i = 0;
    for (double before = value_at(&c, 0); i + 1 < rows; i++) {
        const double next = value_at(&c, i + 1);
        if (before < LEVEL && next >= LEVEL)
            break;
        before = next;
    }
    if (i + 1 == rows)
        return NAN;
    const long first = i < 1 ? 0 : i + 2 >= rows ? rows - 4 : i - 1;
    double value[4], low = r->time[i], high = r->time[i + 1];
    for (int k = 0; k < 4; k++)
        value[k] = value_at(&c, first + k);
    for (int k = 0; k < 60; k++) {
        const double middle = (low + high) / 2;
        if (polynomial(&c, value, first, middle) < LEVEL)
            low = middle;
        else
            high = middle;
    }
    return row == 0 ? low : sqrt(low);
}

int stat_report_scales(stat_report *r, lat_chain *c, const char *density)
{
    const long rows = c->rows.count;
    const int of = lat_chain_value(c, density);
    r->chain = c;
    if (strcmp(c->kind.tool, "lat-flow"))
        return lat_fail("--scales: expected tables of lat-flow, found tables of %s", c->kind.tool);
    if (of < 0 || c->value[of] < 0)
        return lat_fail("--density: expected a density that the table has, found '%s'", density);
    if (rows < 5)
        return lat_fail("expected five times at least, found %ld", rows);
    if (!(r->time = lat_alloc((size_t)rows, sizeof *r->time, "times"))
        || stat_report_rows(r, "scale", 2))
        return -1;
    for (long i = 0; i < rows; i++) {
        r->time[i] = strtod(c->rows.name[i], NULL);
        if (i && r->time[i] <= r->time[i - 1])
            return lat_fail("expected rising times, found %s after %s", c->rows.name[i],
                            c->rows.name[i - 1]);
    }
    stat_add(r, "value", crossing, of, true);
    r->label[0] = strdup("t0");
    r->label[1] = strdup("w0");
    r->unknown =
        "t^2 E, or t d/dt of it, does not pass 0.3 between the first and the last of these "
        "times in all samples (lat-flow --until)";
    return r->label[0] && r->label[1] ? 0 : lat_fail("out of memory: scales");
}

/* ---- alpha ----------------------------------------------------------------------------------- */

/* Rows of gluons and ghosts of row i are index[2 i] and index[2 i + 1]. */
static double gluon(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    (void)of;
    return r->weight[row] * lat_chain_mean(r->chain, &m[0], sample, r->index[2 * row], 0);
}

static double ghost(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    (void)of;
    return r->weight[row] * lat_chain_mean(r->second, &m[1], sample, r->index[2 * row + 1], 0);
}

/* Z J^2 / 4 pi, docs/ghost.md, "The coupling" */
static double alpha(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    const double j = ghost(r, m, sample, row, of);
    return gluon(r, m, sample, row, of) * j * j / (4 * M_PI);
}

/* The row of the gluons for a key of the ghosts, or -1. */
static long gluon_row(const lat_chain *gluons, int nd, const char *key)
{
    char text[4 * LAT_KEY_TEXT];
    int n = snprintf(text, sizeof text, "-\t%s", key);
    char *at = text + 2;
    for (int i = 1; i < nd && (at = strchr(at, '\t')); i++)
        *at++ = ',';
    if (at && (at = strchr(at, '\t')))
        *at = '\0';
    return n < (int)sizeof text ? lat_names_find(&gluons->rows, text) : -1;
}

/* theta is measured from links by one, from momenta by the other: rounding alone makes them
 * differ. */
static int same_configurations(const lat_chain *a, const lat_chain *b)
{
    if (a->numbers.configs != b->numbers.configs)
        return lat_fail("expected gluons and ghosts of the same configurations, found %ld and %ld",
                        a->numbers.configs, b->numbers.configs);
    for (long k = 0; k < a->numbers.configs; k++) {
        const double x = a->of_theta[k], y = b->of_theta[k];
        if (!(fabs(x - y) <= 1e-3 * (x + y) + 1e-25))
            return lat_fail("expected tables of the same configurations in the same order, found "
                            "theta %g and %g of number %ld",
                            x, y, k + 1);
    }
    return 0;
}

static int join(stat_report *r, int nd)
{
    const lat_chain *g = r->second;
    long n = 0;
    for (long i = 0; i < g->rows.count; i++) {
        const long of = gluon_row(r->chain, nd, g->rows.name[i]);
        if (of < 0)
            continue;
        const char *k2 = g->fixed_text[i];
        r->index[2 * n] = of;
        r->index[2 * n + 1] = i;
        r->weight[n] = strtod(k2, NULL);
        if (!(r->label[n++] = lat_text_new("%s\t%s", g->rows.name[i], k2)))
            return -1;
    }
    r->rows = n;
    return n ? 0 : lat_fail("expected momenta that both tables have, found none");
}

int stat_report_alpha(stat_report *r, lat_chain *gluons, lat_chain *ghosts)
{
    const char *const same[] = {"gauge", "dims", "group", "ensemble"};
    int nd = 1;
    r->chain = gluons;
    r->second = ghosts;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *a = lat_chain_same(gluons, same[i]), *b = lat_chain_same(ghosts, same[i]);
        if (strcmp(a, b))
            return lat_fail("expected gluons and ghosts of one %s, found %s and %s", same[i], a, b);
    }
    if (strcmp(lat_chain_same(gluons, "gauge"), "landau"))
        return lat_fail("expected Landau gauge, found %s", lat_chain_same(gluons, "gauge"));
    for (const char *c = lat_chain_same(gluons, "dims"); (c = strchr(c, ',')); c++)
        nd++;
    const size_t n = (size_t)ghosts->rows.count;
    r->index = lat_alloc(2 * n, sizeof *r->index, "momenta");
    r->weight = lat_alloc(n, sizeof *r->weight, "momenta");
    if (!r->index || !r->weight || same_configurations(gluons, ghosts)
        || stat_report_rows(r, "kx\tky\tkz\tkt\tk2", ghosts->rows.count) || join(r, nd))
        return -1;
    stat_add(r, "alpha", alpha, 0, true);
    stat_add(r, "Z", gluon, 0, false);
    stat_add(r, "J", ghost, 0, false);
    return 0;
}
