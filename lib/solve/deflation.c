/* SPDX-License-Identifier: BSD-3-Clause */
/* deflation.c: modes on the device, tested, and projections to them. */
#include "deflation.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"

/* |w| of a mode in single precision differs from 1 by less. */
#define UNIT 1e-5

struct lat_deflation {
    lat_system s;
    lat_space *one; /* of a column, for the modes */
    lat_dfield **mode;
    double *value;
    int count;
    bool square;
    const char *name; /* for sentences, while it is opened */
    lat_dfield *work; /* square: A^+ r */
};

/* ---- opening --------------------------------------------------------------------------------- */

static int copy_modes(lat_deflation *d, const lat_field *modes)
{
    for (int k = 0; k < d->count; k++) {
        d->value[k] = modes->head.quark.eigenvalue[k];
        if (!(d->mode[k] = lat_vector_new(d->one, "modes"))
            || lat_spinor_put(d->one, d->mode[k], 0, modes, k))
            return -1;
    }
    return 0;
}

/* y = gamma5 A x, or A^+ A x with `work`. */
static int apply(lat_deflation *d, const lat_part *p, lat_dfield *x, lat_dfield *y,
                 lat_dfield *work)
{
    const lat_system *s = &d->s;
    if (d->square)
        return lat_rc(s->apply(s->with, false, p, work, x, NULL)
                      || s->apply(s->with, true, p, y, work, NULL));
    return lat_rc(s->apply(s->with, false, p, y, x, NULL) || s->space->ops->gamma5(s->space, p, y));
}

static int judge(const lat_deflation *d, int k, double norm, double residual)
{
    if (!(fabs(norm - 1) <= UNIT))
        return lat_fail(
            "%s: mode %d: expected a vector of length 1 on the sites that are solved for, "
            "found one of %.6g",
            d->name, k, norm);
    if (!(residual < .1 * fabs(d->value[k])))
        return lat_fail(
            "%s: mode %d: expected a residual below a tenth of its value %.3g, found %.3g "
            "(lat-modes --residual)",
            d->name, k, d->value[k], residual);
    return 0;
}

/* Modes from `first` on, as many as there are columns. */
static int test_some(lat_deflation *d, int first, lat_dfield *const v[3])
{
    lat_space *space = d->s.space;
    int list[LAT_VECTOR_COLUMNS];
    double norm[LAT_VECTOR_COLUMNS], residual[LAT_VECTOR_COLUMNS];
    lat_scalar minus[LAT_VECTOR_COLUMNS];
    lat_part p = {d->s.parity, 0, list};
    for (; p.columns < space->columns && first + p.columns < d->count; p.columns++) {
        const int k = p.columns;
        const lat_part here = {d->s.parity, 1, list + k};
        list[k] = k;
        minus[k] = (lat_scalar){-d->value[first + k], 0};
        if (space->ops->convert(space, &here, d->one, d->mode[first + k], v[0]))
            return -1;
    }
    if (apply(d, &p, v[0], v[1], v[2]) || space->ops->dots(space, &p, 0, NULL, v[0], NULL, norm)
        || space->ops->axpby(space, &p, minus, v[0], NULL, v[1], residual))
        return -1;
    for (int k = 0; k < p.columns; k++)
        if (judge(d, first + k, sqrt(norm[k]), sqrt(residual[k])))
            return -1;
    return 0;
}

static int test(lat_deflation *d)
{
    lat_dfield *v[3] = {NULL};
    int rc = 0;
    for (int i = 0; i < 2 + d->square && rc == 0; i++)
        rc = (v[i] = d->s.vector(d->s.with, "a test of modes")) ? 0 : -1;
    for (int k = 0; k < d->count && rc == 0; k += d->s.space->columns)
        rc = test_some(d, k, v);
    for (int i = 0; i < 3; i++)
        d->s.release(d->s.with, v[i]);
    return rc;
}

lat_deflation *lat_deflation_open(const lat_system *s, const lat_field *modes, bool square,
                                  const char *name)
{
    lat_deflation *d = lat_alloc_zero(1, sizeof *d, "modes");
    const int count = (int)lat_header_objects(&modes->head);
    if (!d)
        return NULL;
    d->s = *s;
    d->square = square;
    d->name = name;
    d->mode = lat_alloc_zero((size_t)count, sizeof *d->mode, "modes");
    d->value = lat_alloc((size_t)count, sizeof *d->value, "eigenvalues");
    if (d->mode && d->value)
        d->count = count;
    if (!d->count
        || !(d->one = lat_space_open_in(s->space->grid, s->space->nc, 1, s->space->temporal))
        || copy_modes(d, modes) || test(d)
        || (square && !(d->work = s->vector(s->with, "a deflated residual")))) {
        lat_deflation_close(d);
        return NULL;
    }
    return d;
}

void lat_deflation_close(lat_deflation *d)
{
    if (!d)
        return;
    for (int k = 0; k < d->count; k++)
        lat_dfield_free(d->mode[k]);
    d->s.release(d->s.with, d->work);
    lat_space_close(d->one);
    LAT_FREE(d->mode, d->value, d);
}

/* ---- projection ------------------------------------------------------------------------------ */

int lat_deflation_project(lat_space *space, const lat_part *p, int n, lat_dfield *const *mode,
                          const double *value, lat_dfield *x, const lat_dfield *y)
{
    const lat_dfield *const *w = (const lat_dfield *const *)mode;
    lat_scalar *dot = lat_alloc((size_t)n * (size_t)space->columns + 1, sizeof *dot, "products");
    int rc = dot ? space->ops->products(space, p, n, w, y, dot) : -1;
    for (int j = 0; j < n && rc == 0; j++)
        LAT_FOR_COLUMNS (k, p) {
            lat_scalar *z = &dot[j * space->columns + k];
            *z = (lat_scalar){z->re / value[j], z->im / value[j]};
        }
    rc = rc || space->ops->combine(space, p, n, dot, w, x) ? -1 : 0;
    free(dot);
    return rc;
}

int lat_deflation_improve(lat_deflation *d, const lat_part *p, lat_dfield *x, lat_dfield *r)
{
    const lat_system *s = &d->s;
    const lat_dfield *y = d->square ? d->work : r;
    if (p->columns == 0)
        return 0;
    if (d->square ? s->apply(s->with, true, p, d->work, r, NULL)
                  : s->space->ops->gamma5(s->space, p, r))
        return -1;
    return lat_deflation_project(s->space, p, d->count, d->mode, d->value, x, y);
}
