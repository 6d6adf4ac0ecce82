/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.c: F by the recursion of Chebyshev's polynomials, on one vector or on several. */
#include <math.h>
#include "base/error.h"
#include "modes_internal.h"

enum { MOST_DEGREE = 600 };
static const double AMPLIFY = 300, /* T_n at 0 */
    FARTHEST = .999; /* from the end where the interval begins, T_1 ranks the whole spectrum */

int lat_filter_open(lat_filter *f, lat_search *w)
{
    const lat_dirac *many = w->op->many;
    *f = (lat_filter){.w = w, .s = many ? many->space : w->s};
    f->columns = f->s->columns;
    if (lat_vector_new_all(f->s, 3, f->t, "the polynomial"))
        return -1;
    return f->columns > 1 && !(f->one = lat_search_vector(w, "the polynomial")) ? -1 : 0;
}

void lat_filter_close(lat_filter *f)
{
    lat_vector_free_all(3, f->t);
    lat_dfield_free(f->one);
}

static double end_of(const lat_search *w) { return w->op->positive ? w->norm : w->norm * w->norm; }

void lat_filter_choose(lat_filter *f, double a)
{
    const lat_search *w = f->w;
    f->b = end_of(w);
    f->a = fmin(fmax(a, 1e-8 * f->b), FARTHEST * f->b);
    const double x0 = (f->b + f->a) / (f->b - f->a), degree = ceil(acosh(AMPLIFY) / acosh(x0));
    f->degree = degree < MOST_DEGREE ? (int)degree : MOST_DEGREE;
    if (w->job->degree > 0 && f->a < FARTHEST * f->b)
        f->degree = w->job->degree;
}

void lat_filter_move(lat_filter *f, double a)
{
    const double middle = .5 * end_of(f->w);
    lat_filter_choose(f, f->a < middle ? fmin(a, middle) : a);
}

void lat_filter_raise(lat_filter *f, double wanted)
{
    const double x = (f->a + f->b - 2 * wanted) / (f->b - f->a),
                 degree = x > 1 ? ceil(acosh(AMPLIFY) / acosh(x)) : MOST_DEGREE;
    if (f->w->job->degree == 0 && degree > f->degree)
        f->degree = degree < MOST_DEGREE ? (int)degree : MOST_DEGREE;
}

/* ---- F --------------------------------------------------------------------------------------- */

typedef struct batch {
    lat_filter *f;
    lat_part p;
} batch;

/* out = A in (add: out + add A in) */
static int apply(const batch *n, const double *add, lat_dfield *out, lat_dfield *in)
{
    const lat_hermitian *op = n->f->w->op;
    double of_column[LAT_VECTOR_COLUMNS];
    lat_apply_end end = {.add = add ? of_column : NULL};
    for (int k = 0; add && k < n->p.columns; k++)
        of_column[k] = *add;
    if (!op->many)
        return lat_search_apply(n->f->w, out, in, &end);
    n->f->w->applications += n->p.columns;
    return op->many->ops->apply(op->many, op->matrix, &n->p, out, in, &end);
}

/* out = B in (add: out + add B in) */
static int square(const batch *n, const double *add, lat_dfield *out, lat_dfield *in)
{
    if (n->f->w->op->positive)
        return apply(n, add, out, in);
    return apply(n, NULL, n->f->t[2], in) || apply(n, add, out, n->f->t[2]) ? -1 : 0;
}

/* The same, where the ends of hops take shifts: X = -2 (A - t)(A + t)/(b - a), t^2 = (a + b)/2. */
static int by_shifts(const batch *n, double c, lat_dfield *in, lat_dfield *out, bool first)
{
    const lat_filter *f = n->f;
    lat_dirac *d = f->w->op->many;
    const double t = sqrt((f->a + f->b) / 2);
    double add[LAT_VECTOR_COLUMNS], keep[LAT_VECTOR_COLUMNS];
    for (int k = 0; k < n->p.columns; k++) {
        add[k] = -2 * c;
        keep[k] = first ? 0 : -1;
    }
    const lat_apply_end up = {.shift = {t, 0}}, down = {.add = add, .shift = {-t, 0}, .keep = keep};
    f->w->applications += 2 * n->p.columns;
    return lat_rc(d->ops->apply(d, f->w->op->matrix, &n->p, f->t[2], in, &up)
                  || d->ops->apply(d, f->w->op->matrix, &n->p, out, f->t[2], &down));
}

