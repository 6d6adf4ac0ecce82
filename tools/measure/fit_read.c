/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_read.c: samples of correlators, from a table of lat-stat --samples. */
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "stat/quark_boundary.h"
#include "stat/samples.h"
#include "stat/table.h"

/* Columns of a table of samples. */
typedef struct columns {
    int t, sample, value, pcac, resampling, configurations, bin, dims, operators;
    int called; /* another name of t: a vector, whose length it is */
    long last;  /* the sample of the row before */
} columns;

void fit_samples_free(fit_samples *s)
{
    for (long i = 0; s->correlator && i < s->names.count; i++)
        LAT_FREE(s->correlator[i].t, s->correlator[i].value, s->correlator[i].error,
                 s->correlator[i].image);
    LAT_FREE(s->correlator, s->heading);
    lat_names_free(&s->names);
    *s = (fit_samples){0};
}

/* Cells, or names, of the columns before `sample` but of t, with a tab between; to be freed. */
static char *key_of(const columns *c, char *const *cell)
{
    size_t length = 1;
    for (int i = 0; i < c->sample; i++)
        length += strlen(cell[i]) + 1;
    char *text = lat_alloc_zero(length, 1, "the key of a correlator");
    for (int i = 0; text && i < c->sample; i++)
        if (i != c->t && i != c->called)
            strcat(strcat(text, *text ? "\t" : ""), cell[i]);
    return text;
}

bool fit_is_pcac(const char *name)
{
    return !strncmp(name, "pcac", 4) && (name[4] == '\0' || name[4] == '\t');
}

static int find(fit_samples *s, const lat_table *t, const char *const name[3], columns *c)
{
    const char *column = name[0], *pcac = name[1], *x = name[2];
    *c = (columns){lat_table_column(t, x),
                   lat_table_column(t, "sample"),
                   lat_table_column(t, column),
                   pcac ? lat_table_column(t, pcac) : -1,
                   lat_table_column(t, "resampling"),
                   lat_table_column(t, "configurations"),
                   lat_table_column(t, "bin"),
                   lat_table_column(t, "dims"),
                   lat_table_column(t, "operator"),
                   strcmp(x, "r") ? -1 : lat_table_column(t, "separation"),
                   -1};
    if (s->heading)
        return lat_fail("%s: expected one table", t->name);
    if (c->t < 0 || c->sample < c->t || c->resampling < 0 || c->configurations < 0)
        return lat_fail(
            "%s: expected a table of samples with a column %s (lat-stat --samples), found "
            "columns '%s'",
            t->name, x, t->heading);
    if (c->value < 0)
        return lat_fail("%s: expected a column %s (--column)", t->name, column);
    s->heading = key_of(c, t->column);
    return s->heading ? 0 : -1;
}

/* What the first row says of all of them. */
static void describe(fit_samples *s, const lat_table *t, const columns *c)
{
    const char *dims = c->dims < 0 ? "" : t->cell[c->dims], *last = strrchr(dims, ',');
    s->bootstrap = !strcmp(t->cell[c->resampling], "bootstrap");
    s->configurations = strtol(t->cell[c->configurations], NULL, 10);
    s->bin = c->bin < 0 ? 0 : strtol(t->cell[c->bin], NULL, 10);
    s->extent = last ? strtod(last + 1, NULL) : 0;
    s->periodic = c->operators >= 0 && lat_quarks_fold(t->cell[c->operators]);
}

/* Space for sample k of the last point of a correlator, which it begins with sample 0. */
static int put(fit_correlator *f, const lat_table *t, const columns *c, long k, double x,
               double **to)
{
    if (k == 0) {
        if (lat_grow(&f->t, f->points, sizeof *f->t, "points")
            || lat_table_number(t, c->t, false, &f->t[f->points]))
            return -1;
        f->points++;
    }
    if (lat_grow(to, k, sizeof **to, "samples"))
        return -1;
    (*to)[k] = x;
    return 0;
}

/* The samples of a point are complete: they go behind those of the points before. */
static int end_point(fit_samples *s, const lat_table *t, fit_correlator *f, double *one, long n)
{
    if (!f)
        return 0;
    if (s->samples == 0)
        s->samples = n - 1;
    if (n - 1 != s->samples)
        return lat_fail("%s: row %ld: expected samples 0 to %ld of each point, found %ld", t->name,
                        t->line, s->samples, n - 1);
    double *value = realloc(f->value, (size_t)(f->points * n) * sizeof *value);
    if (!value)
        return lat_fail("out of memory: samples");
    f->value = value;
    memcpy(value + (f->points - 1) * n, one, (size_t)n * sizeof *one);
    return 0;
}

