/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac.c: Dirac operators: what devices share. */
#include "dirac/dirac.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

/* 0 if a number of the operator is one. */
static int check_fermion(const lat_fermion *f)
{
    const struct {
        const char *name;
        double v;
    } number[] = {{"mass", f->mass}, {"csw", f->csw},     {"csw_t", f->csw_t}, {"xi", f->xi},
                  {"nu", f->nu},     {"twist", f->twist}, {"c_F", f->cf}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        if (!isfinite(number[i].v))
            return lat_fail("Dirac operator: expected a finite %s, found %g", number[i].name,
                            number[i].v);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        if (!f->boundary[mu].dirichlet && !isfinite(f->boundary[mu].theta))
            return lat_fail("Dirac operator: expected a finite boundary phase, found %g",
                            f->boundary[mu].theta);
    if (strcmp(f->name, "wilson"))
        return lat_fail("Dirac operator: expected wilson, found %s", *f->name ? f->name : "none");
    if (!(f->xi > 0) || !(f->nu > 0))
        return lat_fail("Dirac operator: expected xi and nu above 0, found %g and %g", f->xi,
                        f->nu);
    return 0;
}

lat_dirac *lat_dirac_open(lat_space *s, const lat_field *u, const lat_fermion *fermion,
                          const lat_dirac_options *options)
{
    lat_dirac_options how = options ? *options : (lat_dirac_options){0};
    const char *halo = getenv("LAT_HALO"); /* for tests and benchmarks on several ranks */
    const lat_geometry *here = &s->grid->spec.lattice, *there = &u->head.geom;
    char a[64], b[64];
    if (check_fermion(fermion))
        return NULL;
    if (u->head.kind != LAT_GAUGE || u->head.nc != s->nc || here->nd != there->nd
        || memcmp(here->dims, there->dims, sizeof here->dims))
        return lat_fail_null("Dirac operator: expected links of SU(%d) on %s, found SU(%d) on %s",
                             s->nc, lat_dims_text(here, a), u->head.nc, lat_dims_text(there, b));
    how.in_turn = how.in_turn || (halo && !strcmp(halo, "first"));
    return (s->grid->dev->gpu ? &lat_dirac_gpu : &lat_dirac_cpu)->open(s, u, fermion, &how);
}

void lat_dirac_close(lat_dirac *d)
{
    if (d)
        d->ops->close(d);
}

/* out = keep out + sum_j by[j] more[j] of an end, and + add factor shift in. */
static int add_terms(const lat_dirac *d, const lat_part *p, lat_dfield *out, const lat_dfield *in,
                     const lat_apply_end *end)
{
    enum { MOST = LAT_APPLY_TERMS + 1 };
    lat_scalar keep[LAT_VECTOR_COLUMNS], by[MOST][LAT_VECTOR_COLUMNS];
    const lat_scalar *factor[MOST];
    const lat_dfield *of[MOST];
    const lat_vector_ops *ops = d->space->ops;
    int n = 0;
    for (; n < end->terms; n++) {
        factor[n] = by[n];
        of[n] = end->more[n];
        LAT_FOR_COLUMNS (k, p)
            by[n][k] = (lat_scalar){end->by[n][k], 0};
    }
    if (lat_apply_shifted(end) || n == 0) { /* a field for `keep` to go with */
        factor[n] = by[n];
        of[n] = in;
        LAT_FOR_COLUMNS (k, p) {
            const double f = end->add[k] * lat_apply_factor(end);
            by[n][k] = (lat_scalar){f * end->shift.re, f * end->shift.im};
        }
        n++;
    }
    const int first = end->keep ? 1 : 0; /* goes with `keep` */
    for (int i = 0; i < p->columns && first; i++)
        keep[p->column[i]] = (lat_scalar){end->keep[p->column[i]], 0};
    if (first && ops->axpby(d->space, p, factor[0], of[0], keep, out, NULL))
        return -1;
    return n > first ? ops->axpys(d->space, p, n - first, factor + first, of + first, out, NULL)
                     : 0;
}

int lat_dirac_sums_apart(const lat_dirac *d, const lat_part *p, const lat_dfield *out,
                         const lat_dfield *in, const lat_apply_end *end)
{
    const lat_vector_ops *ops = d->space->ops;
    lat_scalar *const dot = end->dot;
    return lat_rc(((end->norm || end->with)
                   && ops->dots(d->space, p, end->with ? 1 : 0, &end->with, out, &dot, end->norm))
                  || (end->shadow && ops->shadow(d->space, p, out, end->shadow))
                  || (end->shadow_in && ops->shadow(d->space, p, in, end->shadow_in)));
}

/* out = factor (out + shift in), and the sums of an end. */
static int add_shift(const lat_dirac *d, const lat_part *p, lat_dfield *out, const lat_dfield *in,
                     const lat_apply_end *end)
{
    lat_scalar shift[LAT_VECTOR_COLUMNS], factor[LAT_VECTOR_COLUMNS];
    const double f = lat_apply_factor(end);
    LAT_FOR_COLUMNS (k, p) {
        shift[k] = (lat_scalar){f * end->shift.re, f * end->shift.im};
        factor[k] = (lat_scalar){f, 0};
    }
    return lat_rc(d->space->ops->axpby(d->space, p, shift, in, factor, out, NULL)
                  || lat_dirac_sums_apart(d, p, out, in, end));
}

/* out = keep onto */
static int put_onto(const lat_dirac *d, const lat_part *p, const lat_apply_end *end,
                    lat_dfield *out)
{
    lat_scalar keep[LAT_VECTOR_COLUMNS], none[LAT_VECTOR_COLUMNS];
    LAT_FOR_COLUMNS (k, p) {
        keep[k] = (lat_scalar){end->keep ? end->keep[k] : 1, 0};
        none[k] = (lat_scalar){0, 0};
    }
    return d->space->ops->axpby(d->space, p, keep, end->onto, none, out, NULL);
}

int lat_dirac_in_passes(lat_dirac *d, lat_dirac_matrix matrix, const lat_part *p, lat_dfield *out,
                        lat_dfield *in, const lat_apply_end *end)
{
    if (!end->add)
        return d->ops->apply(d, matrix, p, out, in, NULL) || add_shift(d, p, out, in, end) ? -1 : 0;
    double add[LAT_VECTOR_COLUMNS];
    lat_apply_end rest = *end;
    rest.keep = NULL;
    rest.onto = NULL;
    if (end->onto)
        return put_onto(d, p, end, out) || d->ops->apply(d, matrix, p, out, in, &rest) ? -1 : 0;
    rest.terms = 0;
    rest.shift = (lat_scalar){0, 0};
    rest.factor = 0;
    rest.add = add;
    LAT_FOR_COLUMNS (k, p)
        add[k] = end->add[k] * lat_apply_factor(end);
    return add_terms(d, p, out, in, end) || d->ops->apply(d, matrix, p, out, in, &rest) ? -1 : 0;
}

double lat_dirac_flops(const lat_dirac *d, lat_dirac_matrix matrix)
{
    const int n = d->space->nc, reals = 8 * n;
    /* 16 N by N matrices, 8 half spinors, the sum of 8 spinors; a chi + b h. */
    const double hops = 16 * (8. * n * n - 2 * n) + 8 * 4 * n + 7 * reals, end = 3 * reals;
    const double block = d->clover               ? 2 * (8. * 2 * n * 2 * n - 4 * n)
                         : d->fermion.twist != 0 ? 2. * reals
                                                 : 0;
    const double one = matrix.form == LAT_FULL ? hops + end + block
                                               : (2 * hops + end + 2 * block) / 2;
    return matrix.kind == LAT_NORMAL ? 2 * one : one;
}
