/* SPDX-License-Identifier: BSD-3-Clause */
/* search.c: vectors, A, and diagonalisation in a space. */
#include "modes_internal.h"

#include <math.h>
#include <stdlib.h>
#include "base/dense.h"
#include "base/error.h"
#include "base/memory.h"

lat_dfield *lat_search_vector(lat_search *w, const char *what)
{
    return lat_vector_new(w->s, what);
}

lat_dfield **lat_search_vectors(lat_search *w, int n, const char *what)
{
    lat_dfield **v = lat_alloc_zero((size_t)n + 1, sizeof *v, what);
    if (!v || lat_vector_new_all(w->s, n, v, what) == 0)
        return v;
    lat_search_free(n, v);
    return NULL;
}

void lat_search_free(int n, lat_dfield **v)
{
    lat_vector_free_all(n, v);
    free(v);
}

int lat_search_apply(lat_search *w, lat_dfield *out, lat_dfield *in, const lat_apply_end *end)
{
    w->applications++;
    return w->op->apply(w->op, out, in, end);
}

int lat_search_square(lat_search *w, lat_dfield *out, lat_dfield *in, const lat_apply_end *end)
{
    if (w->op->positive)
        return lat_search_apply(w, out, in, end);
    return lat_search_apply(w, w->tmp, in, NULL) || lat_search_apply(w, out, w->tmp, end) ? -1 : 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Of the largest rank, times columns. */
static double sites_of(const lat_space *s)
{
    const lat_geometry *g = &s->grid->spec.lattice;
    const int slices = g->dims[g->nd - 1], ranks = s->grid->dev->comm->size;
    return (double)lat_volume(g) / slices * ((slices + ranks - 1) / ranks) * s->columns;
}

double lat_search_bytes(const lat_space *s)
{
    const double real = s->grid->spec.storage == LAT_STORAGE_DOUBLE ? 8 : 4;
    return sites_of(s) * 8 * lat_spinor_colours(s->grid->dev, s->nc) * real;
}

double lat_search_sums(const lat_space *s)
{
    return sites_of(s) * (2 * LAT_VECTOR_TERMS + 1) * sizeof(double) / (s->grid->dev->gpu ? 32 : 1);
}

int lat_search_memory(const lat_modes_job *job, double bytes)
{
    const lat_device *dev = job->op->space->grid->dev;
    const double there = job->memory > 0 ? job->memory : lat_device_free_bytes(dev);
    if (there < 0)
        return -1;
    if (bytes <= there)
        return 0;
    return lat_fail("a search for %d modes needs %.3g GB of memory on %s beside the operator, %.3g "
                    "GB are there: expected fewer modes, or about %.0f ranks",
                    job->high, bytes * 1e-9, dev->gpu ? "a GPU" : "a rank", there * 1e-9,
                    ceil(dev->comm->size * bytes / there));
}

/* ---- linear algebra -------------------------------------------------------------------------- */

static const lat_dfield *const *many(lat_dfield *const *x) { return (const lat_dfield *const *)x; }

int lat_search_dots_of(const lat_search_columns *c, int n, lat_dfield *const *x,
                       const lat_dfield *y, lat_cx *dot)
{
    const int columns = c->s->columns;
    lat_scalar *to = lat_alloc((size_t)(n * columns) + 1, sizeof *to, "products");
    const int rc = to ? c->s->ops->products(c->s, &c->p, n, many(x), y, to) : -1;
    for (int i = 0; i < n && rc == 0; i++)
        for (int k = 0; k < c->p.columns; k++)
            dot[k * n + i] = to[i * columns + k].re + to[i * columns + k].im * I;
    free(to);
    return rc;
}

/* y += sum a[c * pitch + i] x[i]. */
static int axpys_of(const lat_search_columns *c, int n, const lat_cx *a, int pitch,
                    lat_dfield *const *x, lat_dfield *y)
{
    const int columns = c->s->columns;
    lat_scalar *by = lat_alloc((size_t)(n * columns) + 1, sizeof *by, "products");
    for (int i = 0; by && i < n; i++)
        for (int k = 0; k < c->p.columns; k++)
            by[i * columns + k] = (lat_scalar){creal(a[k * pitch + i]), cimag(a[k * pitch + i])};
    const int rc = by ? c->s->ops->combine(c->s, &c->p, n, by, many(x), y) : -1;
    free(by);
    return rc;
}

int lat_search_axpys_of(const lat_search_columns *c, int n, const lat_cx *a, lat_dfield *const *x,
                        lat_dfield *y)
{
    return axpys_of(c, n, a, n, x, y);
}

int lat_search_orthogonal_of(const lat_search_columns *c, int n, lat_dfield *const *x,
                             lat_dfield *y, lat_cx *dot)
{
    const int all = n * c->p.columns;
    lat_cx *now = lat_alloc((size_t)all + 1, sizeof *now, "products");
    int rc = now ? 0 : -1;
    for (int i = 0; i < all && dot; i++)
        dot[i] = 0;
    for (int round = 0; round < 2 && rc == 0; round++) {
        rc = lat_search_dots_of(c, n, x, y, now);
        for (int i = 0; i < all; i++) {
            if (dot)
                dot[i] += now[i];
            now[i] = -now[i];
        }
        rc = rc || axpys_of(c, n, now, n, x, y) ? -1 : 0;
    }
    free(now);
    return rc;
}

static lat_search_columns one_of(const lat_search *w) { return (lat_search_columns){w->s, w->p}; }

int lat_search_dots(lat_search *w, int n, lat_dfield *const *x, const lat_dfield *y, lat_cx *dot)
{
    const lat_search_columns c = one_of(w);
    return lat_search_dots_of(&c, n, x, y, dot);
}

int lat_search_axpys(lat_search *w, int n, const lat_cx *a, lat_dfield *const *x, lat_dfield *y)
{
    const lat_search_columns c = one_of(w);
    return axpys_of(&c, n, a, n, x, y);
}

int lat_search_norm(lat_search *w, const lat_dfield *y, double *norm)
{
    if (w->s->ops->dots(w->s, &w->p, 0, NULL, y, NULL, norm))
        return -1;
    *norm = sqrt(*norm);
    return 0;
}

int lat_search_scale(lat_search *w, double a, lat_dfield *y)
{
    const lat_scalar none = {0, 0}, by = {a, 0};
    return w->s->ops->axpby(w->s, &w->p, &none, w->tmp, &by, y, NULL);
}

static int fill_random(lat_search *w, lat_dfield *y)
{
    const uint64_t golden = 0x9E3779B97F4A7C15;
    return w->s->ops->random(w->s, &w->p, w->job->seed + golden * ++w->draws, y);
}

int lat_search_orthogonal(lat_search *w, int n, lat_dfield *const *x, lat_dfield *y, lat_cx *dot,
                          double *norm)
{
    const lat_search_columns c = one_of(w);
    return lat_search_orthogonal_of(&c, n, x, y, dot) || lat_search_norm(w, y, norm) ? -1 : 0;
}

int lat_search_orthonormal(lat_search *w, int n, lat_dfield *const *x, lat_dfield *y, double *norm)
{
    return lat_rc(lat_search_orthogonal(w, n, x, y, NULL, norm)
                  || lat_search_scale(w, 1 / *norm, y));
}

int lat_search_draw(lat_search *w, int n, lat_dfield *const *x, lat_dfield *y, bool *found)
{
    double before, after;
    *found = false;
    if ((size_t)n >= w->dimension)
        return 0;
    if (fill_random(w, y) || lat_search_norm(w, y, &before)
        || lat_search_orthogonal(w, n, x, y, NULL, &after))
        return -1;
    *found = after > 1e-8 * before;
    return *found ? lat_search_scale(w, 1 / after, y) : 0;
}

/* y[k] of up to as many k as a batch has columns. */
static int rotate_batch(lat_search *w, int n, lat_dfield *const *x, int m, const lat_cx *u,
                        int pitch, lat_dfield *const *y)
{
    const lat_search_columns c = {w->op->many->space, {w->p.parity, m, lat_column_numbers}};
    if (c.s->ops->zero(c.s, &c.p, w->batch) || axpys_of(&c, n, u, pitch, x, w->batch))
        return -1;
    for (int k = 0; k < m; k++) {
        const lat_part one = {w->p.parity, 1, lat_column_numbers + k};
        if (w->s->ops->convert(w->s, &one, c.s, w->batch, y[k]))
            return -1;
    }
    return 0;
}

int lat_search_rotate(lat_search *w, int n, lat_dfield *const *x, int m, const lat_cx *u, int pitch,
                      lat_dfield *const *y)
{
    const int most = w->op->many ? w->op->many->space->columns : 1;
    for (int k = 0; k < m; k += most) {
        const lat_cx *const of = u + (size_t)k * (size_t)pitch;
        const int count = m - k < most ? m - k : most;
        const int rc = most > 1 ? rotate_batch(w, n, x, count, of, pitch, y + k)
                                : w->s->ops->zero(w->s, &w->p, y[k])
                                      || lat_search_axpys(w, n, of, x, y[k]);
        if (rc)
            return -1;
    }
    return 0;
}

/* ---- diagonalisation ------------------------------------------------------------------------- */

/* value = (y, A y) and |A y - value y|, |y| = 1. */
int lat_search_residual(lat_search *w, lat_dfield *y, lat_dfield *work, double *value,
                        double *residual)
{
    lat_cx dot;
    if (lat_search_apply(w, work, y, NULL) || lat_search_dots(w, 1, &y, work, &dot))
        return -1;
    *value = creal(dot);
    const lat_cx minus = -*value;
    return lat_search_axpys(w, 1, &minus, &y, work) || lat_search_norm(w, work, residual) ? -1 : 0;
}

/* Modes that are looked for come first, by |A y|: a vector far from any mode may have any (y, A y)
 * between eigenvalues of both signs. */
void lat_search_order(const lat_search *w, int n, double *value, double *residual, lat_dfield **y)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0; j--) {
            const double a = hypot(value[j - 1], residual[j - 1]), b = hypot(value[j], residual[j]),
                         v = value[j], r = residual[j];
            lat_dfield *z = y[j];
            if (w->job->largest ? a >= b : a <= b)
                break;
            value[j] = value[j - 1];
            residual[j] = residual[j - 1];
            y[j] = y[j - 1];
            value[j - 1] = v;
            residual[j - 1] = r;
            y[j - 1] = z;
        }
}

