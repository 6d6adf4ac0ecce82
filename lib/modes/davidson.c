/* SPDX-License-Identifier: BSD-3-Clause */
/* davidson.c: block Davidson (E. R. Davidson, J. Comput. Phys. 17 (1975) 87): the basis grows by
 * F r of Ritz vectors' residuals r, F about A^-1, and becomes its lowest Ritz vectors where it is
 * full.
 *
 * With eigenvalues of both signs (v, A v) may be near 0 without a mode. So the lowest vectors of
 * A^2 in the basis come first, from products of images A v, and A is diagonalised in their space.
 * More random vectors begin than modes are wanted, so that no copy of a degenerate level is missed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/dense.h"
#include "base/error.h"
#include "base/memory.h"
#include "modes_internal.h"

enum {
    BLOCKS = 4, /* that the basis has beside the vectors that it keeps */
    STALLS = 5, /* times that nothing new comes, or modes are not what they promise: given up */
    NUMBERS = 3 /* of a state, before values and residuals */
};

#define NEW 1e-4 /* what is left of a vector beside those of its batch, below it nothing new */

typedef struct davidson {
    lat_search *w;
    lat_dfield **v, **image; /* [most]: the orthonormal basis; A v */
    lat_search_columns t;    /* of batches: */
    lat_dfield *r, *s;       /* residuals r, then F r; A of that */
    int side, keep, most;    /* vectors: of a batch, after a restart, before one */
    int n, due;              /* of the basis; of r */
    double worst;            /* |r| */
    int stalls;
    lat_cx *h, *g;         /* [most][most]: <v_i, A v_j>, <A v_i, A v_j>, i <= j */
    lat_cx *u;             /* [most][most]: u[k * n + i] is element i of Ritz vector k */
    lat_cx *work;          /* [side][most] */
    double *value;         /* [most] */
    double *residual, *of; /* [most]: found last, infinite: not yet; of that value */
} davidson;

static int column_to(const davidson *z, int k, const lat_dfield *batch, lat_dfield *v)
{
    const lat_part one = {z->w->p.parity, 1, lat_column_numbers + k};
    return z->w->s->ops->convert(z->w->s, &one, z->t.s, batch, v);
}

static int column_from(const davidson *z, int k, const lat_dfield *v, lat_dfield *batch)
{
    const lat_part one = {z->w->p.parity, 1, lat_column_numbers + k};
    return z->t.s->ops->convert(z->t.s, &one, z->w->s, v, batch);
}

/* ---- the basis ------------------------------------------------------------------------------- */

/* Images of vectors from n on, and products. */
static int complete(davidson *z, int count)
{
    lat_search *w = z->w;
    lat_dirac *const many = w->op->many;
    const int n = z->n, all = n + count;
    z->t.p.columns = count;
    for (int k = 0; k < count; k++)
        if (column_from(z, k, z->v[n + k], z->r))
            return -1;
    w->applications += count;
    if (many->ops->apply(many, w->op->matrix, &z->t.p, z->s, z->r, NULL))
        return -1;
    for (int k = 0; k < count; k++)
        if (column_to(z, k, z->s, z->image[n + k]))
            return -1;
    lat_dfield *const *const from[] = {z->v, z->image};
    lat_cx *const to[] = {z->h, z->g};
    for (int m = 0; m < 2; m++) {
        if (lat_search_dots_of(&z->t, all, from[m], z->s, z->work))
            return -1;
        for (int k = 0; k < count; k++)
            for (int i = 0; i <= n + k; i++)
                to[m][i * z->most + n + k] = z->work[k * all + i];
    }
    z->n = all;
    return 0;
}

/* Of the first `all` vectors. */
static int complete_all(davidson *z, int all)
{
    for (z->n = 0; z->n < all;)
        if (complete(z, all - z->n < z->side ? all - z->n : z->side))
            return -1;
    return 0;
}

/* What is new of the columns of r goes into the basis. */
static int append(davidson *z)
{
    lat_search *w = z->w;
    const lat_vector_ops *ops = z->t.s->ops;
    const int n = z->n;
    int count = 0;
    double before[LAT_VECTOR_COLUMNS], rest[LAT_VECTOR_COLUMNS], after;
    z->t.p.columns = z->due;
    if (ops->dots(z->t.s, &z->t.p, 0, NULL, z->r, NULL, before)
        || lat_search_orthogonal_of(&z->t, n, z->v, z->r, NULL)
        || ops->dots(z->t.s, &z->t.p, 0, NULL, z->r, NULL, rest))
        return -1;
    for (int k = 0; k < z->due; k++) {
        lat_dfield *const v = z->v[n + count];
        if (column_to(z, k, z->r, v) || lat_search_orthogonal(w, count, z->v + n, v, NULL, &after))
            return -1;
        if (!(sqrt(rest[k]) > 1e3 * w->epsilon * sqrt(before[k])) || !(after > NEW * sqrt(rest[k])))
            continue;
        if (lat_search_scale(w, 1 / after, v))
            return -1;
        count++;
    }
    return count ? complete(z, count) : 0;
}

