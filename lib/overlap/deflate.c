/* SPDX-License-Identifier: BSD-3-Clause */
/* deflate.c: low modes of D^+ D on the device, examined, and projections to them. */
#include "deflate.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "algebra.h"
#include "base/memory.h"
#include "solve/deflation.h"

/* How far |w| and its chirality may be from 1, before both are made 1. */
#define UNIT 1e-4

struct lat_overlap_deflation {
    char *name;
    lat_modes m; /* of a space of one column; values and residuals at mu = 0 */
    int *chirality;
};
typedef struct lat_overlap_deflation deflation;

/* ---- opening --------------------------------------------------------------------------------- */

/* Mode k becomes a unit vector of one chirality, orthogonal to those before it. */
static int clean(lat_overlap *o, deflation *d, int k, lat_dfield *tmp)
{
    lat_space *s = o->one;
    lat_dfield *w = d->m.vector[k];
    lat_scalar dot;
    double before, after;
    if (s->ops->copy(s, &lat_first_column, w, tmp) || s->ops->gamma5(s, &lat_first_column, tmp)
        || lat_overlap_norm(s, tmp, &before) || lat_overlap_dot(s, w, tmp, &dot))
        return -1;
    d->chirality[k] = dot.re > 0 ? 1 : -1;
    if (!(fabs(before * before - 1) <= UNIT) || !(fabs(fabs(dot.re) - 1) <= UNIT))
        return lat_fail("%s: mode %d: expected a vector of length 1 with a chirality, found length "
                        "%.6g and chirality %.6g",
                        d->name, k, before, dot.re);
    if (lat_chirality(s, d->chirality[k], &lat_first_column, w, tmp))
        return -1;
    for (int j = 0; j < 2 * k; j++) /* twice */
        if (d->chirality[j % k] == d->chirality[k]
            && lat_overlap_orthogonal(s, 1, 1, d->m.vector + j % k, w))
            return -1;
    if (lat_overlap_norm(s, w, &after))
        return -1;
    if (!(fabs(after * after - 1) <= UNIT))
        return lat_fail("%s: mode %d: expected a vector that is orthogonal to those before it, "
                        "found one of which %.6g is left",
                        d->name, k, after);
    return lat_overlap_mix(s, &lat_first_column, 0, tmp, 1 / after, w, NULL);
}

static int copy_modes(lat_overlap *o, deflation *d, const lat_field *modes)
{
    lat_dfield *tmp = lat_vector_new(o->one, "a mode");
    int rc = tmp ? 0 : -1;
    for (int k = 0; k < d->m.count && rc == 0; k++)
        rc = lat_spinor_put(o->one, d->m.vector[k], 0, modes, k) || clean(o, d, k, tmp) ? -1 : 0;
    lat_dfield_free(tmp);
    return rc;
}

/* Values and residuals at mu = 0 of as many modes from `first` on as are side by side and have the
 * same chirality; how many these are, or -1. */
static int measure_some(lat_overlap *o, deflation *d, int first, lat_dfield *v, lat_dfield *out)
{
    lat_space *s = o->space;
    int list[LAT_VECTOR_COLUMNS];
    double off[LAT_VECTOR_COLUMNS];
    lat_scalar dot[LAT_VECTOR_COLUMNS], *const to = dot;
    const lat_dfield *const with = v;
    lat_part p = {LAT_BOTH, 0, list};
    for (int k = 0; k < s->columns && first + k < d->m.count; k++, p.columns++) {
        const lat_part at = {LAT_BOTH, 1, &list[k]};
        list[k] = k;
        if (d->chirality[first + k] != d->chirality[first])
            break;
        if (s->ops->convert(s, &at, o->one, d->m.vector[first + k], v))
            return -1;
    }
    const double mu = o->mu;
    o->mu = 0;
    int rc = lat_overlap_chiral(o, d->chirality[first], 0, &p, out, v)
             || s->ops->dots(s, &p, 1, &with, out, &to, NULL);
    o->mu = mu;
    for (int k = 0; k < p.columns && rc == 0; k++) {
        d->m.value[first + k] = dot[k].re;
        dot[k] = (lat_scalar){-dot[k].re, 0};
    }
    rc = rc || s->ops->axpby(s, &p, dot, v, NULL, out, off);
    for (int k = 0; k < p.columns && rc == 0; k++)
        d->m.residual[first + k] = sqrt(off[k]);
    return rc ? -1 : p.columns;
}

static int measure(lat_overlap *o, deflation *d)
{
    lat_dfield *v[2] = {NULL};
    int rc = lat_vector_new_all(o->space, 2, v, "modes");
    for (int k = 0, n; k < d->m.count && rc == 0; k += n)
        rc = (n = measure_some(o, d, k, v[0], v[1])) < 0 ? -1 : 0;
    lat_vector_free_all(2, v);
    return rc;
}

int lat_overlap_deflate(lat_overlap *o, const lat_field *modes, const char *name)
{
    const size_t n = lat_header_objects(&modes->head);
    deflation *d = lat_alloc_zero(1, sizeof *d, "modes");
    if (!d)
        return -1;
    lat_overlap_deflation_close(o->deflation);
    o->deflation = d;
    d->name = lat_text_new("%s", name);
    d->chirality = lat_alloc(n, sizeof *d->chirality, "modes");
    return lat_rc(!d->name || !d->chirality || lat_modes_new(&d->m, o->one, (int)n)
                  || copy_modes(o, d, modes) || measure(o, d));
}

void lat_overlap_deflation_close(deflation *d)
{
    if (!d)
        return;
    lat_modes_free(&d->m);
    LAT_FREE(d->name, d->chirality, d);
}

/* ---- projection ------------------------------------------------------------------------------ */

/* Of D D^+ at the present mu. */
static double value_of(const lat_overlap *o, int k)
{
    const double mu2 = o->mu * o->mu;
    return o->deflation->m.value[k] * (1 - mu2) + mu2;
}

int lat_overlap_deflation_check(const lat_overlap *o)
{
    const deflation *d = o->deflation;
    for (int k = 0; d && k < d->m.count; k++)
        if (!(d->m.residual[k] * (1 - o->mu * o->mu) <= .1 * value_of(o, k)))
            return lat_fail("%s: mode %d: expected a residual below a tenth of its value, which is "
                            "%.3g at mu %.6g, found %.3g",
                            d->name, k, value_of(o, k), o->mu, d->m.residual[k]);
    return 0;
}

int lat_overlap_deflation_add(lat_overlap *o, int c, const lat_part *p, lat_dfield *y,
                              const lat_dfield *r)
{
    const deflation *d = o->deflation;
    const size_t most = (size_t)d->m.count;
    lat_dfield **mode = lat_alloc(most, sizeof(lat_dfield *), "modes");
    double *value = lat_alloc(most, sizeof *value, "eigenvalues");
    int n = 0, rc = mode && value ? 0 : -1;
    for (int k = 0; k < d->m.count && rc == 0; k++)
        if (c == 0 || d->chirality[k] == c) {
            mode[n] = d->m.vector[k];
            value[n++] = value_of(o, k);
        }
    rc = rc || lat_deflation_project(o->space, p, n, mode, value, y, r) ? -1 : 0;
    LAT_FREE(mode, value);
    return rc;
}
