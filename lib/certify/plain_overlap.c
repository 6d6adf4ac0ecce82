/* SPDX-License-Identifier: BSD-3-Clause */
/* plain_overlap.c: sign(H) from its definition on host fields. */
#include "plain_overlap.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "plain.h"

typedef double complex cx;

enum { BATCH = 12 }; /* modes side by side */

struct lat_plain_overlap {
    lat_plain *kernel;
    double mu, a, b; /* the interval, in H^2: squares */
    int terms, modes;
    double *c;       /* [terms] */
    lat_field *mode; /* [modes] */
    double *value;
};

/* ---- the series ------------------------------------------------------------------------------ */

/* g(y): f(H) = H g(H^2). */
static double weight(const lat_plain_sign *s, double y)
{
    const double x = sqrt(y);
    return (s->forced ? s->forced(s->with, x) : 1) / x;
}

/* Interpolates with n terms. The largest of the last tenth of terms, times what they are multiplied
 * by, is the error's order. */
static double interpolate(const lat_plain_sign *s, lat_plain_overlap *m, int n)
{
    double *g = lat_alloc((size_t)n, sizeof *g, "a Chebyshev series"), tail = 0;
    free(m->c);
    m->c = lat_alloc((size_t)n, sizeof *m->c, "a Chebyshev series");
    m->terms = n;
    if (!g || !m->c) {
        free(g);
        return -1;
    }
    for (int j = 0; j < n; j++)
        g[j] = weight(s, (m->a + m->b) / 2 + (m->b - m->a) / 2 * cos(M_PI * (j + .5) / n));
#pragma omp parallel for schedule(static)
    for (int k = 0; k < n; k++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += g[j] * cos(M_PI * (double)((long)k * (2 * j + 1) % (4L * n)) / (2 * n));
        m->c[k] = sum * (k ? 2 : 1) / n;
    }
    free(g);
    for (int k = n - 1 - n / 10; k < n; k++)
        tail += fabs(m->c[k]);
    return tail * sqrt(m->b);
}

/* Twice as many terms until the last ones are small; then those that do not matter are left out. */
static int make_series(const lat_plain_sign *s, lat_plain_overlap *m, double delta)
{
    double error = 1;
    for (int n = 32; n <= 16384; n *= 2) {
        error = interpolate(s, m, n);
        if (error < 0)
            return -1;
        if (error < delta / 4)
            break;
    }
    if (!(error < delta / 4) && delta > 1e-12)
        return lat_fail("sign function: expected an error of %.3g of a series, found %.3g", delta,
                        error);
    double tail = 0;
    while (m->terms > 2 && tail + fabs(m->c[m->terms - 1]) * sqrt(m->b) < delta / 2)
        tail += fabs(m->c[--m->terms]) * sqrt(m->b);
    return 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static int like(const lat_field *x, lat_field *y)
{
    *y = (lat_field){.comm = x->comm};
    if (lat_header_copy(&y->head, &x->head))
        return -1;
    y->head.real = LAT_F64;
    return lat_field_alloc(y, x->comm);
}

typedef struct columns {
    int count;
    const int *column;
} columns;

/* z <- a x + b y of these columns, times gamma5 if `gamma5`; fields may be the same. */
static void combine(const columns *c, double a, const lat_field *x, double b, const lat_field *y,
                    lat_field *z, bool gamma5)
{
    const size_t objects = lat_header_objects(&z->head), n = lat_header_full_reals(&z->head);
    const size_t sites = lat_field_sites(z);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++)
        for (int k = 0; k < c->count; k++) {
            const size_t at = (i * objects + (size_t)c->column[k]) * n;
            const double *u = (const double *)x->data + at, *v = (const double *)y->data + at;
            double *w = (double *)z->data + at;
            for (size_t e = 0; e < n; e++) {
                const double sum = (a != 0 ? a * u[e] : 0) + (b != 0 ? b * v[e] : 0);
                w[e] = gamma5 && e >= n / 2 ? -sum : sum;
            }
        }
}