/* By F r. */
static int grow(davidson *z)
{
    const lat_modes_job *job = z->w->job;
    z->t.p.columns = z->due;
    return lat_rc(job->inverse(job->with, &z->t.p, z->r, &z->w->applications) || append(z));
}

static bool too_many(const davidson *z) { return z->w->applications > z->w->job->max_applications; }

/* By vectors that the caller has, then by F of random ones: 1; 0 after too many applications; or
 * -1. */
static int begin(davidson *z)
{
    const lat_modes_job *job = z->w->job;
    const int known = job->starts < z->most ? job->starts : z->most;
    if (lat_lanczos_norm(z->w))
        return -1;
    for (int first = 0; first < known; first += z->due) {
        z->t.p.columns = z->due = known - first < z->side ? known - first : z->side;
        if (job->start(job->with, first, &z->t.p, z->r) || append(z))
            return -1;
        if (too_many(z))
            return 0;
    }
    while (z->n < z->keep) {
        const int left = z->keep - z->n;
        z->due = left < z->side ? left : z->side;
        for (int k = 0; k < z->due; k++) {
            bool found;
            if (lat_search_draw(z->w, z->n, z->v, z->v[z->n], &found)
                || column_from(z, k, z->v[z->n], z->r))
                return -1;
        }
        if (grow(z))
            return -1;
        if (too_many(z))
            return 0;
    }
    return 1;
}

/* ---- Ritz vectors ---------------------------------------------------------------------------- */

/* a <- u^+ h u, the upper triangle, of the first m vectors u. */
static void project(const davidson *z, int m, const lat_cx *u, lat_cx *a)
{
    const int n = z->n;
    for (int l = 0; l < m; l++) {
        for (int k = 0; k <= l; k++)
            a[k * m + l] = 0;
        for (int i = 0; i < n; i++) {
            lat_cx sum = 0; /* h u_l */
            for (int j = 0; j < n; j++)
                sum += (i <= j ? z->h[i * z->most + j] : conj(z->h[j * z->most + i]))
                       * u[l * n + j];
            for (int k = 0; k <= l; k++)
                a[k * m + l] += conj(u[k * n + i]) * sum;
        }
    }
}

/* z->u becomes the vectors sum_l q[k][l] u[l], those with the lowest moduli of values first. */
static void combine(davidson *z, int m, const double *value, const lat_cx *q, const lat_cx *u)
{
    const int n = z->n;
    for (int k = 0; k < m; k++) {
        int at = 0; /* how many come before k */
        for (int l = 0; l < m; l++)
            at += fabs(value[l]) < fabs(value[k]) || (fabs(value[l]) == fabs(value[k]) && l < k);
        z->value[at] = value[k];
        for (int i = 0; i < n; i++) {
            lat_cx sum = 0;
            for (int l = 0; l < m; l++)
                sum += q[k * m + l] * u[l * n + i];
            z->u[at * n + i] = sum;
        }
    }
}

/* The lowest Ritz values and vectors. */
static int find_ritz(davidson *z)
{
    const int n = z->n, m = n < z->keep ? n : z->keep;
    const size_t size = (size_t)n * (size_t)n;
    lat_cx *a = lat_alloc(3 * size, sizeof *a, "a small matrix"), *u = a + size, *q = u + size;
    double *value = lat_alloc((size_t)n, sizeof *value, "eigenvalues");
    int rc = a && value ? 0 : -1;
    for (int i = 0; i < n && rc == 0; i++)
        for (int j = i; j < n; j++)
            a[i * n + j] = z->g[i * z->most + j];
    rc = rc || lat_dense_eigen(n, a, value, u) ? -1 : 0;
    if (rc == 0) {
        project(z, m, u, a);
        rc = lat_dense_eigen(m, a, value, q);
    }
    if (rc == 0)
        combine(z, m, value, q, u);
    LAT_FREE(a, value);
    return rc;
}