/* out <- (2) X in - out, X = (a + b - 2 B)/(b - a); `first`: out <- X in. */
static int recursion(const batch *n, double factor, lat_dfield *in, lat_dfield *out, bool first)
{
    const lat_filter *f = n->f;
    const double c = factor / (f->b - f->a), add = -2 * c;
    const lat_hermitian *op = f->w->op;
    if (op->many && op->many->fuses && op->matrix.kind == LAT_GAMMA5)
        return by_shifts(n, c, in, out, first);
    lat_scalar of_in[LAT_VECTOR_COLUMNS], of_out[LAT_VECTOR_COLUMNS];
    for (int k = 0; k < n->p.columns; k++) {
        of_in[k] = (lat_scalar){c * (f->a + f->b), 0};
        of_out[k] = (lat_scalar){first ? 0 : -1, 0};
    }
    return lat_rc(f->s->ops->axpby(f->s, &n->p, of_in, in, of_out, out, NULL)
                  || square(n, &add, out, in));
}

/* to = (1 + sign A / (4 |A|)) x: values of A with opposite signs, which have one of A^2, get two of
 * F, so that its eigenvectors are those of A. */
static int split(const batch *n, lat_dfield *x, lat_dfield *to)
{
    const double factor = .25 * n->f->w->sign / n->f->w->norm;
    return n->f->s->ops->copy(n->f->s, &n->p, x, to) || apply(n, &factor, to, x) ? -1 : 0;
}

/* Vectors to columns of `to`. */
static int load(const batch *n, lat_dfield *const *in, lat_dfield *to)
{
    lat_space *s = n->f->s, *one = n->f->w->s;
    if (n->f->columns == 1)
        return s->ops->copy(s, &n->p, in[0], to);
    for (int k = 0; k < n->p.columns; k++) {
        const lat_part p = {n->p.parity, 1, &lat_column_numbers[k]};
        if (s->ops->convert(s, &p, one, in[k], to))
            return -1;
    }
    return 0;
}

int lat_filter_apply(lat_filter *f, int count, lat_dfield *const *in)
{
    const batch n = {f, {f->w->p.parity, count, lat_column_numbers}};
    lat_dfield *last = f->t[1], *now = f->t[0];
    f->result = now;
    if (load(&n, in, last))
        return -1;
    if (f->w->job->largest)
        return square(&n, NULL, now, last);
    if (recursion(&n, 1, last, now, true))
        return -1;
    for (int k = 1; k < f->degree; k++) {
        lat_dfield *next = last;
        if (recursion(&n, 2, now, next, false))
            return -1;
        last = now;
        now = next;
    }
    f->result = now;
    if (f->w->op->positive || f->w->sign == 0)
        return 0;
    f->result = last;
    return split(&n, now, last);
}

int lat_filter_image(lat_filter *f, int k, lat_dfield **image)
{
    const lat_part p = {f->w->p.parity, 1, &lat_column_numbers[k]};
    *image = f->columns == 1 ? f->result : f->one;
    return f->columns == 1 ? 0 : f->w->s->ops->convert(f->w->s, &p, f->s, f->result, f->one);
}

double lat_filter_value(const lat_filter *f, double value)
{
    const lat_search *w = f->w;
    const double b = w->op->positive ? value : value * value;
    if (w->job->largest)
        return b;
    const double x = (f->a + f->b - 2 * b) / (f->b - f->a),
                 t = fabs(x) > 1 ? cosh(f->degree * acosh(fabs(x))) : cos(f->degree * acos(x));
    return (x < -1 && f->degree % 2 ? -t : t)
           * (w->op->positive ? 1 : 1 + .25 * w->sign * value / w->norm);
}