/* <x, y> of each column, summed by slices; of a field x of one column with each of y. */
static int products(const columns *c, const lat_field *x, const lat_field *y, cx *dot)
{
    const size_t slices = (size_t)lat_slices(&y->head), own = (size_t)lat_field_slab(y).count;
    const size_t sites = lat_slice_sites(&y->head), n = lat_header_full_reals(&y->head);
    const size_t ox = lat_header_objects(&x->head), oy = lat_header_objects(&y->head);
    const size_t row = (size_t)c->count;
    cx *sum = lat_alloc(own + slices, row * sizeof *sum, "products of spinors");
    if (!sum)
        return -1;
#pragma omp parallel for schedule(static)
    for (size_t t = 0; t < own; t++)
        for (size_t k = 0; k < row; k++) {
            cx s = 0;
            for (size_t i = t * sites; i < (t + 1) * sites; i++) {
                const size_t col = (size_t)c->column[k];
                const cx *u = (const cx *)((const double *)x->data
                                           + (i * ox + (ox == 1 ? 0 : col)) * n),
                         *v = (const cx *)((const double *)y->data + (i * oy + col) * n);
                for (size_t e = 0; e < n / 2; e++)
                    s += conj(u[e]) * v[e];
            }
            sum[t * row + k] = s;
        }
    const int rc = lat_field_gather(y, sum, row * sizeof *sum, sum + own * row);
    for (size_t k = 0; k < row && rc == 0; k++) {
        dot[k] = 0;
        for (size_t t = 0; t < slices; t++)
            dot[k] += sum[(own + t) * row + k];
    }
    free(sum);
    return rc;
}

/* y += factor dot[column] w */
static void add_mode(const columns *c, double factor, const cx *dot, const lat_field *w,
                     lat_field *y)
{
    const size_t objects = lat_header_objects(&y->head), n = lat_header_full_reals(&y->head) / 2;
    const size_t sites = lat_field_sites(y);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++)
        for (int k = 0; k < c->count; k++) {
            cx *v = (cx *)y->data + (i * objects + (size_t)c->column[k]) * n;
            for (size_t e = 0; e < n; e++)
                v[e] += factor * dot[k] * ((const cx *)w->data)[i * n + e];
        }
}

/* ---- sign(H) --------------------------------------------------------------------------------- */

/* out = D_W in, or D_W^+ in. */
static int kernel(const lat_plain_overlap *m, const columns *c, bool dagger, lat_field *in,
                  lat_field *out)
{
    return lat_rc(lat_field_exchange(in)
                  || lat_plain_apply(m->kernel, dagger, in, c->count, c->column, out));
}

typedef struct work {
    lat_field psi, t[2], h, hh;
} work;

/* A step of the series, z = (2 H^2 - a - b)/(b - a), in one pass: before <- T = z now, or 2 z now -
 * before, which follows it; sum <- sum + c T. hh: H^2 now. */
static void next_term(const lat_plain_overlap *m, const columns *c, int k, const work *w,
                      const lat_field *now, lat_field *before, lat_field *sum)
{
    const size_t objects = lat_header_objects(&sum->head), n = lat_header_full_reals(&sum->head);
    const size_t sites = lat_field_sites(sum);
    const double twice = k == 1 ? 1 : 2, p = twice * 2 / (m->b - m->a),
                 q = -twice * (m->a + m->b) / (m->b - m->a), r = k == 1 ? 0 : -1, t = m->c[k];
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++)
        for (int l = 0; l < c->count; l++) {
            const size_t at = (i * objects + (size_t)c->column[l]) * n;
            const double *hh = (const double *)w->hh.data + at, *u = (const double *)now->data + at;
            double *v = (double *)before->data + at, *s = (double *)sum->data + at;
            for (size_t e = 0; e < n; e++) {
                v[e] = p * hh[e] + q * u[e] + r * v[e];
                s[e] += t * v[e];
            }
        }
}

/* sum = sum_k c_k T_k(z) psi. H^2 = D_W^+ D_W. */
static int series(const lat_plain_overlap *m, const columns *c, work *w, lat_field *sum)
{
    lat_field *now = &w->t[0], *before = &w->t[1];
    combine(c, 1, &w->psi, 0, &w->psi, now, false);
    combine(c, 0, now, 0, now, before, false);
    combine(c, m->c[0], now, 0, now, sum, false);
    for (int k = 1; k < m->terms; k++) {
        if (kernel(m, c, false, now, &w->h) || kernel(m, c, true, &w->h, &w->hh))
            return -1;
        next_term(m, c, k, w, now, before, sum);
        lat_field *swap = now;
        now = before;
        before = swap;
    }
    return 0;
}