/* The correlator of a row; NULL without memory. */
static fit_correlator *correlator_of(fit_samples *s, const lat_table *t, const columns *c)
{
    char *key = key_of(c, t->cell);
    const long before = s->names.count, n = key ? lat_names_add(&s->names, key) : -1;
    free(key);
    if (n >= before && lat_grow(&s->correlator, n, sizeof *s->correlator, "correlators"))
        return NULL;
    return n < 0 ? NULL : &s->correlator[n];
}

/* The column of a row that is fitted. */
static int value_of(const lat_table *t, const columns *c)
{
    return c->pcac >= 0 && fit_is_pcac(t->cell[0]) ? c->pcac : c->value;
}

static int read_rows(fit_samples *s, lat_table *t, const char *const name[3])
{
    columns c = {.last = -1};
    fit_correlator *f = NULL;
    double *one = NULL, x, number;
    int line, rc = 0;
    while (rc == 0 && (line = lat_table_next(t)) != LAT_TABLE_END) {
        if (line != LAT_TABLE_ROW) {
            rc = line < 0 ? -1 : find(s, t, name, &c);
            continue;
        }
        rc = lat_table_number(t, c.sample, false, &number)
             || lat_table_number(t, value_of(t, &c), true, &x);
        const long k = rc ? 0 : (long)number;
        if (rc == 0 && k == 0) {
            rc = end_point(s, t, f, one, c.last + 1);
            describe(s, t, &c);
            f = rc ? NULL : correlator_of(s, t, &c);
            rc = rc || !f;
        } else if (rc == 0 && k != c.last + 1) {
            rc = lat_fail("%s: row %ld: expected sample %ld, found %ld", t->name, t->line,
                          c.last + 1, k);
        }
        c.last = k;
        rc = rc || put(f, t, &c, k, x, &one);
    }
    rc = rc || end_point(s, t, f, one, c.last + 1);
    free(one);
    return lat_rc(rc);
}

/* Each sample of the jackknife is without one bin; those of the bootstrap say nothing of bins. */
static int count_bins(fit_samples *s, const char *name)
{
    s->bins = !s->bootstrap ? s->samples : s->bin > 0 ? s->configurations / s->bin : 0;
    if (s->samples == 1 || s->bins == 1)
        return lat_fail("%s: expected samples of two bins at least, which errors need, found one",
                        name);
    return 0;
}

/* Points in the order of t. */
static int sort(fit_correlator *f, long n)
{
    double *one = lat_alloc((size_t)n, sizeof *one, "samples");
    for (long i = 1; one && i < f->points; i++) {
        const double t = f->t[i];
        long k = i;
        memcpy(one, f->value + i * n, (size_t)n * sizeof *one);
        for (; k > 0 && f->t[k - 1] > t; k--) {
            f->t[k] = f->t[k - 1];
            memcpy(f->value + k * n, f->value + (k - 1) * n, (size_t)n * sizeof *one);
        }
        f->t[k] = t;
        memcpy(f->value + k * n, one, (size_t)n * sizeof *one);
    }
    free(one);
    return lat_rc(!one);
}

/* Averages over t and T - t are there twice, in the same digits. */
static int find_images(const fit_samples *s, fit_correlator *f)
{
    const size_t n = (size_t)s->samples + 1;
    if (!(f->image = lat_alloc((size_t)f->points, sizeof *f->image, "points")))
        return -1;
    for (long i = 0; i < f->points; i++) {
        f->image[i] = -1;
        for (long k = 0; k < i && 2 * f->t[i] > s->extent; k++)
            if (f->t[k] + f->t[i] == s->extent
                && !memcmp(f->value + (size_t)k * n, f->value + (size_t)i * n, n * sizeof(double)))
                f->image[i] = k;
    }
    return 0;
}

int fit_samples_read(fit_samples *s, const char *path, const char *column, const char *pcac,
                     const char *x)
{
    lat_table t;
    *s = (fit_samples){0};
    const int rc = lat_table_open(&t, path)
                   || read_rows(s, &t, (const char *const[]){column, pcac, x})
                   || count_bins(s, t.name);
    lat_table_close(&t);
    for (long i = 0; rc == 0 && i < s->names.count; i++) {
        fit_correlator *f = &s->correlator[i];
        f->name = s->names.name[i];
        if (sort(f, s->samples + 1) || find_images(s, f)
            || !(f->error = lat_alloc((size_t)f->points, sizeof(double), "errors")))
            return -1;
        for (long k = 0; k < f->points; k++) {
            const double *v = f->value + k * (s->samples + 1) + 1;
            f->error[k] = sqrt(lat_samples_covariance(s->samples, s->bootstrap, 1, v, v));
        }
    }
    return lat_rc(rc);
}