/* r = A x - value x of Ritz vectors x number list[0], .. */
static int find_residuals(davidson *z, const int *list)
{
    const int n = z->n;
    double norm[LAT_VECTOR_COLUMNS];
    lat_space *s = z->t.s;
    z->t.p.columns = z->due;
    for (int k = 0; k < z->due; k++)
        memcpy(z->work + k * n, z->u + list[k] * n, (size_t)n * sizeof *z->work);
    if (s->ops->zero(s, &z->t.p, z->r) || lat_search_axpys_of(&z->t, n, z->work, z->image, z->r))
        return -1;
    for (int k = 0; k < z->due; k++)
        for (int i = 0; i < n; i++)
            z->work[k * n + i] *= -z->value[list[k]];
    if (lat_search_axpys_of(&z->t, n, z->work, z->v, z->r)
        || s->ops->dots(s, &z->t.p, 0, NULL, z->r, NULL, norm))
        return -1;
    for (int k = 0; k < z->due; k++) {
        z->residual[list[k]] = sqrt(norm[k]);
        z->of[list[k]] = z->value[list[k]];
    }
    return 0;
}

/* Has mode k converged, when its residual was found last? */
static bool is_good(const davidson *z, int k)
{
    return fabs(z->value[k] - z->of[k]) <= z->w->job->tolerance
           && lat_search_is_good(z->w, k, z->value[k], z->residual[k]);
}

/* The residuals of the first Ritz vectors that are not good. */
static int choose(davidson *z)
{
    int list[LAT_VECTOR_COLUMNS];
    bool some_good = true;
    while (some_good) {
        some_good = false;
        z->worst = 0;
        z->due = 0;
        for (int k = 0; k < z->w->want && z->due < z->side; k++)
            if (!is_good(z, k))
                list[z->due++] = k;
        if (z->due && find_residuals(z, list))
            return -1;
        for (int k = 0; k < z->due; k++) {
            some_good = some_good || is_good(z, list[k]);
            z->worst = fmax(z->worst, z->residual[list[k]]);
        }
    }
    return 0;
}

/* ---- restarts, and the end ------------------------------------------------------------------- */

/* The basis becomes its lowest Ritz vectors. */
static int restart(davidson *z)
{
    const int n = z->n;
    double norm;
    if (lat_search_rotate(z->w, n, z->v, z->keep, z->u, n, z->image))
        return -1;
    for (int k = 0; k < z->keep; k++) {
        lat_search_swap(&z->v[k], &z->image[k]);
        if (lat_search_orthonormal(z->w, k, z->v, z->v[k], &norm))
            return -1;
    }
    return complete_all(z, z->keep);
}

/* The modes, y, with residuals from their definition: 1; 0 where they are not good. Then a restart
 * is needed, as image 0 is overwritten, and all residuals: vectors of a level of several copies mix
 * from one look to the next, and one that was good may have the residual of another. */
static int finish(davidson *z, lat_dfield **y, double *value, double *residual, double *worst)
{
    lat_search *w = z->w;
    int converged;
    if (lat_search_rotate(w, z->n, z->v, w->want, z->u, z->n, y))
        return -1;
    for (int k = 0; k < w->want; k++) {
        if (lat_search_residual(w, y[k], z->image[0], &value[k], &residual[k]))
            return -1;
        z->residual[k] = INFINITY;
    }
    lat_search_order(w, w->want, value, residual, y);
    return lat_search_converged(w, w->want, value, residual, &converged, worst);
}

/* ---- states ---------------------------------------------------------------------------------- */

/* The basis; images, products and r follow from it. */
static int save(davidson *z)
{
    const int numbers = NUMBERS + 2 * z->w->want;
    double *number = lat_alloc((size_t)numbers, sizeof *number, "a state");
    if (!number)
        return -1;
    const double head[NUMBERS] = {z->w->norm, (double)z->w->draws, z->stalls};
    memcpy(number, head, sizeof head);
    for (int k = 0; k < z->w->want; k++) {
        number[NUMBERS + 2 * k] = z->residual[k];
        number[NUMBERS + 2 * k + 1] = z->of[k];
    }
    const lat_modes_state state = {
        .between = true, .vectors = z->n, .numbers = numbers, .vector = z->v, .number = number};
    const int rc = lat_search_save(z->w, &state);
    free(number);
    return rc;
}