/* out = sign(H) x; psi is overwritten. */
static int sign(const lat_plain_overlap *m, const columns *c, work *w, const lat_field *x,
                lat_field *out)
{
    cx *dot = lat_alloc((size_t)(m->modes + 1) * (size_t)c->count, sizeof *dot, "products");
    int rc = dot ? 0 : -1;
    combine(c, 1, x, 0, x, &w->psi, false);
    for (int k = 0; k < m->modes && rc == 0; k++) {
        rc = products(c, &m->mode[k], &w->psi, dot + k * c->count);
        if (rc == 0)
            add_mode(c, -1, dot + k * c->count, &m->mode[k], &w->psi);
    }
    rc = rc || series(m, c, w, out) || kernel(m, c, false, out, &w->h);
    if (rc == 0)
        combine(c, 1, &w->h, 0, &w->h, out, true);
    for (int k = 0; k < m->modes && rc == 0; k++)
        add_mode(c, m->value[k] > 0 ? 1 : -1, dot + k * c->count, &m->mode[k], out);
    free(dot);
    return rc ? -1 : 0;
}

static int open_work(const lat_field *x, work *w)
{
    return lat_rc(like(x, &w->psi) || like(x, &w->t[0]) || like(x, &w->t[1]) || like(x, &w->h)
                  || like(x, &w->hh));
}

static void free_work(work *w)
{
    lat_field *const all[] = {&w->psi, &w->t[0], &w->t[1], &w->h, &w->hh};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        lat_field_free(all[i]);
}

int lat_plain_overlap_apply(lat_plain_overlap *m, const lat_field *x, int count, const int *column,
                            lat_field *out)
{
    const columns c = {count, column};
    work w = {.psi = {.data = NULL}};
    int rc = open_work(x, &w) || sign(m, &c, &w, x, out);
    if (rc == 0) {
        combine(&c, (1 - m->mu) / 2, out, 0, out, out, true);
        combine(&c, (1 + m->mu) / 2, x, 1, out, out, false);
    }
    free_work(&w);
    return rc ? -1 : 0;
}

int lat_plain_overlap_residual(lat_plain_overlap *m, const lat_field *x, const lat_field *b,
                               int count, const int *column, double *residual)
{
    const columns c = {count, column};
    lat_field r = {.data = NULL}, exact = {.data = NULL};
    cx *norm = lat_alloc(2 * (size_t)count, sizeof *norm, "residuals");
    int rc = !norm || like(x, &r) ? -1 : 0;
    const bool rounded = b->head.real != LAT_F64;
    if (rc == 0 && rounded)
        rc = lat_field_duplicate(b, &exact) || lat_field_convert(&exact, LAT_F64);
    const lat_field *to = rounded ? &exact : b;
    rc = rc || lat_plain_overlap_apply(m, x, count, column, &r);
    if (rc == 0) {
        combine(&c, 1, to, -1, &r, &r, false);
        rc = products(&c, &r, &r, norm) || products(&c, to, to, norm + count);
    }
    for (int k = 0; k < count && rc == 0; k++) {
        const double off = creal(norm[k]), all = creal(norm[count + k]);
        residual[k] = off == 0 ? 0 : sqrt(off / all);
    }
    lat_field_free(&r);
    lat_field_free(&exact);
    free(norm);
    return rc ? -1 : 0;
}

/* Columns from `first` on as a field of their own. */
static int narrow(const lat_field *x, int first, int count, lat_field *y)
{
    *y = (lat_field){.comm = x->comm};
    if (lat_header_copy(&y->head, &x->head))
        return -1;
    y->head.real = LAT_F64;
    lat_header_make_spinors(&y->head, LAT_MODES, count);
    if (lat_field_alloc(y, x->comm))
        return -1;
    const size_t n = lat_header_full_reals(&x->head), wide = lat_header_objects(&x->head),
                 own = (size_t)count;
    for (size_t i = 0; i < lat_field_sites(x) * own; i++)
        lat_field_get(x, i / own * wide + (size_t)first + i % own, (double *)y->data + i * n);
    return 0;
}