int lat_search_diagonalise(lat_search *w, int n, lat_dfield *const *x, lat_dfield **y,
                           double *value, double *residual, lat_dfield *work)
{
    const size_t size = (size_t)n * (size_t)n;
    lat_cx *a = lat_alloc(3 * size, sizeof *a, "a small matrix"), *dot = a + size, *u = dot + size;
    int rc = a ? 0 : -1;
    /* dot[j * n + i] = <x_i, A x_j> */
    for (int j = 0; j < n && rc == 0; j++)
        rc = lat_search_apply(w, work, x[j], NULL) || lat_search_dots(w, n, x, work, dot + j * n);
    for (int i = 0; i < n && rc == 0; i++)
        for (int j = i; j < n; j++)
            a[i * n + j] = (dot[j * n + i] + conj(dot[i * n + j])) / 2;
    rc = rc || lat_dense_eigen(n, a, value, u) || lat_search_rotate(w, n, x, n, u, n, y);
    for (int k = 0; k < n && rc == 0; k++)
        rc = lat_search_residual(w, y[k], work, &value[k], &residual[k]);
    if (rc == 0)
        lat_search_order(w, n, value, residual, y);
    free(a);
    return rc ? -1 : 0;
}

bool lat_search_is_good(const lat_search *w, int k, double value, double residual)
{
    /* That of the gap: a thousandth of its value does. */
    const double loose = k == w->job->high ? 1e-3 * fabs(value) : 0;
    return residual <= fmax(fmax(w->job->tolerance, w->floor * w->norm), loose);
}

bool lat_search_converged(const lat_search *w, int n, const double *value, const double *residual,
                          int *converged, double *worst)
{
    *converged = 0;
    *worst = 0;
    for (int k = 0; k < n && k < w->want; k++) {
        if (lat_search_is_good(w, k, value[k], residual[k]))
            ++*converged;
        else
            *worst = fmax(*worst, residual[k]);
    }
    return n >= w->want && *converged == w->want;
}

int lat_search_save(lat_search *w, const lat_modes_state *state)
{
    return w->job->save ? w->job->save(w->job->with, state) : 0;
}

int lat_search_load(lat_search *w, const lat_modes_state *from, int first, int n,
                    lat_dfield *const *to)
{
    for (int i = 0; i < n; i++)
        if (w->s->ops->copy(w->s, &w->p, from->vector[first + i], to[i]))
            return -1;
    return 0;
}

int lat_search_progress(lat_search *w, int converged, double worst)
{
    w->converged = converged;
    w->worst = worst;
    return lat_search_again(w);
}

int lat_search_again(lat_search *w)
{
    const lat_modes_job *job = w->job;
    return job->progress
               ? job->progress(job->with, w->converged, w->want, w->worst, w->applications)
               : 0;
}
