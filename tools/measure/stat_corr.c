/* SPDX-License-Identifier: BSD-3-Clause */
/* stat_corr.c: correlators of hadrons, and their effective masses.
 *
 * C(t) of a meson is averaged with C(T - t), where that is its image. Its mass is arcosh [C(t-1) +
 * C(t+1)] / 2 C(t); the mass of all others is ln C(t) / C(t+1). The PCAC mass is a ratio of means:
 * of pcac times the pion at rest, its denominator, and of that pion. It has no C. */
#include "stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "stat/quark_boundary.h"

#define PCAC "pcac\t"

int stat_complete_hadrons(lat_chain *c)
{
    char pion[LAT_KEY_TEXT];
    for (long raw = 0; raw < c->raw.count; raw++) {
        const char *key = c->raw.name[raw];
        if (strncmp(key, PCAC, strlen(PCAC)) || !c->had[raw])
            continue;
        snprintf(pion, sizeof pion, "pion\t0\t0\t0%s", strrchr(key, '\t'));
        const long of = lat_names_find(&c->raw, pion);
        if (of < 0 || !c->had[of])
            return lat_fail("expected the pion of momentum 0 beside pcac, whose denominator it is");
        c->one[raw * c->values] *= c->one[of * c->values];
    }
    return 0;
}

/* Is the row a meson whose C(T - t) is averaged with C(t)? */
static bool symmetric(const stat_report *r, long row)
{
    static const char *const mesons[] = {"pion", "rho", "a0", "a1", "b1"};
    for (size_t i = 0; i < sizeof mesons / sizeof *mesons; i++)
        if (!strncmp(r->label[row], mesons[i], strlen(mesons[i])))
            return r->fold;
    return false;
}

static bool is_pcac(const stat_report *r, long row)
{
    return !strncmp(r->label[row], PCAC, strlen(PCAC));
}

/* The row of the same correlator at t, modulo T; -1: none. */
static long at(const stat_report *r, long row, long t)
{
    const long T = r->slices;
    return r->index[r->group[row] * T + (t % T + T) % T];
}

static double correlator(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    const long back = symmetric(r, row) ? at(r, row, -r->slice[row]) : row;
    if (is_pcac(r, row) || back < 0)
        return NAN;
    return (stat_plain(r, m, sample, row, of) + stat_plain(r, m, sample, back, of)) / 2;
}

/* C(t), NaN where there is none. */
static double slice(const stat_report *r, const lat_means *m, long sample, long row, long t)
{
    const long to = at(r, row, t);
    return to < 0 ? NAN : correlator(r, m, sample, to, 0);
}

static double mass(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    const long t = r->slice[row], T = r->slices;
    (void)of;
    if (is_pcac(r, row)) {
        const long pion = r->index[r->pion * T + t];
        return pion < 0 ? NAN
                        : stat_plain(r, m, sample, row, 0) / stat_plain(r, m, sample, pion, 0);
    }
    const double c = slice(r, m, sample, row, t);
    if (symmetric(r, row)) {
        if (t == 0 || 2 * t > T)
            return NAN;
        const double x = (slice(r, m, sample, row, t - 1) + slice(r, m, sample, row, t + 1))
                         / (2 * c);
        return x >= 1 ? log(x + sqrt(x * x - 1)) : NAN;
    }
    const double x = t + 1 >= T ? NAN : c / slice(r, m, sample, row, t + 1);
    return x > 0 && isfinite(x) ? log(x) : NAN;
}

/* The key of row i without its last cell, t. */
static void correlator_of(const lat_chain *c, long i, char text[LAT_KEYS * LAT_KEY_TEXT])
{
    const char *key = c->rows.name[i];
    snprintf(text, LAT_KEYS * LAT_KEY_TEXT, "%.*s", (int)(strrchr(key, '\t') - key), key);
}

/* Groups and slices of the rows. */
static int arrange(stat_report *r, lat_names *groups)
{
    const lat_chain *c = r->chain;
    char text[LAT_KEYS * LAT_KEY_TEXT], *end;
    for (long i = 0; i < r->rows; i++) {
        const char *t = strrchr(c->rows.name[i], '\t') + 1;
        r->slice[i] = strtol(t, &end, 10);
        if (*end || r->slice[i] < 0 || r->slice[i] > 1 << 20)
            return lat_fail("expected whole numbers in column t, found '%s'", t);
        r->slices = r->slice[i] >= r->slices ? r->slice[i] + 1 : r->slices;
        correlator_of(c, i, text);
        if ((r->group[i] = lat_names_add(groups, text)) < 0)
            return -1;
    }
    const size_t n = (size_t)(groups->count * r->slices);
    if (!(r->index = lat_alloc(n, sizeof *r->index, "correlators")))
        return -1;
    for (size_t i = 0; i < n; i++)
        r->index[i] = -1;
    for (long i = 0; i < r->rows; i++)
        r->index[r->group[i] * r->slices + r->slice[i]] = i;
    r->pion = lat_names_find(groups, "pion\t0\t0\t0");
    return 0;
}

int stat_report_hadrons(stat_report *r)
{
    lat_names groups = {0};
    const int im = lat_chain_value(r->chain, "im");
    r->group = lat_alloc((size_t)r->rows, sizeof *r->group, "correlators");
    r->slice = lat_alloc((size_t)r->rows, sizeof *r->slice, "correlators");
    const int rc = r->group && r->slice ? arrange(r, &groups) : -1;
    lat_names_free(&groups);
    r->fold = r->fold && lat_quarks_fold(lat_chain_same(r->chain, "operator"));
    stat_add(r, "C", correlator, 0, false);
    stat_add(r, "mass", mass, 0, true);
    if (im >= 0 && r->chain->value[im] >= 0)
        stat_add(r, "C_im", correlator, im, false);
    stat_add_values(r, r->chain, "re im");
    return rc;
}