/* <w, gamma5 w> of each column. */
static int chirality_of(const columns *c, const lat_field *w, lat_field *tmp, cx *dot)
{
    combine(c, 1, w, 0, w, tmp, true);
    return products(c, w, tmp, dot);
}

/* |D^+ D w - value w| of modes of a chirality c, where D^+ D = (1 + c P sign(H) P)/2, P = (1 + c
 * gamma5)/2; what w has of the other chirality counts as well. */
static int modes_of(lat_plain_overlap *m, const columns *c, const lat_field *w, const double *value,
                    double *residual)
{
    work k = {.psi = {.data = NULL}};
    lat_field y = {.comm = w->comm};
    cx dot[BATCH];
    int rc = lat_rc(open_work(w, &k) || like(w, &y) || chirality_of(c, w, &y, dot)
                    || sign(m, c, &k, w, &y));
    for (int i = 0; i < c->count && rc == 0; i++) {
        const columns one = {1, &c->column[i]};
        const double sign = creal(dot[i]) > 0 ? 1 : -1;
        combine(&one, 1, &y, 0, &y, &k.h, true); /* gamma5 S w */
        combine(&one, sign / 4, &y, .25, &k.h, &y, false);
        combine(&one, 1, &y, .5 - value[i], w, &y, false);
    }
    rc = rc || products(c, &y, &y, dot) ? -1 : 0;
    for (int i = 0; i < c->count && rc == 0; i++)
        residual[i] = sqrt(creal(dot[i]));
    lat_field_free(&y);
    free_work(&k);
    return rc;
}

int lat_plain_overlap_modes(lat_plain_overlap *m, const lat_field *modes, double *residual)
{
    const int count = (int)lat_header_objects(&modes->head);
    int rc = 0;
    for (int first = 0; first < count && rc == 0; first += BATCH) {
        static const int numbers[BATCH] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
        const columns c = {count - first < BATCH ? count - first : BATCH, numbers};
        lat_field w;
        rc = lat_rc(narrow(modes, first, c.count, &w)
                    || modes_of(m, &c, &w, modes->head.quark.eigenvalue + first, residual + first));
        lat_field_free(&w);
    }
    return rc;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int copy_modes(lat_plain_overlap *m, const lat_field *links, const lat_plain_sign *s)
{
    m->mode = lat_alloc_zero((size_t)s->modes + 1, sizeof *m->mode, "modes");
    m->value = lat_alloc((size_t)s->modes + 1, sizeof *m->value, "modes");
    if (!m->mode || !m->value)
        return -1;
    while (m->modes < s->modes) {
        const int k = m->modes++; /* to be freed, whatever it has */
        m->value[k] = s->value[k];
        if (lat_field_spinors(&m->mode[k], links, LAT_SPINOR, 1)
            || s->mode(s->with, k, &m->mode[k]))
            return -1;
    }
    return 0;
}

lat_plain_overlap *lat_plain_overlap_new(const lat_field *links, const lat_plain_sign *s,
                                         double delta)
{
    lat_plain_overlap *m = lat_alloc_zero(1, sizeof *m, "the overlap operator");
    if (!m)
        return NULL;
    m->mu = s->mu;
    m->a = s->lower * s->lower;
    m->b = s->upper * s->upper;
    if (make_series(s, m, delta) || copy_modes(m, links, s)
        || !(m->kernel = lat_plain_new(links, &s->kernel))) {
        lat_plain_overlap_free(m);
        return NULL;
    }
    return m;
}

void lat_plain_overlap_mass(lat_plain_overlap *m, double mu) { m->mu = mu; }

void lat_plain_overlap_free(lat_plain_overlap *m)
{
    if (!m)
        return;
    lat_plain_free(m->kernel);
    for (int k = 0; k < m->modes; k++)
        lat_field_free(&m->mode[k]);
    LAT_FREE(m->mode, m->value, m->c, m);
}