static int load(davidson *z)
{
    lat_search *w = z->w;
    const lat_modes_state *from = w->job->from;
    const double *v = from->number;
    if (from->numbers != NUMBERS + 2 * w->want || from->vectors < z->keep || from->vectors > z->most
        || !(v[1] >= 0 && v[1] <= 1e15) || !(v[2] >= 0 && v[2] < STALLS))
        return lat_fail(
            "the checkpoint: expected a state of a search by an inverse, found another");
    w->norm = v[0];
    w->draws = (uint64_t)v[1];
    z->stalls = (int)v[2];
    for (int k = 0; k < w->want; k++) {
        z->residual[k] = v[NUMBERS + 2 * k];
        z->of[k] = v[NUMBERS + 2 * k + 1];
    }
    if (lat_search_load(w, from, 0, from->vectors, z->v))
        return -1;
    return complete_all(z, from->vectors);
}

/* ---- the method ------------------------------------------------------------------------------ */

/* Until all modes have converged: 1; 0 where that takes too long; or -1. */
static int iterate(davidson *z, lat_dfield **y, double *value, double *residual, double *worst)
{
    lat_search *w = z->w;
    for (;;) {
        int converged = 0;
        if (find_ritz(z) || choose(z))
            return -1;
        for (int k = 0; k < w->want; k++)
            converged += is_good(z, k);
        *worst = z->worst;
        const int asked = lat_search_progress(w, converged, z->worst);
        const bool good = z->due == 0;
        if (asked > 0)
            save(z);
        if (asked)
            return -1;
        if (good) {
            const int rc = finish(z, y, value, residual, worst);
            if (rc)
                return rc;
            z->stalls++;
        }
        if (z->stalls == STALLS || too_many(z))
            return 0;
        if (good || z->n + z->side > z->most) {
            if (restart(z) || save(z))
                return -1;
            continue;
        }
        const int before = z->n;
        if (grow(z))
            return -1;
        z->stalls += z->n == before;
    }
}

static void set_sizes(davidson *z)
{
    const lat_search *w = z->w;
    const int dimension = w->dimension < 1 << 20 ? (int)w->dimension : 1 << 20;
    z->side = w->op->many->space->columns;
    z->keep = w->want + (w->want / 4 > 4 ? w->want / 4 : 4);
    z->keep = z->keep < dimension ? z->keep : dimension;
    z->most = z->keep + BLOCKS * z->side;
    z->most = z->most < dimension ? z->most : dimension;
}

int lat_davidson_vectors(lat_search *w)
{
    davidson z = {.w = w};
    set_sizes(&z);
    return 2 * z.most + 2 * z.side + w->want;
}

static int open_basis(davidson *z)
{
    lat_search *w = z->w;
    set_sizes(z);
    if (z->most < z->keep + z->side)
        return lat_fail("modes: expected at most %d by an inverse of an operator of dimension %zu, "
                        "found %d",
                        4 * (z->most - z->side) / 5 - 5, w->dimension, w->job->high);
    z->t = (lat_search_columns){w->op->many->space, {w->p.parity, 0, lat_column_numbers}};
    const size_t most = (size_t)z->most, side = (size_t)z->side;
    z->h = lat_alloc(3 * most * most + most * side, sizeof *z->h, "a small matrix");
    z->value = lat_alloc(3 * most, sizeof *z->value, "eigenvalues");
    if (!z->h || !z->value)
        return -1;
    z->g = z->h + most * most;
    z->u = z->g + most * most;
    z->work = z->u + most * most;
    z->residual = z->value + most;
    z->of = z->residual + most;
    for (size_t k = 0; k < most; k++)
        z->residual[k] = z->of[k] = INFINITY;
    return lat_rc(!(z->v = lat_search_vectors(w, z->most, "the basis of Davidson"))
                  || !(z->image = lat_search_vectors(w, z->most, "the basis of Davidson"))
                  || !(z->r = lat_vector_new(z->t.s, "residuals"))
                  || !(z->s = lat_vector_new(z->t.s, "images of residuals")));
}

int lat_modes_davidson(lat_search *w, lat_dfield **y, double *value, double *residual,
                       double *worst)
{
    davidson z = {.w = w};
    *worst = INFINITY;
    int rc = open_basis(&z) || lat_vector_new_all(w->s, w->want, y, "modes") ? -1 : 1;
    if (rc > 0)
        rc = !w->job->from ? begin(&z) : load(&z) ? -1 : 1;
    if (rc > 0)
        rc = iterate(&z, y, value, residual, worst);
    lat_search_free(z.most, z.v);
    lat_search_free(z.most, z.image);
    lat_dfield_free(z.r);
    lat_dfield_free(z.s);
    LAT_FREE(z.h, z.value);
    return rc;
}
